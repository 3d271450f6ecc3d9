/** Defines what a part of the operator consists of: kinds, permissions, webhooks, controllers. */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import type { ExecutorKind } from '../../dataplane/execution/executor.ts'
import type { RunPolicy } from '../../dataplane/execution/run-policy.ts'
import type { Environment } from '../../dataplane/service-definitions/images.ts'
import type { Problem } from '../../errors/finding.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Metrics } from '../../kube/metrics.ts'
import type { Runtime } from '../../kube/runtime.ts'
import type { Transport } from '../../kube/transport.ts'
import type { Webhook } from '../../webhooks/webhook-configuration.ts'

export interface PartContext {
  /** Whether an optional kind of the part or of its pieces is served. */
  readonly has?: (kind: GroupVersionKind) => boolean
  readonly runtime: Runtime
  readonly metrics: Metrics
  readonly record: (event: EventRecord) => void
  /** For requests that are not about objects: a command in a pod. */
  readonly transport: Transport
  readonly env: Environment
  /** Where Ansible runs. */
  readonly runs: ExecutorKind
  /** Of an Ansible run. */
  readonly runTimeLimitMs?: number
  /** `segment=namespace`: the only namespaces that get addresses of these segments. */
  readonly segmentOwners?: readonly string[]
  /** Namespaces whose machines the nodes of every namespace may use. */
  readonly machineNamespaces?: readonly string[]
  /** What an Ansible run may use of the cluster beside the safe default. */
  readonly runPolicy?: RunPolicy
}

/** A rule of a Role, with what it is for. */
export interface PolicyRule {
  /** Completes "the operator needs it to …"; the documentation lists it. */
  readonly reason: string
  /**
   * Where it applies when the operator is limited to namespaces: there by default. `cluster`: a kind without
   * namespaces. `machines`: also in the namespaces of machines.
   */
  readonly scope?: 'cluster' | 'machines'
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface OperatorPart {
  readonly name: string
  /** Skipped with a log entry where its kinds are not served; refused there when selected by name. */
  readonly optional?: boolean
  /** Skipped where this kind is served: there the part's kinds have another meaning. */
  readonly conflict?: { readonly kind: GroupVersionKind; readonly problem: Problem<object> }
  /** The kinds that must be served. */
  readonly kinds: readonly GroupVersionKind[]
  /** Kinds with thousands of objects, whose managed fields no controller reads. */
  readonly highCardinalityKinds?: readonly GroupVersionKind[]
  /** Kinds whose content the part takes when it is received: of them caches keep what identifies an object. */
  readonly indexedKinds?: readonly GroupVersionKind[]
  readonly crds: {
    /** Kinds of Stackloom. */
    readonly own: readonly KubeObject[]
    /** Upstream's names and fields: where upstream's CRDs are installed, those are used. */
    readonly upstream: readonly KubeObject[]
  }
  /** The permissions of its controllers and webhooks. */
  readonly rules: readonly PolicyRule[]
  readonly webhooks: readonly Webhook[]
  /** Each runs where its kinds are served, and is skipped alone, with a log entry, where they are not. */
  readonly pieces?: readonly { readonly name: string; readonly kinds: readonly GroupVersionKind[] }[]
  /** Kinds of other programs that it uses where they are served. */
  readonly optionalKinds?: readonly GroupVersionKind[]
  /** Adds its controllers to the runtime; returns the handlers of its webhooks by path. */
  readonly start: (context: PartContext) => Readonly<Record<string, AdmissionHandler>>
  /** For a cluster where another operator does the work: reads these kinds and records Events. */
  readonly observe?: {
    readonly kinds: readonly GroupVersionKind[]
    readonly start: (context: PartContext) => void
  }
}
