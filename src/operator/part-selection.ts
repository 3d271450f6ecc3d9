/** Whether the operator may work in a cluster: what it needs is served, and nobody else does the same work. */
import type { GroupVersionKind } from '../api/object.ts'
import { Failure, failure } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { KubeReader } from '../kube/client.ts'
import { infraOperatorRunning, kindsMissing, unknownPart } from './findings.ts'
import type { OperatorPart } from './parts/part.ts'

export const INFRA_OPERATOR = 'infra-operator-controller-manager'

export interface PartSelection {
  readonly parts: readonly OperatorPart[]
  /** Why the others stay out. */
  readonly skipped: readonly Finding[]
}

/** Those that may work in this cluster; one that is asked for by name and may not is refused. */
export async function selectParts(
  client: Pick<KubeReader, 'resource'>,
  parts: readonly OperatorPart[],
  named: readonly string[] | undefined,
  needsKinds: boolean,
): Promise<PartSelection> {
  const fitting: OperatorPart[] = []
  const leftOut: Finding[] = []
  for (const part of partsByName(parts, named)) {
    const problem = await findIncompatibility(client, part, needsKinds)
    if (!problem) {
      fitting.push(needsKinds ? await bindServedKinds(client, part) : part)
      if (needsKinds) leftOut.push(...(await findMissingPieces(client, part)))
    } else if (named) throw new Failure([problem], 1)
    else leftOut.push(problem)
  }
  return { parts: fitting, skipped: leftOut }
}

/** The same part, told which kinds of others are there when it starts. */
async function bindServedKinds(client: Pick<KubeReader, 'resource'>, part: OperatorPart): Promise<OperatorPart> {
  const { optionalKinds = [], pieces = [] } = part
  const asked = [...optionalKinds, ...pieces.flatMap(({ kinds }) => kinds)]
  if (asked.length === 0) return part
  const missing = await findMissingKinds(client, asked)
  const has = ({ apiVersion, kind }: GroupVersionKind): boolean => !missing.includes(`${apiVersion} ${kind}`)
  return { ...part, start: (context) => part.start({ ...context, has }) }
}

async function findMissingPieces(
  client: Pick<KubeReader, 'resource'>,
  { pieces = [] }: OperatorPart,
): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for (const { name, kinds } of pieces) {
    const missing = await findMissingKinds(client, kinds)
    if (missing.length > 0) found.push(finding(kindsMissing, { missing, piece: name }))
  }
  return found
}

/** In the order of the list; a name that is none of them is wrong use. */
export function partsByName(
  parts: readonly OperatorPart[],
  named: readonly string[] | undefined,
): readonly OperatorPart[] {
  if (!named) return parts
  const unknown = named.find((name) => !parts.some((part) => part.name === name))
  if (unknown !== undefined) {
    throw failure(unknownPart, { name: unknown, known: parts.map(({ name }) => name) }, { exitCode: 2 })
  }
  return parts.filter(({ name }) => named.includes(name))
}

async function findIncompatibility(
  client: Pick<KubeReader, 'resource'>,
  { conflict, optional, kinds }: OperatorPart,
  needsKinds: boolean,
): Promise<Finding | undefined> {
  if (conflict && (await client.resource(conflict.kind))) return finding(conflict.problem, {})
  if (!needsKinds || !optional) return undefined
  const missing = await findMissingKinds(client, kinds)
  return missing.length > 0 ? finding(kindsMissing, { missing }) : undefined
}

export async function requireKinds(
  client: Pick<KubeReader, 'resource'>,
  kinds: readonly GroupVersionKind[],
): Promise<void> {
  const missing = await findMissingKinds(client, kinds)
  if (missing.length > 0) throw failure(kindsMissing, { missing }, { exitCode: 2 })
}

async function findMissingKinds(
  client: Pick<KubeReader, 'resource'>,
  kinds: readonly GroupVersionKind[],
): Promise<readonly string[]> {
  const served = await Promise.all(kinds.map((kind) => client.resource(kind)))
  return kinds.filter((_, index) => !served[index]).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
}

/** One that is scaled to zero is there and does nothing: that is how addresses are handed over. */
export async function refuseInfraOperator(client: Pick<KubeReader, 'list'>, signal: AbortSignal): Promise<void> {
  const { items } = await client.list(
    { apiVersion: 'apps/v1', kind: 'Deployment' },
    { fieldSelector: `metadata.name=${INFRA_OPERATOR}`, signal },
  )
  const rival = items.find((item) => (item['spec'] as { replicas?: number } | undefined)?.replicas !== 0)
  if (!rival) return
  const { namespace = '', name } = rival.metadata
  throw failure(infraOperatorRunning, { deployment: `${namespace}/${name}` }, { exitCode: 1 })
}
