/**
 * An OpenStack service on data plane nodes, as data: what asks for it, what it needs of the control plane, what its
 * configuration is made of, and which playbooks bring it to a host.
 *
 * The engine knows services in this form only. A further service is one more value of this type.
 */
import type { AnsibleRunSpec } from '../../api/ansibleee.ts'
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import type { ServiceAnnotation } from '../../api/service-annotation.ts'
import type { ServiceObject } from '../../api/service-cr.ts'
import type { ServiceImages } from '../../api/service-images.ts'
import type { BindingRule } from '../../ini/binding.ts'
import type { ConfigFiles } from './config-files.ts'
import type { PlaybookName } from './playbooks.ts'

export interface Dependency {
  readonly kind: GroupVersionKind
  /** The object that this service waits for; undefined when the service names none. */
  readonly nameOf: (service: ServiceObject) => string | undefined
  /** `NovaCellReady` */
  readonly condition: string
}

/** A Secret of the control plane, and what is needed of it. */
export interface Need {
  readonly secret: string
  readonly keys: readonly string[]
}

/** The values of the needs, as `secret/key`. */
export type NeedValues = (secret: string, key: string) => string

export type Facts = Readonly<Record<string, string>>

export type FactsFound =
  | { readonly kind: 'found'; readonly facts: Facts }
  /** A Secret is there, but does not say what it should. */
  | { readonly kind: 'missing'; readonly secret: string; readonly field: string }

export interface FactSources {
  readonly service: ServiceObject
  readonly dependency: KubeObject
  readonly valueOf: NeedValues
  /** The host's own name, and its address if that is known. */
  readonly hostName: string
  readonly address: string | undefined
}

export interface ServiceStep {
  readonly name: string
  readonly playbook: PlaybookName
  readonly extraVars?: (service: ServiceObject) => AnsibleRunSpec['extraVars']
}

export interface ServiceDefinition {
  /** One word: `nova`. Steps, Secrets and runs are named by it. */
  readonly name: string
  readonly annotation: ServiceAnnotation
  readonly images: ServiceImages
  readonly dependency: Dependency
  /** What it reads of the control plane once the dependency is ready. */
  readonly needs: (service: ServiceObject, dependency: KubeObject) => readonly Need[]
  /**
   * The facts that the generated configuration is made of: their hash decides whether a host is out of date, so that
   * another wording of the file by another version of this program does not.
   */
  readonly facts: (sources: FactSources) => FactsFound
  /** Every file of the service; what a person wrote is one of them, byte for byte. */
  readonly files: (facts: Facts, customServiceConfig: string) => ConfigFiles
  /** The generated one among the files: `01-nova.conf`. */
  readonly generatedFile: string
  readonly configSecret: (name: string) => string
  readonly binding: readonly BindingRule[]
  /** How Ansible variables begin that are about this service: `edpm_nova_`. */
  readonly variables: string
  /** In this order, one after the other. */
  readonly steps: readonly ServiceStep[]
  /** What the control plane is told after the last step and before the end. */
  readonly controlPlane?: ControlPlaneDuty
}

/** What has to happen in the control plane when a host comes and when it goes. */
export type ControlPlaneDuty = 'compute-host'
