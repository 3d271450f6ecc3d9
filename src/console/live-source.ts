/** Defines where the console reads a cluster: a live one, or a folder of dumps. */
import type { KubeObject } from '../api/object.ts'
import type { Snapshot, SnapshotIndex, UnreadKind } from '../api/snapshot.ts'
import type { CertificateState } from '../certificates/judge-certificates.ts'
import type { Finding } from '../errors/finding.ts'
import type { HostState } from '../hosts/judge-hosts.ts'
import type { RunLog } from '../hosts/run-logs.ts'
import type { Connection, MetaDocument } from './documents/meta.ts'
import type { LogOfContainer } from './views/pods-behind.ts'

export interface LiveSource {
  readonly description: MetaDocument['source']
  readonly connection: () => Connection
  /** Resolves when everything was read once. */
  readonly ready: Promise<void>
  readonly index: (namespace?: string) => SnapshotIndex
  readonly unread: () => readonly UnreadKind[]
  readonly objects: () => readonly KubeObject[]
  /** Whether this user may read a namespace. */
  readonly mayRead: (namespace: string) => boolean
  readonly gather: Gatherers
  readonly close: () => Promise<void>
}

/** What needs more than the watched objects, read as the commands read it. */
export interface Gatherers {
  readonly hosts: (signal: AbortSignal) => Promise<GatheredHosts>
  readonly certificates: (signal: AbortSignal) => Promise<readonly CertificateState[]>
  /** With the keys of referenced Secrets, for the doctor. */
  readonly evidence: (namespaces: readonly string[], signal: AbortSignal) => Promise<Snapshot>
  /** Of every service of a deployment, the last attempt. */
  readonly logs: (namespace: string, deployment: string, signal: AbortSignal) => Promise<readonly RunLog[]>
  /** The end of a container's log, or why it cannot be read. */
  readonly podLog: (pod: KubeObject, log: LogOfContainer, signal: AbortSignal) => Promise<string>
}

export interface GatheredHosts {
  readonly states: readonly HostState[]
  readonly findings: readonly Finding[]
}
