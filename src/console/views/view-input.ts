/** Defines what the views are computed from: the plan, the cluster, and what is known of hosts, certificates and runs. */
import type { KubeObject } from '../../api/object.ts'
import type { SnapshotIndex, UnreadKind } from '../../api/snapshot.ts'
import type { CertificateState } from '../../certificates/judge-certificates.ts'
import type { SubnetReport } from '../../controllers/ipam/usage-report.ts'
import type { GroupStatus } from '../../deploy/deployment-status.ts'
import type { Report } from '../../doctor/diagnose.ts'
import type { FileLocation, Finding } from '../../errors/finding.ts'
import { formatShellCommand } from '../../errors/shell-words.ts'
import type { HostState } from '../../hosts/judge-hosts.ts'
import type { Lock } from '../../plan/lock.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Path } from '../../site/site.ts'
import type { HeldAddress } from '../../verify/held-addresses.ts'
import type { ProbeRecord } from '../../verify/probe/probe-record.ts'
import type { CheckResult } from '../../verify/verify.ts'

/** A planned site file. */
export interface PlannedSite {
  readonly plan: Plan
  /** The lock that it was planned with. */
  readonly before: Lock
  /** The lock after planning. */
  readonly lock: Lock
  readonly file: string
  readonly lockFile: string | undefined
  readonly locate: (path: Path) => FileLocation
  /** The text of the site file, to show places. */
  readonly lines: readonly string[]
}

/** What a cluster or a dump holds. */
export interface LiveSite {
  readonly index: SnapshotIndex
  readonly unread: readonly UnreadKind[]
  readonly held: readonly HeldAddress[]
  readonly groups: readonly GroupStatus[]
  /** Namespaces of clouds that this user may not read. */
  readonly denied: ReadonlySet<string>
  /** The known release that the cluster has. */
  readonly release?: string
}

export interface HostsInput {
  readonly states: readonly HostState[]
  readonly deployments: readonly KubeObject[]
  readonly certificates: readonly CertificateState[]
  readonly subnets: readonly SubnetReport[]
  readonly findings: readonly Finding[]
}

export interface Examination {
  readonly checks: readonly CheckResult[]
  readonly report: Report
  /** ISO time. */
  readonly time: string
}

export interface ViewInput {
  readonly planned?: PlannedSite
  /** Whether one more cloud fits, if that is known for this plan. */
  readonly oneMore?: { readonly fits: boolean; readonly text: string }
  /** Why the site file could not be planned. */
  readonly planFindings?: readonly Finding[]
  readonly live?: LiveSite
  readonly hosts?: HostsInput
  readonly examination?: Examination
  /** The last probe of the networks. */
  readonly probe?: ProbeRecord
  /** The name of a cloud by its namespace. */
  readonly cloudName: (namespace: string) => string
  /** The title of a finding by its code. */
  readonly title: (code: string) => string
  /** Options that select the site and the cluster, for commands to copy: `['-f', 'site.yaml']`. */
  readonly fileOptions: readonly string[]
  readonly clusterOptions: readonly string[]
  readonly now: number
}

/** `stackloom ip 172.17.0.80 -f site.yaml --context lab`, quoted for a shell. */
export function commandLine(...words: readonly string[]): string {
  return formatShellCommand(['stackloom', ...words])
}
