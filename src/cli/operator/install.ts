/** Implements `stackloom operator install`: selects the CRDs that the cluster needs and applies everything. */
import { type KubeObject, objectKey } from '../../api/object.ts'
import { isAppliedBy } from '../../api/ownership.ts'
import type { ExitCode } from '../../errors/failure.ts'
import type { KubeClient, KubeReader } from '../../kube/client.ts'
import { OPERATOR_NAMESPACE, operatorNamespace, renderManifests } from '../../operator/manifests.ts'
import type { PolicyOptions } from '../../operator/options.ts'
import { refuseInfraOperator, selectParts } from '../../operator/part-selection.ts'
import type { OperatorPart } from '../../operator/parts/part.ts'
import { collectCrds, parts } from '../../operator/parts.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, serialise, serialiseObjects, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'

export interface InstallOptions extends ClusterFlags, PolicyOptions {
  readonly image: string
  readonly replicas: number
  readonly dryRun?: boolean
  readonly output: Format
  /** Only these parts; all that the cluster supports by default. */
  readonly parts?: readonly string[]
  readonly console?: boolean
}

export const FIELD_MANAGER = 'stackloom'

type Outcome = 'created' | 'configured' | 'unchanged'

interface Applied {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly outcome: Outcome
}

export async function install(options: InstallOptions, io: Io): Promise<ExitCode> {
  const connection = await openCluster(options, io)
  const { client } = connection
  try {
    await refuseInfraOperator(client, io.stop)
    const { parts: selected, skipped } = await selectParts(client, parts, options.parts, false)
    printFindings(skipped, io)
    const namespace = options.namespace ?? OPERATOR_NAMESPACE
    const objects = [
      ...(await namespaceToApply(client, namespace)),
      ...(await crdsToApply(client, selected)),
      ...renderManifests(selected, { ...options, namespace }),
    ]
    const { output } = options
    if (options.dryRun) {
      io.stdout(output === 'json' ? await serialiseObjects(objects) : await formatYamlStream(objects))
      return 0
    }
    const applied: Applied[] = []
    for (const object of objects) {
      applied.push(await applyObject(client, object, io.stop))
      io.stderr(`applied ${object.kind} ${objectKey(object.metadata)}\n`)
    }
    io.stdout(output === 'table' ? formatApplied(applied, io) : await serialiseResult({ applied }, output))
    io.stderr(`wait until it runs: kubectl -n ${namespace} rollout status deployment/stackloom-operator\n`)
    return 0
  } finally {
    await connection.close()
  }
}

/** A namespace that exists already keeps its settings, unless Stackloom applied it. */
async function namespaceToApply(client: Pick<KubeReader, 'get'>, name: string): Promise<readonly KubeObject[]> {
  const existing = await client.get({ apiVersion: 'v1', kind: 'Namespace', name })
  return existing && !isAppliedBy(existing, FIELD_MANAGER) ? [] : [operatorNamespace(name)]
}

/** Own CRDs always; upstream's where they are missing or were applied by Stackloom. */
async function crdsToApply(
  client: Pick<KubeReader, 'get'>,
  selected: readonly OperatorPart[],
): Promise<readonly KubeObject[]> {
  const crds = collectCrds(selected)
  const present = await Promise.all(
    crds.upstream.map(({ apiVersion, kind, metadata }) => client.get({ apiVersion, kind, name: metadata.name })),
  )
  const needed = crds.upstream.filter((_, index) => {
    const existing = present[index]
    return !existing || isAppliedBy(existing, FIELD_MANAGER)
  })
  return [...crds.own, ...needed]
}

async function applyObject(client: KubeClient, object: KubeObject, signal: AbortSignal): Promise<Applied> {
  const { apiVersion, kind, metadata } = object
  const { name, namespace } = metadata
  const ref = { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
  const before = await client.get(ref, { signal })
  const after = await client.apply(object, { fieldManager: FIELD_MANAGER, signal })
  const same = before?.metadata.resourceVersion === after.metadata.resourceVersion
  const outcome = before === undefined ? 'created' : same ? 'unchanged' : 'configured'
  return { apiVersion, kind, name: objectKey(metadata), outcome }
}

function formatApplied(applied: readonly Applied[], { columns, colour }: Io): string {
  const rows = applied.map(({ kind, name, outcome }) => [outcome, kind, name])
  return formatTable(['OUTCOME', 'KIND', 'NAME'], rows, columns, colour.stdout)
}

/** Objects as a YAML stream that kubectl reads. */
export async function formatYamlStream(objects: readonly KubeObject[]): Promise<string> {
  const texts = await Promise.all(objects.map((object) => serialise(object, 'yaml')))
  return texts.map((text) => `---\n${text}`).join('')
}
