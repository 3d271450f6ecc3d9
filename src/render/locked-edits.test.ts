import { describe, expect, it } from 'vitest'
import { isRecord } from '../api/json.ts'
import { toJsonSchema } from '../api/json-schema.ts'
import { siteSchema } from '../api/site.ts'
import { type Finding, hasErrors } from '../errors/finding.ts'
import { emptyLock, type Lock } from '../plan/lock.ts'
import { planSite } from '../plan/planner.ts'
import { builtInTable } from '../plan/slots/built-in-crds.ts'
import { judge } from '../site/accept.ts'
import { readSite } from '../site/read.ts'
import { writeYaml } from '../yaml/write.ts'
import { lintDocuments } from './lints.ts'
import { renderDocuments } from './render.ts'

type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value }
type Path = readonly (string | number)[]

/** A network with every pin, in 172.<number>.0.0/24. */
const pinnedNetwork = (number: number, endpoint: string) => ({
  vlan: number,
  nic: 'main',
  interface: `net${number}`,
  bridge: `br-net${number}`,
  attach: 'macvlan',
  trunk: [3000 + number],
  mtu: 1500,
  dnsDomain: `net${number}.example.org`,
  subnets: [
    {
      name: 'subnet1',
      cidr: `172.${number}.0.0/24`,
      gateway: `172.${number}.0.1`,
      vlan: number,
      spans: {
        nodes: `172.${number}.0.5-172.${number}.0.29`,
        pods: `172.${number}.0.30-172.${number}.0.70`,
        vips: `172.${number}.0.80-172.${number}.0.90`,
        hosts: `172.${number}.0.100-172.${number}.0.250`,
      },
      reserved: [`172.${number}.0.85`],
      routes: [{ destination: `10.${number}.0.0/24`, nexthop: `172.${number}.0.2` }],
      dnsDomain: 'subnet1.example.org',
    },
    { cidr: `fd00:${number}::/64` },
  ],
  routes: [{ destination: `10.${number}.1.0/24`, nexthop: `172.${number}.0.2` }],
  podRoutes: [{ destination: `10.${number}.2.0/24`, nexthop: `172.${number}.0.2` }],
  endpoints: [{ name: endpoint, address: `172.${number}.0.96` }],
  nodes: { 'worker-0': `172.${number}.0.10` },
})

const hostSettings = {
  ansibleUser: 'admin',
  sshSecret: 'ssh-key',
  ntp: ['192.168.122.2'],
  nic: 'nic2',
  services: ['bootstrap', 'configure-network'],
  ansibleVars: { edpm_some: 'value' },
  preProvisioned: true,
  registry: { url: 'registry.example.org', prefix: 'podified', tag: 'current' },
}

const { services, ...nodeSetSettings } = hostSettings

const catalog = {
  source: 'mirror',
  sourceNamespace: 'mirrors',
  channel: 'stable',
  image: 'registry.example.org/index:1',
}

/** Every field of the schema, with a value. */
const file = {
  apiVersion: 'stackloom.dev/v1alpha1',
  kind: 'Site',
  metadata: { name: 'lab' },
  spec: {
    cluster: {
      platform: 'openshift',
      release: 'main',
      nodes: [
        { name: 'worker-0', nic: 'bond0', nics: { main: 'bond0', storage: 'enp7s0' }, mtu: 9000 },
        { name: 'worker-1', nics: { main: 'bond0', storage: 'enp7s0' } },
        { name: 'worker-2', nics: { main: 'bond0', storage: 'enp7s0' } },
      ],
      reserved: {
        machine: ['192.168.111.0/24'],
        pods: ['10.128.0.0/14'],
        services: ['172.30.0.0/16'],
        join: ['100.64.0.0/16'],
        other: ['10.50.0.0/24'],
      },
      dns: ['192.168.122.1'],
      domain: 'apps.example.org',
      storageClass: 'fast',
      bonds: [{ name: 'bond0', ports: ['eno1', 'eno2'], mode: 'active-backup', mtu: 9000, options: { miimon: 100 } }],
      maxUnavailable: 1,
      isolation: { forwarding: 'allow', nodeAddresses: 'any-segment', taggedFrames: 'allow' },
      metallb: {
        mode: 'bgp',
        namespace: 'metallb-system',
        asn: 64999,
        peers: [
          {
            name: 'router',
            address: '192.168.100.1',
            asn: 65000,
            port: 179,
            nodes: ['worker-0'],
            passwordSecret: 'bgp-password',
            bfdProfile: 'fast',
            ebgpMultiHop: true,
          },
        ],
      },
      operators: { nmstate: catalog, metallb: catalog, certManager: catalog, openstack: catalog },
    },
    addressing: {
      isolation: 'vlan-per-cloud',
      families: [4, 6],
      vlans: { first: 20, last: 400 },
      prefixLength: { ipv4: 24, ipv6: 64 },
      layout: { nodes: '5-29', pods: '30-70', vips: '80-90', hosts: '100-250' },
    },
    networks: {
      ctlplane: { bridge: 'ospbr' },
      storage: {
        nic: 'storage',
        supernets: ['172.18.0.0/16', 'fd00:18::/48'],
        roles: ['nodes', 'pods', 'vips', 'hosts'],
      },
      storagemgmt: pinnedNetwork(21, 'ovndbcluster-sb-0'),
      designate: false,
    },
    clouds: [
      {
        name: 'rhoso1',
        namespace: 'openstack',
        version: '0.0.1',
        storageClass: 'faster',
        networks: {
          internalapi: pinnedNetwork(17, 'rabbitmq'),
          tenant: { supernets: ['172.19.0.0/16', 'fd00:19::/48'], roles: ['nodes', 'pods', 'hosts'] },
          designateext: false,
        },
        services: {
          keystone: {
            enabled: true,
            replicas: 2,
            network: 'internalapi',
            networkAttachments: ['internalapi'],
            public: 'route',
            template: { secret: 'osp-secret' },
          },
          nova: { cells: ['cell1', 'cell2'] },
          cinder: true,
          heat: true,
          rabbitmq: { replicas: 1 },
        },
        public: { by: 'vip', network: 'ctlplane' },
        vips: { 'keystone.internal': '172.17.0.80' },
        dns: {
          servers: ['192.168.122.3'],
          domain: 'rhoso1.example.org',
          options: [{ key: 'server', values: ['/a/192.168.122.1'] }],
        },
        hosts: [
          {
            name: 'compute-0',
            networks: ['ctlplane', 'internalapi', 'storage', 'tenant'],
            addresses: { internalapi: '172.17.0.100' },
            cell: 'cell1',
            nodeSet: 'compute',
            ansibleHost: '192.168.122.100',
            overrides: { bmhLabelSelector: { rack: 'a1' } },
          },
          { name: 'compute-1' },
          { name: 'compute-2', nodeSet: 'listed' },
        ],
        nodeSets: [
          {
            name: 'compute',
            role: 'compute',
            cell: 'cell1',
            networks: ['ctlplane', 'internalapi', 'storage', 'tenant'],
            ...nodeSetSettings,
            novaConfig: '[compute]\ncpu_dedicated_set = 4-23\n',
            preProvisioned: false,
            baremetalSetTemplate: { ctlplaneInterface: 'enp1s0' },
            overrides: { secretMaxSize: 1000 },
          },
          { name: 'listed', services },
        ],
        dataPlane: { ...hostSettings, migrationSecret: 'migration-key' },
        ceph: {
          secret: 'ceph-conf',
          fsid: '7b7d1a4c-1111-4222-8333-444455556666',
          user: 'openstack',
          pools: { cinder: 'volumes', glance: 'images', nova: 'vms' },
        },
        overrides: {
          controlPlane: { tls: { ingress: { enabled: true } } },
          nodeSet: { tags: ['a'] },
        },
      },
      {
        name: 'rhoso2',
        namespace: 'openstack2',
        networks: { storagemgmt: false },
        overrides: {
          netConfig: {
            networks: [
              {
                name: 'ctlplane',
                dnsDomain: 'ctlplane.example.org',
                subnets: [
                  {
                    name: 'subnet1',
                    cidr: '192.168.200.0/24',
                    allocationRanges: [{ start: '192.168.200.100', end: '192.168.200.120' }],
                  },
                ],
              },
            ],
          },
        },
      },
    ],
    accept: [{ code: 'SL2516', where: 'compute-1', reason: 'a lab' }],
  },
} satisfies Value

const slots = builtInTable('main')

interface Outcome {
  readonly documents: string
  readonly findings: readonly Finding[]
  readonly lock: Lock
}

async function plan(value: Value, before?: Lock): Promise<Outcome> {
  const { site, locate, findings } = readSite(writeYaml(value), 'site.yaml')
  const lock = before ?? emptyLock('lab')
  if (!site) return { documents: '', findings, lock }
  const result = planSite({ site, locate, findings, lock, slots })
  const found = [...result.findings, ...(await lintDocuments(result.plan, locate))]
  const all = judge(found, site.accept, { locate, judges: () => true })
  const documents = hasErrors(all) ? '' : JSON.stringify(renderDocuments(result.plan))
  return { documents, findings: all, lock: result.lock }
}

/** The paths of every value that is no mapping and no list. */
function leafPaths(value: Value, path: Path = []): readonly Path[] {
  if (typeof value !== 'object') return [path]
  return Object.entries(value).flatMap(([key, below]) =>
    leafPaths(below as Value, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}

interface Schema {
  readonly $ref?: string
  readonly definitions?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly enum?: readonly string[]
}
const schema = toJsonSchema(siteSchema, 'Site') as Schema

/** The schema itself, or what it refers to, without unions. */
function alternatives(part: Schema): readonly Schema[] {
  if (part.$ref !== undefined) return alternatives(schema.definitions?.[part.$ref.replace('#/definitions/', '')] ?? {})
  return part.anyOf ? part.anyOf.flatMap(alternatives) : [part]
}

function below(part: Schema, step: string | number): readonly Schema[] {
  const { properties, additionalProperties, items } = part
  const next = typeof step === 'number' ? items : (properties?.[step] ?? additionalProperties)
  return isRecord(next) ? alternatives(next as Schema) : []
}

const schemasAt = (path: Path): readonly Schema[] =>
  path.reduce<readonly Schema[]>((parts, step) => parts.flatMap((part) => below(part, step)), alternatives(schema))

/** Other values that the schema of the field takes. */
function otherValues(value: string | number | boolean, path: Path): readonly Value[] {
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') return [value + 1]
  const words = schemasAt(path).flatMap((part) => part.enum ?? [])
  if (words.length > 0) return words.filter((word) => word !== value)
  // The last number of a name, an address or a range, and the third one of an address or a CIDR.
  const next = [/\d+(?=\D*$)/, /(?<=^\d+\.\d+\.)\d+/].flatMap((pattern) =>
    pattern.test(value) ? [value.replace(pattern, (digits) => String(Number(digits) + 1))] : [],
  )
  return next.length > 0 ? next : [`${value}x`]
}

function replaceAt(value: Value, [step, ...rest]: Path, to: Value): Value {
  if (step === undefined) return to
  const copy = (Array.isArray(value) ? [...(value as readonly Value[])] : { ...(value as object) }) as Record<
    string | number,
    Value
  >
  copy[step] = replaceAt(copy[step] as Value, rest, to)
  return copy
}

/** The fields of every mapping that the file has and the schema names, as `spec.cluster.bonds[].name`. */
function listFields(value: Value, parts: readonly Schema[], path: string): readonly { field: string; used: boolean }[] {
  if (typeof value !== 'object') return []
  if (Array.isArray(value)) {
    return (value as readonly Value[]).flatMap((item) =>
      listFields(
        item,
        parts.flatMap((part) => below(part, 0)),
        `${path}[]`,
      ),
    )
  }
  const mapping = value as Readonly<Record<string, Value>>
  const named = parts.flatMap((part) => Object.keys(part.properties ?? {}))
  return [
    ...named.map((key) => ({ field: `${path}.${key}`, used: key in mapping })),
    ...Object.entries(mapping).flatMap(([key, item]) => {
      const isNamed = named.includes(key)
      return listFields(
        item,
        parts.flatMap((part) => below(part, key)),
        isNamed ? `${path}.${key}` : `${path}.*`,
      )
    }),
  ]
}

/** Settings that only limit: a value that what is locked complies with changes nothing, and this one it does not. */
const beyond: Readonly<Record<string, Value>> = {
  'spec.cluster.nodes.0.mtu': 1400,
  'spec.cluster.reserved.machine.0': '172.18.0.0/24',
  'spec.cluster.reserved.pods.0': '172.18.0.0/24',
  'spec.cluster.reserved.services.0': '172.18.0.0/24',
  'spec.cluster.reserved.join.0': '172.18.0.0/24',
  'spec.cluster.reserved.other.0': '172.18.0.0/24',
  'spec.addressing.vlans.last': 21,
  'spec.networks.storage.supernets.0': '172.28.0.0/16',
  'spec.networks.storage.supernets.1': 'fd00:28::/48',
  'spec.clouds.0.networks.tenant.supernets.0': '172.29.0.0/16',
  'spec.clouds.0.networks.tenant.supernets.1': 'fd00:29::/48',
}

const first = await plan(file, (await plan(file)).lock)
const known = new Set(first.findings.map(({ code, message }) => `${code} ${message}`))
const edits = leafPaths(file).flatMap((path) => {
  const value = path.reduce<unknown>((part, step) => (part as Record<string | number, unknown>)[step], file)
  const limit = beyond[path.join('.')]
  const values = limit === undefined ? otherValues(value as string, path) : [limit]
  return values.map((to) => ({ path, to, field: path.join('.') }))
})

describe('an edit of a locked site file', () => {
  it('starts from a file without errors, of which no setting is reported', () => {
    expect(first.findings.filter(({ severity, code }) => severity === 'error' || code === 'SL2413')).toEqual([])
    expect(first.documents).not.toBe('')
  })

  it('is tried for every field of the schema', () => {
    const fields = listFields(file, alternatives(schema), '')
    const used = new Set(fields.flatMap(({ field, used }) => (used ? [field] : [])))
    const missing = new Set(fields.map(({ field }) => field).filter((field) => !used.has(field)))
    // Every pool name that a cloud requests is refused, and with `keep` other fields would not be rendered.
    expect([...missing]).toEqual(['.spec.clouds[].keep', '.spec.clouds[].pool'])
  })

  it.each(edits)('changes the documents, is refused, or is reported: $field: $to', async ({ path, to }) => {
    const { documents, findings } = await plan(replaceAt(file, path, to), first.lock)
    const isReported = findings.some(({ code, message }) => !known.has(`${code} ${message}`))
    expect(isReported || documents !== first.documents).toBe(true)
  })
})
