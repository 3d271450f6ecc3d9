/**
 * An OpenStack service on data plane nodes, as data: its kind, what asks for it, what it needs of the control plane, what
 * its configuration is made of, which playbooks bring it to a host, and what it is in today's API.
 *
 * This is all that anybody knows of a service: the engine, the webhooks, the operator's rights and CRDs, the status view
 * and the conversion read it, and none of them has a list of its own. A further service is one more value of this type,
 * named in `all.ts`.
 */

import type { KindDefinition } from '../../api/crd.ts'
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import type { BindingRule } from '../../ini/binding.ts'
import type { AnsibleRunSpec } from '../kinds/ansible-run.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import type { ServiceAnnotation } from '../rules/service-annotation.ts'
import type { ConfigFiles } from './config-files.ts'
import type { ServiceImages } from './images.ts'

export interface Dependency {
  readonly kind: GroupVersionKind
  /** For clusters that have none of upstream's; absent for a kind that every cluster serves. */
  readonly fallbackCrd?: KindDefinition
  /** The object that this service waits for; undefined when the service names none. */
  readonly objectName: (service: ServiceObject) => string | undefined
  /** `NovaCellReady` */
  readonly condition: string
}

/** A Secret of the control plane, and what is needed of it. */
export interface RequiredSecret {
  /** Empty while nobody has named one. */
  readonly secret: string
  /** The field that names it: `cellMessageBusSecretName of NovaCell nova-cell1`. */
  readonly namedBy: string
  readonly keys: readonly string[]
}

/** The values of the needs, as `secret/key`. */
export type SecretValueLookup = (secret: string, key: string) => string

export type ConfigFacts = Readonly<Record<string, string>>

export type FactsResult =
  | { readonly kind: 'found'; readonly facts: ConfigFacts }
  /** A Secret is there, but does not say what it should. */
  | { readonly kind: 'missing'; readonly secret: string; readonly field: string }

export interface FactSources {
  readonly service: ServiceObject
  readonly dependency: KubeObject
  readonly secretValue: SecretValueLookup
  /** The host's own name, and its address if that is known. */
  readonly hostName: string
  readonly address: string | undefined
}

export interface ServiceStep {
  /**
   * Names three things on a host: its folder in `/var/lib/openstack/config`, what `stackloom-service` starts, and what is
   * recorded as done. Decommissioning takes it off by this name, so the playbook must use the same, and no step of another
   * service may have it.
   */
  readonly name: string
  /** A file of `playbooks/`, without its ending. */
  readonly playbook: string
  readonly extraVars?: (service: ServiceObject) => AnsibleRunSpec['extraVars']
}

/** What the service is in today's API: a service in the list of a NodeSet. */
export interface NodeSetService {
  /** `edpmServiceType`; services of this type are named by it. */
  readonly type: string
  readonly playbook: string
  /** Its place in the list of a NodeSet: smaller comes earlier. */
  readonly order: number
  /** Built-in services that come right before it. */
  readonly after?: readonly string[]
  /** The Secrets that it reads, by the fields that follow from its annotation. */
  readonly secrets: (fields: ConfigFacts) => readonly string[]
}

export interface ServiceDefinition {
  /** `nova`: names its controllers and its column in `status`, and begins the names of its runs. */
  readonly name: string
  /** The kind of its objects; `annotation.kind` refers to it. */
  readonly crd: KindDefinition
  readonly annotation: ServiceAnnotation
  readonly images: ServiceImages
  /** Fields that are ignored, and what is written instead. */
  readonly deprecated?: Readonly<Record<string, string>>
  readonly dependency: Dependency
  /** What it reads of the control plane once the dependency is ready. */
  readonly requiredSecrets: (service: ServiceObject, dependency: KubeObject) => readonly RequiredSecret[]
  /**
   * The facts that the generated configuration is made of: their hash decides whether a host is out of date, so that
   * another wording of the file by another version of this program does not.
   */
  readonly facts: (sources: FactSources) => FactsResult
  /** Every file of the service; what a person wrote is one of them, byte for byte. */
  readonly files: (facts: ConfigFacts, customServiceConfig: string) => ConfigFiles
  /** The generated one among the files: `01-nova.conf`. */
  readonly generatedFile: string
  /** The name of the Secret with the files, by the name of the service object; no two services may agree on one. */
  readonly configSecret: (name: string) => string
  readonly binding: readonly BindingRule[]
  /** How Ansible variables begin that are about this service: `edpm_nova_`. */
  readonly variablePrefix: string
  /** In this order, one after the other. */
  readonly steps: readonly ServiceStep[]
  /** What the control plane is told after the last step and before the end. */
  readonly registration?: ControlPlaneRegistration
  readonly nodeSetService: NodeSetService
}

/** What has to happen in the control plane when a host comes and when it goes. */
export type ControlPlaneRegistration = 'compute-host'
