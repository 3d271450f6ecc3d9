/** `stackloom operator install`: looks at the cluster, decides which definitions it needs, and applies the rest. */
import { type KubeObject, objectKey } from '../../api/object.ts'
import type { ExitCode } from '../../errors/failure.ts'
import type { KubeClient, KubeReader } from '../../kube/client.ts'
import { collectCrds } from '../../operator/crds.ts'
import { operatorNamespace, renderManifests } from '../../operator/manifests.ts'
import { OPERATOR_NAMESPACE } from '../../operator/names.ts'
import { refuseInfraOperator, selectParts } from '../../operator/part-selection.ts'
import type { OperatorPart } from '../../operator/parts/part.ts'
import { parts } from '../../operator/parts.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { formatYamlStream } from './stream.ts'

export interface InstallOptions extends ClusterFlags {
  readonly image: string
  readonly replicas: number
  readonly dryRun?: boolean
  readonly output: Format
  /** Only these parts; all that fit unless said. */
  readonly parts?: readonly string[]
}

const FIELD_MANAGER = 'stackloom'

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
    const { parts: chosen, skipped } = await selectParts(client, parts, options.parts, false)
    io.stderr(formatFindings(skipped, io.colour.stderr))
    const namespace = options.namespace ?? OPERATOR_NAMESPACE
    const objects = [
      ...(await namespaceToApply(client, namespace)),
      ...(await crdsToApply(client, chosen)),
      ...renderManifests(chosen, { ...options, namespace }),
    ]
    const { output } = options
    if (options.dryRun) {
      io.stdout(output === 'json' ? await serialise(objects, output) : await formatYamlStream(objects))
      return 0
    }
    const applied: Applied[] = []
    for (const object of objects) {
      applied.push(await applyObject(client, object, io.stop))
      io.stderr(`applied ${object.kind} ${objectKey(object.metadata)}\n`)
    }
    io.stdout(output === 'table' ? formatApplied(applied, io.columns) : await serialise(applied, output))
    io.stderr(`it runs when this ends: kubectl -n ${namespace} rollout status deployment/stackloom-operator\n`)
    return 0
  } finally {
    await connection.close()
  }
}

/** A namespace that somebody else made keeps its settings. */
async function namespaceToApply(client: Pick<KubeReader, 'get'>, name: string): Promise<readonly KubeObject[]> {
  const there = await client.get({ apiVersion: 'v1', kind: 'Namespace', name })
  return there && !isAppliedByStackloom(there) ? [] : [operatorNamespace(name)]
}

/** Ours always; upstream's where they are not there, or where we put them. */
async function crdsToApply(
  client: Pick<KubeReader, 'get'>,
  chosen: readonly OperatorPart[],
): Promise<readonly KubeObject[]> {
  const { own, upstream } = collectCrds(chosen)
  const present = await Promise.all(
    upstream.map(({ apiVersion, kind, metadata }) => client.get({ apiVersion, kind, name: metadata.name })),
  )
  const needed = upstream.filter((_, index) => {
    const there = present[index]
    return !there || isAppliedByStackloom(there)
  })
  return [...own, ...needed]
}

function isAppliedByStackloom({ metadata }: KubeObject): boolean {
  return (metadata.managedFields ?? []).some(
    ({ manager, operation }) => manager === FIELD_MANAGER && operation === 'Apply',
  )
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

function formatApplied(applied: readonly Applied[], columns: number): string {
  const rows = applied.map(({ kind, name, outcome }) => [outcome, kind, name])
  return formatTable(['OUTCOME', 'KIND', 'NAME'], rows, columns)
}
