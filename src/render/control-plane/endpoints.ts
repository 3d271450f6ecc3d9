/**
 * Gives pods of the control plane the fixed addresses that `endpoints` of a network reserve. Pure.
 *
 * RabbitMQ takes the annotation of its pods. The other operators write that annotation themselves from the names in
 * `networkAttachments`, so the address is in a definition of its own, which replaces the one of the network.
 */
import type { KubeObject } from '../../api/object.ts'
import type { NamedAddress, Plan, PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import { fieldNames } from '../../plan/release/fields.ts'
import { rabbitmqNames } from '../../plan/slots/cloud-services.ts'
import { asFields, type Fields, isFields, setValue } from '../merge.ts'
import {
  type Attachment,
  endpointDefinitionName,
  NETWORKS_ANNOTATION,
  networksAnnotation,
  renderEndpointDefinition,
  staticName,
} from '../multus.ts'
import { prefixLength } from '../spans.ts'

/** What the control plane has for a pod's address: its annotation, or the names of its definitions. */
export type EndpointPlace =
  | { readonly kind: 'annotation'; readonly path: readonly string[] }
  | { readonly kind: 'attachment'; readonly path: readonly string[]; readonly field: AttachmentField }

type AttachmentField = 'networkAttachment' | 'networkAttachments'

export interface Endpoint {
  readonly name: string
  readonly network: PlannedNetwork
  /** With prefix length. */
  readonly address: string
  /** The definition with static addresses that the annotation of a pod can name. */
  readonly attachment: Attachment
  /** Undefined if no pod of the control plane has this name, or several have it. */
  readonly place: EndpointPlace | undefined
  /** The names of pods that can have an address on this network. */
  readonly known: readonly string[]
}

interface PodTemplate {
  readonly names: readonly string[]
  readonly place: EndpointPlace
}

/** The endpoints of a cloud, each with its place in the spec. */
export function listEndpoints(plan: Plan, cloud: PlannedCloud, spec: Fields): readonly Endpoint[] {
  if (cloud.networks.every((network) => network.endpoints.length === 0)) return []
  const templates = [...rabbitmqTemplates(cloud), ...attachableTemplates(plan, cloud, spec)]
  return cloud.networks.flatMap((network) => {
    const free = new Set(templates.filter(({ place }) => canAttach(spec, place, network)))
    const known = [...free].map(({ names }) => names.at(-1) ?? '')
    return network.endpoints.map(({ name, address }: NamedAddress) => {
      const matches = [...free].filter(({ names }) => names.some((known) => isSameName(known, name)))
      const template = matches.length === 1 ? matches[0] : undefined
      // A pod has one address on a network.
      if (template) free.delete(template)
      const ip = `${address}/${prefixLength(network, address)}`
      const attachment = { name: staticName(network), namespace: cloud.namespace, ips: [ip] }
      return { name, network, address: ip, attachment, place: template?.place, known }
    })
  })
}

function rabbitmqTemplates(cloud: PlannedCloud): readonly PodTemplate[] {
  return rabbitmqNames(cloud.from).map((name) => ({
    names: [name, `rabbitmq.${name}`],
    place: { kind: 'annotation', path: ['rabbitmq', 'templates', name] },
  }))
}

/** Every part of the spec that describes pods and for which the release has network attachments. */
function attachableTemplates(plan: Plan, cloud: PlannedCloud, spec: Fields): readonly PodTemplate[] {
  const graph = plan.slots.release.kinds['OpenStackControlPlane']?.spec
  if (!graph) return []
  const visit = (value: unknown, path: readonly string[], keys: readonly string[]): readonly PodTemplate[] => {
    if (!isFields(value)) return []
    const fields = fieldNames(graph, path)
    const isMap = fields.includes('*')
    const inner = Object.entries(value).flatMap(([key, child]) => {
      // `template` and the name of a map say nothing about the pod.
      const isNameless = key === 'template' || fieldNames(graph, [...path, key]).includes('*')
      return visit(child, [...path, key], isNameless && !isMap ? keys : [...keys, key])
    })
    // Where the parts of a service have attachments, those of the whole service are for older releases.
    if (inner.length > 0) return inner
    const field = (['networkAttachments', 'networkAttachment'] as const).find((name) => fields.includes(name))
    if (!field) return []
    const names = keys.map((_, from) => keys.slice(from).join('.')).reverse()
    return [{ names, place: { kind: 'attachment', path, field } }]
  }
  return cloud.services
    .filter(({ enabled }) => enabled)
    .flatMap(({ entry }) => visit(spec[entry.name], [entry.name], [entry.name]))
}

/** A template with one attachment cannot leave its network for another. */
function canAttach(spec: Fields, place: EndpointPlace, network: PlannedNetwork): boolean {
  if (network.attach === 'none') return place.kind === 'annotation'
  if (place.kind === 'annotation' || place.field === 'networkAttachments') return true
  const attached = getFields(spec, place.path)[place.field]
  return attached === undefined || attached === network.name
}

/** `cinder-api-0` is the pod of `cinderAPI`, `nova-scheduler` that of `nova.schedulerServiceTemplate`. */
function isSameName(template: string, endpoint: string): boolean {
  return simplify(template) === simplify(endpoint.replace(/-\d+$/, ''))
}

function simplify(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/servicetemplate$/, '')
    .replace(/^ovsdbserver/, 'ovndbcluster')
}

function getFields(spec: Fields, path: readonly string[]): Fields {
  return asFields(path.reduce<unknown>((value, key) => asFields(value)[key], spec))
}

export function addEndpoints(plan: Plan, cloud: PlannedCloud, spec: Fields): Fields {
  const annotated = new Map<readonly string[], Attachment[]>()
  let filled = spec
  for (const { place, name, network, attachment } of listEndpoints(plan, cloud, spec)) {
    if (place?.kind === 'annotation') {
      annotated.set(place.path, [...(annotated.get(place.path) ?? []), attachment])
    } else if (place) {
      const before = getFields(filled, place.path)[place.field]
      const definition = endpointDefinitionName(network, name)
      const names = (Array.isArray(before) ? (before as readonly unknown[]) : []).filter(
        (name) => name !== network.name,
      )
      const value = place.field === 'networkAttachment' ? definition : [...names, definition]
      filled = asFields(setValue(filled, [...place.path, place.field], value))
    }
  }
  for (const [path, attachments] of annotated) {
    const template = [...path, 'override', 'statefulSet', 'spec', 'template']
    const value = networksAnnotation(attachments)
    filled = asFields(setValue(filled, [...template, 'metadata', 'annotations', NETWORKS_ANNOTATION], value))
  }
  return filled
}

/** Whether the spec, with the raw fields merged, still gives the pod its address. */
export function hasEndpoint(spec: Fields, { place, name, network }: Endpoint): boolean {
  if (place?.kind !== 'attachment') return place !== undefined
  const value = getFields(spec, place.path)[place.field]
  const definition = endpointDefinitionName(network, name)
  return Array.isArray(value) ? value.includes(definition) : value === definition
}

const DAEMON_SETS = /^(?:ovnController|octavia(?:HealthManager|Housekeeping|Rsyslog|Worker))$/

/** How many pods a template makes, all of which would have the address. */
export function countPods(plan: Plan, spec: Fields, { path }: EndpointPlace): number {
  if (DAEMON_SETS.test(path.at(-1) ?? '')) return plan.from.cluster.nodes.length
  const { replicas, type } = getFields(spec, path)
  // A glance API of type `split` is two StatefulSets.
  return (typeof replicas === 'number' ? replicas : 1) * (type === 'split' ? 2 : 1)
}

/** The definitions that hold the addresses of endpoints; `spec` is the one without them. */
export function renderEndpointDefinitions(plan: Plan, cloud: PlannedCloud, spec: Fields): readonly KubeObject[] {
  return listEndpoints(plan, cloud, spec).flatMap(({ place, name, network, address }) =>
    place?.kind === 'attachment' ? [renderEndpointDefinition(plan, cloud, network, { name, address })] : [],
  )
}
