/** What one part of the operator brings: kinds, rights, webhooks, controllers. */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import type { ExecutorKind } from '../../dataplane/execution/executor.ts'
import type { Environment } from '../../dataplane/service-definitions/images.ts'
import type { Problem } from '../../errors/finding.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Metrics } from '../../kube/metrics.ts'
import type { Runtime } from '../../kube/runtime.ts'
import type { Transport } from '../../kube/transport.ts'
import type { Webhook } from '../../webhooks/webhook-configuration.ts'

export interface PartContext {
  /** Which of the kinds that the part or its pieces may use are served. */
  readonly has?: (kind: GroupVersionKind) => boolean
  readonly runtime: Runtime
  readonly metrics: Metrics
  readonly record: (happening: EventRecord) => void
  /** For what is not an object: a command in a pod. */
  readonly transport: Transport
  readonly env: Environment
  /** Where Ansible runs. */
  readonly runs: ExecutorKind
  /** After so long it is ended. */
  readonly runTimeLimitMs?: number
}

/** One rule of a ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface OperatorPart {
  readonly name: string
  /** Where its kinds are not served it stays out, with a word; asked for by name it is refused. */
  readonly optional?: boolean
  /** Where this kind is served it stays out: the names of its own kinds mean something else there. */
  readonly conflict?: { readonly kind: GroupVersionKind; readonly problem: Problem<object> }
  /** Without these it cannot work. */
  readonly kinds: readonly GroupVersionKind[]
  /** Those of them that come by the thousand, and of which nobody asks who wrote which field. */
  readonly highCardinalityKinds?: readonly GroupVersionKind[]
  readonly crds: {
    /** Only Stackloom has them. */
    readonly own: readonly KubeObject[]
    /** The same names and fields as upstream's, which are used where they are installed. */
    readonly upstream: readonly KubeObject[]
  }
  /** What its controllers and webhooks may do, and nothing more. */
  readonly rules: readonly PolicyRule[]
  readonly webhooks: readonly Webhook[]
  /** Each works where its kinds are served; where they are not it alone stays out, with a word. */
  readonly pieces?: readonly { readonly name: string; readonly kinds: readonly GroupVersionKind[] }[]
  /** Kinds of others that it uses where they are served. */
  readonly optionalKinds?: readonly GroupVersionKind[]
  /** Adds its controllers to the runtime; answers its webhooks, by path. */
  readonly start: (context: PartContext) => Readonly<Record<string, AdmissionHandler>>
  /** What it can tell while somebody else does the work: it reads these kinds and records Events. */
  readonly observe?: {
    readonly kinds: readonly GroupVersionKind[]
    readonly start: (context: PartContext) => void
  }
}
