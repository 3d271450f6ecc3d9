/** Decides which parts of the operator can run in a cluster: their kinds are served, and no other operator does the work. */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import type { Clock } from '../clock/clock.ts'
import { Failure, failure, formatError } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { KubeReader } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import { infraOperatorRunning, kindsMissing, unknownPart } from './findings.ts'
import type { OperatorPart } from './parts/part.ts'

export const INFRA_OPERATOR = 'infra-operator-controller-manager'

type Discovery = Pick<KubeReader, 'resource'>

export interface PartSelection {
  readonly parts: readonly OperatorPart[]
  /** Why the other parts are not selected. */
  readonly skipped: readonly Finding[]
}

/** Skips the parts that cannot run in this cluster; fails for one that was selected by name. */
export async function selectParts(
  client: Discovery,
  parts: readonly OperatorPart[],
  names: readonly string[] | undefined,
  needsKinds: boolean,
): Promise<PartSelection> {
  const selected: OperatorPart[] = []
  const skipped: Finding[] = []
  for (const part of partsByName(parts, names)) {
    const problem = await findIncompatibility(client, part, needsKinds)
    if (!problem) {
      selected.push(needsKinds ? await bindServedKinds(client, part) : part)
      if (needsKinds) skipped.push(...(await findMissingPieces(client, part)))
    } else if (names) throw new Failure([problem], 1)
    else skipped.push(problem)
  }
  return { parts: selected, skipped }
}

/** The part with the knowledge of which optional kinds are served. */
async function bindServedKinds(client: Discovery, part: OperatorPart): Promise<OperatorPart> {
  const { optionalKinds = [], pieces = [] } = part
  const kinds = [...optionalKinds, ...pieces.flatMap((piece) => piece.kinds)]
  if (kinds.length === 0) return part
  const missing = await findMissingKinds(client, kinds)
  const has = ({ apiVersion, kind }: GroupVersionKind): boolean => !missing.includes(`${apiVersion} ${kind}`)
  return { ...part, start: (context) => part.start({ ...context, has }) }
}

async function findMissingPieces(client: Discovery, { pieces = [] }: OperatorPart): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const { name, kinds } of pieces) {
    const missing = await findMissingKinds(client, kinds)
    if (missing.length > 0) findings.push(finding(kindsMissing, { missing, piece: name }))
  }
  return findings
}

/** In the order of the list; an unknown name is wrong use. */
export function partsByName(
  parts: readonly OperatorPart[],
  names: readonly string[] | undefined,
): readonly OperatorPart[] {
  if (!names) return parts
  const known = parts.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw failure(unknownPart, { name: unknown, known }, { exitCode: 2 })
  return parts.filter(({ name }) => names.includes(name))
}

async function findIncompatibility(
  client: Discovery,
  { conflict, optional, kinds, observe }: OperatorPart,
  needsKinds: boolean,
): Promise<Finding | undefined> {
  if (conflict && (await client.resource(conflict.kind))) return finding(conflict.problem, {})
  if (!optional) return undefined
  const missing = await findMissingKinds(client, needsKinds ? kinds : (observe?.kinds ?? []))
  return missing.length > 0 ? finding(kindsMissing, { missing }) : undefined
}

export async function requireKinds(client: Discovery, kinds: readonly GroupVersionKind[]): Promise<void> {
  const missing = await findMissingKinds(client, kinds)
  if (missing.length > 0) throw failure(kindsMissing, { missing }, { exitCode: 2 })
}

async function findMissingKinds(client: Discovery, kinds: readonly GroupVersionKind[]): Promise<readonly string[]> {
  const served = await Promise.all(kinds.map((kind) => client.resource(kind)))
  return kinds.filter((_, index) => !served[index]).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
}

export async function refuseInfraOperator(client: Pick<KubeReader, 'list'>, signal: AbortSignal): Promise<void> {
  const rival = await findInfraOperator(client, signal)
  if (rival) throw new Failure([rival.finding], 1)
}

/** A running infra-operator. */
export interface Rival {
  readonly deployment: KubeObject
  readonly finding: Finding
}

export interface RivalWatch {
  readonly clock: Clock
  readonly log: Log
  readonly everyMs?: number
  /** Called when an infra-operator appears, and with undefined when it is gone. */
  readonly onChange: (rival: Rival | undefined) => void
}

/** Looks for an infra-operator that is started later, until the signal fires. */
export async function watchInfraOperator(
  client: Pick<KubeReader, 'list'>,
  { clock, log, everyMs = 5_000, onChange }: RivalWatch,
  signal: AbortSignal,
): Promise<void> {
  let isThere = false
  for (;;) {
    await clock.sleep(everyMs, signal)
    if (signal.aborted) return
    try {
      const rival = await findInfraOperator(client, signal)
      if (isThere !== (rival !== undefined)) onChange(rival)
      isThere = rival !== undefined
    } catch (error) {
      if (!signal.aborted)
        log({ level: 'warn', message: `cannot look for ${INFRA_OPERATOR}`, reason: formatError(error) })
    }
  }
}

/** An infra-operator that is scaled to zero is accepted: that is how its addresses are handed over. */
async function findInfraOperator(client: Pick<KubeReader, 'list'>, signal: AbortSignal): Promise<Rival | undefined> {
  const { items } = await client.list(
    { apiVersion: 'apps/v1', kind: 'Deployment' },
    { fieldSelector: `metadata.name=${INFRA_OPERATOR}`, signal },
  )
  const running = items.find((item) => (item['spec'] as { replicas?: number } | undefined)?.replicas !== 0)
  if (!running) return undefined
  const { namespace = '', name } = running.metadata
  const deployment = { ...running, apiVersion: 'apps/v1', kind: 'Deployment' }
  return { deployment, finding: finding(infraOperatorRunning, { deployment: `${namespace}/${name}` }) }
}
