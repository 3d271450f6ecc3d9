/**
 * What a check is: a name, what it looks at, and a pure look that gives findings.
 *
 * A check proves one promise of the plan on a snapshot. It gathers nothing; what it needs is named by `kinds`.
 */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import type { Finding, ObjectLocation } from '../../errors/finding.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'

/** What the documents of the site are, as they were rendered. */
export interface PlannedDocument {
  /** Absent for what the clouds share. */
  readonly cloud?: string
  readonly object: KubeObject
}

/** What a cloud's own DNS server said. */
export interface DnsAnswers {
  readonly server: string
  /** Why the server could not be asked at all. */
  readonly unreachable?: string
  /** Addresses by name; none when there is no such name. */
  readonly answers: ReadonlyMap<string, readonly string[]>
}

export interface SiteContext {
  readonly plan: Plan
  readonly documents: readonly PlannedDocument[]
  readonly live: SnapshotIndex
  /** Milliseconds since the epoch, as the cluster was looked at. */
  readonly now: number
  /** By cloud; absent where nobody asked. */
  readonly dns?: ReadonlyMap<string, DnsAnswers>
}

export interface CloudContext extends SiteContext {
  readonly cloud: PlannedCloud
  /** The documents of this cloud. */
  readonly desired: readonly KubeObject[]
}

export interface CheckOutcome {
  /** What was looked at, with numbers: `5 pools`. */
  readonly seen: string
  /** How many things that was: a check that saw none has proved nothing, and says so. */
  readonly count: number
  readonly findings: readonly Finding[]
}

interface CheckDefinition {
  readonly id: string
  readonly title: string
  /** One sentence: what must be true. */
  readonly promise: string
  /** Without these nothing is proved. */
  readonly kinds: readonly GroupVersionKind[]
  /** Read where they are to be had: they say why, or are there on some sites only. */
  readonly optionalKinds?: readonly GroupVersionKind[]
}

/** Proved for each cloud by itself. */
export interface CloudCheck extends CheckDefinition {
  readonly scope: 'cloud'
  readonly run: (look: CloudContext) => CheckOutcome
}

/** Proved once for the whole site. */
export interface SiteCheck extends CheckDefinition {
  readonly scope: 'site'
  readonly run: (look: SiteContext) => CheckOutcome
}

export type Check = CloudCheck | SiteCheck

export function locateObject({ apiVersion, kind, metadata }: KubeObject, path?: string): ObjectLocation {
  const { name, namespace } = metadata
  return {
    apiVersion,
    kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(path !== undefined && { path }),
  }
}

/** `1 pool`, `5 pools`, `2 policies`, `3 addresses`. */
export function formatCount(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`
  if (/[^aeiou]y$/.test(noun)) return `${count} ${noun.slice(0, -1)}ies`
  return `${count} ${noun}${noun.endsWith('s') ? 'es' : 's'}`
}
