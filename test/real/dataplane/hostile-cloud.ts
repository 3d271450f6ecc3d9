/**
 * Lists the text fields that a tenant may fill, and builds a cloud with an expression of Ansible in one of them.
 *
 * Fields that a person writes for Ansible are left out: expressions are their purpose.
 */
import { type KindDefinition, renderCrd } from '../../../src/api/crd.ts'
import { dnsDataKind } from '../../../src/api/dnsdata.ts'
import { dnsMasqKind } from '../../../src/api/dnsmasq.ts'
import { ipSetKind, reservationKind } from '../../../src/api/ipset.ts'
import { netConfigKind } from '../../../src/api/netconfig-kind.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { ansibleRunKind } from '../../../src/dataplane/kinds/ansible-run.ts'
import { cinderExternalVolumeKind } from '../../../src/dataplane/kinds/cinder-external-volume.ts'
import { dataPlaneKind, dataPlaneServiceKind } from '../../../src/dataplane/kinds/data-plane.ts'
import { novaCellKind, novaExternalComputeKind } from '../../../src/dataplane/kinds/nova.ts'
import { ovnMetadataAgentKind } from '../../../src/dataplane/kinds/ovn-metadata-agent.ts'
import { sriovAgentKind } from '../../../src/dataplane/kinds/sriov-agent.ts'
import { nodeServices } from '../../../src/dataplane/service-definitions/all.ts'
import { SSH_SECRET } from '../../data-plane.ts'

interface Schema {
  readonly type?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
}

type Path = readonly (string | number)[]

/** What a person writes for Ansible, by kind: expressions are its purpose. */
const CODE: ReadonlyMap<KindDefinition, readonly string[]> = new Map([
  [dataPlaneKind, ['ansibleVars', 'template']],
  [dataPlaneServiceKind, ['play', 'role']],
  [ansibleRunKind, ['play', 'playbook', 'roles', 'inventory', 'extraVars', 'cmdLine', 'args']],
])

/** The text fields below a schema. With a pattern or a list of values the API server refuses every other text. */
function textFields(schema: Schema, at: Path, code: readonly string[]): readonly Path[] {
  const name = String(at.at(-1))
  if (at.length > 1 && code.includes(name)) return []
  if (schema.type === 'string') return schema.pattern || schema.enum ? [] : [at]
  if (schema.items) return textFields(schema.items, [...at, 0], code)
  if (schema.additionalProperties) {
    const isMember = at.length === 2 && (name === 'nodes' || name === 'roles')
    return textFields(schema.additionalProperties, [...at, isMember ? name.slice(0, -1) : 'net0'], code)
  }
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => textFields(field, [...at, key], code))
}

function fieldsOf(kind: KindDefinition): readonly Path[] {
  const { versions } = renderCrd(kind)['spec'] as {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
  const spec = versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {}
  return textFields(spec, ['spec'], CODE.get(kind) ?? [])
}

/** A copy with the value at the path; missing parents are created. */
export function withValue(target: unknown, [head, ...rest]: Path, value: unknown): unknown {
  if (head === undefined) return value
  const copy = Array.isArray(target) ? [...target] : typeof head === 'number' ? [] : { ...(target as object) }
  const fields = copy as Record<string | number, unknown>
  fields[head] = withValue(fields[head], rest, value)
  return copy
}

export interface Attack {
  readonly kind: KindDefinition
  readonly field: Path
  readonly namespace: string
  readonly index: number
}

const kinds = [
  netConfigKind,
  ipSetKind,
  reservationKind,
  dnsMasqKind,
  dnsDataKind,
  dataPlaneKind,
  dataPlaneServiceKind,
  ansibleRunKind,
  ...nodeServices.map(({ crd }) => crd),
]

/** These become text in inventories and extra variables, or a part of a name, so they are always among the attacks. */
const MARKED = [
  'managementNetwork',
  'network',
  'novaComputeContainerImage',
  'novaLibvirtContainerImage',
  'ovnMetadataAgentContainerImage',
  'sriovAgentContainerImage',
  'cinderVolumeContainerImage',
  'ipAddressPool',
]

/** About so many fields of each kind, evenly spread. */
export function listAttacks(perKind: number): readonly Attack[] {
  return kinds
    .flatMap((kind) => {
      const fields = fieldsOf(kind)
      const chosen = new Set([
        ...spread(fields, perKind),
        ...fields.filter((field) => MARKED.includes(String(field.at(-1)))),
      ])
      return [...chosen].map((field) => ({ kind, field }))
    })
    .map((attack, index) => ({ ...attack, index, namespace: `ns-${index}` }))
}

function spread<T>(items: readonly T[], limit: number): readonly T[] {
  const step = Math.max(1, items.length / limit)
  return items.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
}

export const describeField = ({ kind, field }: Attack): string => `${kind.kind}.${field.join('.')}`

export const isOfService = ({ kind }: Attack): boolean => nodeServices.some(({ crd }) => crd === kind)

export const isOfNames = ({ kind }: Attack): boolean => kind === dnsMasqKind || kind === dnsDataKind

/** A valid cloud of one node. The objects that only some attacks need are left out for the others. */
export function cloud(attack: Attack): readonly (readonly [KindDefinition, KubeObject])[] {
  const { namespace, index, kind } = attack
  const build = (definition: KindDefinition, name: string, spec: object): readonly [KindDefinition, KubeObject] => {
    const apiVersion = `${definition.group}/${definition.version}`
    return [definition, { apiVersion, kind: definition.kind, metadata: { name, namespace }, spec }]
  }
  const node = `node-${index}`
  const net = `10.${1 + index}.0`
  const subnet = {
    name: 'subnet0',
    cidr: `${net}.0/24`,
    gateway: `${net}.1`,
    allocationRanges: [{ start: `${net}.10`, end: `${net}.20` }],
  }
  const networks = [{ name: 'net0', subnetName: 'subnet0' }]
  const section = { ansibleSSHPrivateKeySecret: SSH_SECRET, networks }
  const bound = {
    dataplaneNodeName: node,
    inventoryConfigMapName: `dataplanenode-${node}`,
    sshKeySecretName: SSH_SECRET,
    ansibleEEContainerImage: 'image',
  }
  const only = (condition: boolean, ...objects: ReturnType<typeof build>[]) => (condition ? objects : [])
  return [
    build(netConfigKind, 'netconfig', { networks: [{ name: 'net0', dnsDomain: 'a.example.com', subnets: [subnet] }] }),
    ...only(isOfNames(attack), build(dnsMasqKind, 'dns', {})),
    ...only(kind === dnsDataKind, build(dnsDataKind, 'names', { hosts: [{ ip: '10.0.0.1', hostnames: ['a'] }] })),
    ...only(kind === ipSetKind, build(ipSetKind, node, { networks })),
    ...only(kind === reservationKind, build(reservationKind, node, { ipSetRef: {}, reservation: {} })),
    ...only(kind === ansibleRunKind, build(ansibleRunKind, 'run', { play: '- hosts: all\n', inventory: 'all: {}\n' })),
    ...only(
      kind === novaExternalComputeKind,
      build(novaCellKind, 'cell1', cell),
      build(novaExternalComputeKind, node, {
        ...bound,
        cellName: 'cell1',
        novaComputeContainerImage: 'image',
        novaLibvirtContainerImage: 'image',
      }),
    ),
    ...only(
      kind === ovnMetadataAgentKind,
      build(ovnMetadataAgentKind, node, {
        ...bound,
        neutronConfigSecretName: 'all',
        novaMetadataSecretName: 'all',
        ovnMetadataAgentContainerImage: 'image',
      }),
    ),
    ...only(
      kind === sriovAgentKind,
      build(sriovAgentKind, node, { ...bound, neutronConfigSecretName: 'all', sriovAgentContainerImage: 'image' }),
    ),
    ...only(
      kind === cinderExternalVolumeKind,
      build(cinderExternalVolumeKind, node, {
        ...bound,
        cinderConfigSecretName: 'all',
        cinderVolumeContainerImage: 'image',
      }),
    ),
    build(dataPlaneServiceKind, 'step', { play: '- hosts: all\n' }),
    build(dataPlaneKind, 'plane', {
      roles: {
        role: { nodeTemplate: section, services: kind === dataPlaneServiceKind ? ['step'] : [], deployStrategy: {} },
      },
      nodes: { [node]: { role: 'role', node: section, deployStrategy: {} } },
    }),
  ]
}

const cell = {
  cellName: 'cell1',
  cellDatabaseHostname: 'db',
  cellMessageBusSecretName: 'all',
  conductorServiceTemplate: {},
  noVNCProxyServiceTemplate: {},
  keystoneAuthURL: 'http://keystone:5000',
  secret: 'all',
  serviceAccount: 'nova',
}

/** Hosts are discovered in the pod of the conductor; in this one nothing can be executed. */
export function conductorPod(namespace: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'nova-cell0-conductor-0',
      namespace,
      annotations: { 'sandbox.stackloom.dev/played': 'true' },
    },
    spec: { containers: [{ name: 'conductor', image: 'image' }] },
  }
}

export const sharedSecret = {
  'ssh-privatekey': 'x',
  transport_url: 'rabbit://a:b@c',
  ServicePassword: 'p',
  '10-neutron-metadata.conf': '[ovn]\novn_sb_connection = ssl:10.0.0.1:6642\n',
  '10-neutron-sriov.conf': '[DEFAULT]\ntransport_url = rabbit://a:b@c\n',
  '10-cinder-volume.conf': '[DEFAULT]\ntransport_url = rabbit://a:b@c\n[database]\nconnection = mysql://a:b@c/d\n',
  '05-nova-metadata.conf': '[DEFAULT]\nnova_metadata_host = a\nmetadata_proxy_shared_secret = s\n',
}
