/** Defines the options of a running operator. */

import type { ExecutorKind } from '../dataplane/execution/executor.ts'
import type { Environment } from '../dataplane/service-definitions/images.ts'

/** What an administrator allows to the authors of NetConfigs, roles, nodes and runs. */
export interface PolicyOptions {
  /** The only namespaces that the operator serves; all by default. */
  readonly namespaces?: readonly string[]
  /** `segment=namespace`: only these namespaces get addresses of these segments; the first that takes one by default. */
  readonly segmentOwners?: readonly string[]
  /** Namespaces whose machines the nodes of every namespace may use; none by default. */
  readonly machineNamespaces?: readonly string[]
  /** Kinds of volumes that a run may mount beside the safe ones, such as hostPath. */
  readonly runVolumes?: readonly string[]
  /** Service accounts that a run may use. */
  readonly runServiceAccounts?: readonly string[]
  /** Allows root and any security context in runs. */
  readonly runPrivileged?: boolean
}

export interface OperatorOptions extends PolicyOptions {
  readonly env: Environment
  readonly webhookUrl?: string
  readonly webhookService?: string
  readonly certDir?: string
  readonly webhookPort: number
  readonly healthPort: number
  readonly bind: string
  readonly leaderElection: boolean
  /** For a cluster with infra-operator: records Events and metrics, writes nothing else. */
  readonly observe?: boolean
  /** Where Ansible runs: in Jobs by default. */
  readonly runs?: ExecutorKind
  /** Milliseconds after which an Ansible run is terminated; an hour by default. */
  readonly runTimeLimit?: number
  /** Only these parts; all that the cluster supports by default. */
  readonly parts?: readonly string[]
  /**
   * Milliseconds for which it goes on after a stop is requested; 5 s behind a Service, otherwise none. A pod is stopped
   * while the nodes of the cluster still send connections to it.
   */
  readonly shutdownDelay?: number
  /** For tests: the interval of certificate checks. */
  readonly certificateCheckMs?: number
}
