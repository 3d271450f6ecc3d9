/**
 * Reads node sets, deployments and services of openstack-operator from raw objects. Pure.
 *
 * Objects of a dump may have any shape: a field of another type counts as missing.
 */
import { createHash } from 'node:crypto'
import { asRecord, asStrings } from '../api/json.ts'
import type { Condition, GroupVersionKind, KubeObject } from '../api/object.ts'
import { findCondition, getField, getList, getNumber, getString } from '../api/raw-object.ts'

const API = 'dataplane.openstack.org/v1beta1'
export const nodeSetKind: GroupVersionKind = { apiVersion: API, kind: 'OpenStackDataPlaneNodeSet' }
export const deploymentKind: GroupVersionKind = { apiVersion: API, kind: 'OpenStackDataPlaneDeployment' }
export const serviceKind: GroupVersionKind = { apiVersion: API, kind: 'OpenStackDataPlaneService' }
export const versionKind: GroupVersionKind = { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion' }

/** Marks the objects of the removal of a host, which are deleted at its end; its value is the host. */
export const REMOVAL_LABEL = 'stackloom.dev/removes-host'

/** Labels of the certificates that openstack-operator requests for hosts. */
export const NODE_SET_LABEL = 'osdpns'
export const SERVICE_LABEL = 'osdp-service'
export const HOST_LABEL = 'hostname'

/** By name: hashes, images. */
export type Texts = Readonly<Record<string, string>>

/** A Secret or ConfigMap that a service or the inventory reads. */
export interface Source {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string
  readonly optional: boolean
}

export interface Host {
  /** As in the inventory of Ansible. */
  readonly name: string
  /** As in the labels of its certificates. */
  readonly hostName: string
  readonly sources: readonly Source[]
}

export interface NodeSet {
  readonly namespace: string
  readonly name: string
  readonly hosts: readonly Host[]
  readonly services: readonly string[]
  /** Read by the inventory of all hosts. */
  readonly sources: readonly Source[]
  readonly tlsEnabled: boolean
  /** Whether the operator has seen the last change of the spec. */
  readonly isObserved: boolean
  readonly configHash: string | undefined
  readonly deployedConfigHash: string | undefined
  /** Machines that were provisioned for the hosts; undefined for hosts that existed before. */
  readonly machineHash: string | undefined
  readonly secretHashes: Texts
  readonly configMapHashes: Texts
  readonly images: Texts
  /** Conditions by deployment, also of deployments that were deleted. */
  readonly deploymentConditions: Readonly<Record<string, readonly Condition[]>>
}

export interface Deployment {
  readonly namespace: string
  readonly name: string
  readonly nodeSets: readonly string[]
  /** Empty: the services of each node set. */
  readonly servicesOverride: readonly string[]
  /** Empty: every host. */
  readonly limit: string
  /** Tags and skipped tags: only a part of the tasks ran. */
  readonly tags: string
  readonly created: string
  readonly ended: string
  /** Orders deployments that ended in the same second; 0 where it is not a number. */
  readonly revision: number
  /** It finished for all of its node sets, so its hashes are complete. */
  readonly isDeployed: boolean
  readonly nodeSetConditions: Readonly<Record<string, readonly Condition[]>>
  readonly error: string | undefined
  readonly nodeSetHashes: Texts
  readonly machineHashes: Texts
  readonly secretHashes: Texts
  readonly configMapHashes: Texts
  readonly images: Texts
  /** By the name of the Job. */
  readonly summaries: Readonly<Record<string, ExecutionSummary>>
}

export interface ExecutionSummary {
  readonly failed: readonly string[]
  readonly unreachable: readonly string[]
}

export interface Service {
  readonly namespace: string
  readonly name: string
  /** Of two services of one type in a node set, only the first runs. */
  readonly type: string
  /** It runs once for all node sets of a deployment, as part of the first one that has it. */
  readonly isGlobal: boolean
  readonly sources: readonly Source[]
  /** Fields of the OpenStackVersion's images, with the first letter in upper case. */
  readonly imageFields: readonly string[]
  /** Whether the operator requests certificates of hosts for it. */
  readonly hasCertificates: boolean
  /** The last change of its spec, if the object has managed fields. */
  readonly changed: string | undefined
}

export function readNodeSet(object: KubeObject): NodeSet {
  const { name, namespace = '', generation = 0 } = object.metadata
  const nodes = Object.entries(asRecord(getField(object, 'spec', 'nodes')))
  const isPreProvisioned = getField(object, 'spec', 'preProvisioned') === true
  const conditions = asRecord(getField(object, 'status', 'deploymentStatuses'))
  return {
    namespace,
    name,
    hosts: nodes.map(([node, value]) => {
      const hostName = getString(value, 'hostName') ?? node
      return { name: shortName(hostName), hostName, sources: readSources(getList(value, 'ansible', 'ansibleVarsFrom')) }
    }),
    services: asStrings(getField(object, 'spec', 'services')),
    sources: readSources(getList(object, 'spec', 'nodeTemplate', 'ansible', 'ansibleVarsFrom')),
    tlsEnabled: getField(object, 'spec', 'tlsEnabled') !== false,
    isObserved: (getNumber(object, 'status', 'observedGeneration') ?? generation) >= generation,
    configHash: getString(object, 'status', 'configHash'),
    deployedConfigHash: getString(object, 'status', 'deployedConfigHash'),
    machineHash: isPreProvisioned ? undefined : getString(object, 'status', 'bmhRefHash'),
    secretHashes: readTexts(object, 'status', 'secretHashes'),
    configMapHashes: readTexts(object, 'status', 'configMapHashes'),
    images: readTexts(object, 'status', 'containerImages'),
    deploymentConditions: mapValues(conditions, readConditions),
  }
}

export function readDeployment(object: KubeObject): Deployment {
  const { name, namespace = '', creationTimestamp = '', resourceVersion } = object.metadata
  const isDeployed = getField(object, 'status', 'deployed') === true
  const ready = findCondition(object, 'DeploymentReady') ?? findCondition(object, 'Ready')
  const isError = ready?.status === 'False' && ready.severity === 'Error'
  return {
    namespace,
    name,
    nodeSets: asStrings(getField(object, 'spec', 'nodeSets')),
    servicesOverride: asStrings(getField(object, 'spec', 'servicesOverride')),
    limit: getString(object, 'spec', 'ansibleLimit') ?? '',
    tags: [getString(object, 'spec', 'ansibleTags'), skipped(getString(object, 'spec', 'ansibleSkipTags'))]
      .filter((text) => text !== undefined)
      .join(', '),
    created: creationTimestamp,
    ended: ready?.lastTransitionTime ?? creationTimestamp,
    revision: Number(resourceVersion) || 0,
    isDeployed,
    nodeSetConditions: mapValues(asRecord(getField(object, 'status', 'nodeSetConditions')), readConditions),
    error: !isDeployed && isError ? ready.message || ready.reason || 'it failed' : undefined,
    nodeSetHashes: readTexts(object, 'status', 'nodeSetHashes'),
    machineHashes: readTexts(object, 'status', 'bmhRefHashes'),
    secretHashes: readTexts(object, 'status', 'secretHashes'),
    configMapHashes: readTexts(object, 'status', 'configMapHashes'),
    images: readTexts(object, 'status', 'containerImages'),
    summaries: mapValues(asRecord(getField(object, 'status', 'ansibleExecutionSummaries')), (summary) => ({
      failed: asStrings(getField(summary, 'failedHostList')),
      unreachable: asStrings(getField(summary, 'unreachableHostList')),
    })),
  }
}

const skipped = (tags: string | undefined): string | undefined => tags && `without ${tags}`

export function readService(object: KubeObject): Service {
  const { name, namespace = '', managedFields = [], creationTimestamp } = object.metadata
  const times = managedFields
    .filter(({ subresource, fieldsV1 = {} }) => subresource === undefined && 'f:spec' in fieldsV1)
    .flatMap(({ time }) => time ?? [])
  return {
    namespace,
    name,
    type: getString(object, 'spec', 'edpmServiceType') ?? name,
    isGlobal: getField(object, 'spec', 'deployOnAllNodeSets') === true,
    sources: readSources(getList(object, 'spec', 'dataSources')),
    imageFields: asStrings(getField(object, 'spec', 'containerImageFields')),
    hasCertificates: Object.keys(asRecord(getField(object, 'spec', 'tlsCerts'))).length > 0,
    // An object that was deleted and created again may have another spec too.
    changed: times.length === 0 ? creationTimestamp : times.sort().at(-1),
  }
}

/** The images that the control plane's version declares, by the field names that services use. */
export function readVersionImages(object: KubeObject): Texts {
  const images = readTexts(object, 'status', 'containerImages')
  return Object.fromEntries(
    Object.entries(images).map(([field, image]) => [`${field.charAt(0).toUpperCase()}${field.slice(1)}`, image]),
  )
}

/** `compute-0` of `compute-0.example.com`: the operator writes this name into the inventory. */
function shortName(hostName: string): string {
  return hostName.split('.')[0] ?? hostName
}

const NAME_LENGTH = 63

/** The name of the Job that runs a service; without a node set: of a service that runs on all node sets at once. */
export function jobName(service: string, deployment: string, nodeSet?: string): string {
  const name = [service, deployment, ...(nodeSet === undefined ? [] : [nodeSet])].join('-')
  if (name.length <= NAME_LENGTH) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, NAME_LENGTH - 9).replace(/[-.]+$/, '')}-${hash}`
}

/** The condition of a service in a deployment: `install-os` has `ServiceInstallOsDeploymentReady`. */
export function serviceCondition(service: string): string {
  const camel = service.replaceAll(/(?:^|[-_. ]+)([a-zA-Z0-9])/g, (_, first: string) => first.toUpperCase())
  return `Service${camel}DeploymentReady`
}

function readSources(list: readonly unknown[]): readonly Source[] {
  return list.flatMap((entry): readonly Source[] => {
    for (const [field, kind] of [
      ['configMapRef', 'ConfigMap'],
      ['secretRef', 'Secret'],
    ] as const) {
      const name = getString(entry, field, 'name')
      if (name !== undefined) return [{ kind, name, optional: getField(entry, field, 'optional') === true }]
    }
    return []
  })
}

function readTexts(object: unknown, ...path: readonly string[]): Texts {
  const entries = Object.entries(asRecord(getField(object, ...path)))
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

function readConditions(value: unknown): readonly Condition[] {
  return (Array.isArray(value) ? (value as unknown[]) : []).filter(
    (entry): entry is Condition => typeof asRecord(entry)['type'] === 'string',
  )
}

function mapValues<T>(
  record: Readonly<Record<string, unknown>>,
  convert: (value: unknown) => T,
): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, convert(value)]))
}
