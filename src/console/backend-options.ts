/** Defines what a backend is made of, and what its sources report to it. */
import type { KubeObject } from '../api/object.ts'
import type { Clock } from '../clock/clock.ts'
import type { ProbeRecord } from '../verify/probe/probe-record.ts'
import type { ActionRunner } from './actions.ts'
import type { ConsoleBackend } from './backend.ts'
import type { Connection } from './documents/meta.ts'
import type { OverviewDocument } from './documents/overview.ts'
import type { LiveSource } from './live-source.ts'
import type { RunStore } from './run-store.ts'
import type { StreamHub } from './server/stream-hub.ts'
import type { UseHistory } from './use-over-time.ts'
import type { LabInput } from './views/lab.ts'
import type { PlannedSite } from './views/view-input.ts'

export interface BackendOptions {
  readonly program: { readonly name: string; readonly version: string }
  readonly server: string
  readonly hub: StreamHub
  readonly clock: Clock
  readonly site?: { readonly read: () => Promise<PlannedSite> }
  readonly live?: LiveSource
  /** Clouds by namespace that are known without a plan. */
  readonly namespaces?: readonly string[]
  readonly runs: RunStore
  /** The record of the last probe of a site, if there is one. */
  readonly readProbe?: (site: string) => Promise<ProbeRecord | undefined>
  readonly lab?: { readonly file: string; readonly read: () => Promise<LabInput> }
  /** The sites of a fleet, worst first. */
  readonly fleet?: { readonly read: (signal: AbortSignal) => Promise<OverviewDocument['sites']> }
  /** The use of subnets before this console was started, from a Prometheus. */
  readonly readUse?: (signal: AbortSignal) => Promise<UseHistory>
  readonly actions?: ActionRunner
  readonly title: (code: string) => string
  /** What fails for the moment. */
  readonly verbose?: ((text: string) => void) | undefined
  readonly fileOptions: readonly string[]
  readonly clusterOptions: readonly string[]
}

export interface RunningBackend extends ConsoleBackend {
  /** The site file or its lock changed. */
  readonly siteChanged: () => void
  readonly clusterChanged: (change: ClusterNotice) => void
  /** Objects of one more kind are known. */
  readonly clusterListed: () => void
  readonly connectionChanged: (connection: Connection) => void
  readonly runsChanged: () => void
  readonly close: () => Promise<void>
}

interface ClusterNotice {
  readonly groupKind: string
  readonly object: KubeObject
  readonly isDeleted: boolean
}
