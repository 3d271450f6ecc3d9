/**
 * Defines an OpenStack service on data plane nodes as data: kind, annotation, inputs, configuration, playbooks, and its
 * equivalent in the NodeSet API.
 *
 * Controllers, webhooks, permissions, CRDs, status and conversion read only this. A new service is one more value of this
 * type, listed in `all.ts`.
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
  /** For clusters without upstream's CRD; absent for a kind that every cluster serves. */
  readonly fallbackCrd?: KindDefinition
  /** The object that the service waits for; undefined when it names none. */
  readonly objectName: (service: ServiceObject) => string | undefined
  /** `NovaCellReady` */
  readonly condition: string
}

/** A Secret of the control plane and the keys that the service needs. */
export interface RequiredSecret {
  /** Empty until it is named. */
  readonly secret: string
  /** The field that names it: `cellMessageBusSecretName of NovaCell nova-cell1`. */
  readonly namedBy: string
  readonly keys: readonly string[]
}

export type SecretValueLookup = (secret: string, key: string) => string

export type ConfigFacts = Readonly<Record<string, string>>

export type FactsResult =
  | { readonly kind: 'found'; readonly facts: ConfigFacts }
  /** The Secret exists, but the field is not in it. */
  | { readonly kind: 'missing'; readonly secret: string; readonly field: string }

export interface FactSources {
  readonly service: ServiceObject
  readonly dependency: KubeObject
  readonly secretValue: SecretValueLookup
  readonly hostName: string
  /** In the control plane network, if it is known. */
  readonly address: string | undefined
}

export interface ServiceStep {
  /**
   * Names three things: the folder in `/var/lib/openstack/config`, the unit `stackloom-<name>.service`, and the entry in
   * `status.applied`. Decommissioning uses this name, so the playbook must use it too, and no step of another service may.
   */
  readonly name: string
  /** A file of `playbooks/`, without its extension. */
  readonly playbook: string
  readonly extraVars?: (service: ServiceObject) => AnsibleRunSpec['extraVars']
}

/** The equivalent in the NodeSet API: a service in the list of a NodeSet. */
export interface NodeSetService {
  /** `edpmServiceType`; also the beginning of its name. */
  readonly type: string
  readonly playbook: string
  /** The position in the list of a NodeSet: smaller comes earlier. */
  readonly order: number
  /** Built-in services that precede it in the list. */
  readonly after?: readonly string[]
  /** The Secrets that it reads, from the fields of its annotation. */
  readonly secrets: (fields: ConfigFacts) => readonly string[]
}

export interface ServiceDefinition {
  /** `nova`: names its controllers, its column in `status` and its runs. */
  readonly name: string
  /** The kind of its objects, which `annotation.kind` names. */
  readonly crd: KindDefinition
  readonly annotation: ServiceAnnotation
  readonly images: ServiceImages
  /** Deprecated fields, each with what to write instead. */
  readonly deprecated?: Readonly<Record<string, string>>
  readonly dependency: Dependency
  /** What it reads from the control plane once the dependency is ready. */
  readonly requiredSecrets: (service: ServiceObject, dependency: KubeObject) => readonly RequiredSecret[]
  /**
   * The values of the generated configuration. Their hash decides whether a host is out of date, so a version that renders
   * the files differently does not make hosts out of date.
   */
  readonly facts: (sources: FactSources) => FactsResult
  /** Every file of the service; customServiceConfig is one of them, byte for byte. */
  readonly files: (facts: ConfigFacts, customServiceConfig: string) => ConfigFiles
  /** The generated file: `01-nova.conf`. */
  readonly generatedFile: string
  /** The name of the Secret with the files, from the name of the service object; unique per service. */
  readonly configSecret: (name: string) => string
  readonly binding: readonly BindingRule[]
  /** The prefix of Ansible variables that configure this service: `edpm_nova_`. */
  readonly variablePrefix: string
  readonly steps: readonly ServiceStep[]
  /** What is registered in the control plane after the last step, and removed at decommissioning. */
  readonly registration?: ControlPlaneRegistration
  /** Absent where upstream has no playbook for it. */
  readonly nodeSetService?: NodeSetService
}

export type ControlPlaneRegistration = 'compute-host'
