/**
 * Builds the objects that cost the operator most: of each kind that a tenant may create, the largest that etcd stores, in
 * several shapes, and where its CRD accepts less, the largest of that.
 */
import { dnsDataKind } from '../src/api/dnsdata.ts'
import { dnsMasqKind } from '../src/api/dnsmasq.ts'
import { ipSetKind, reservationKind } from '../src/api/ipset.ts'
import { netConfigKind } from '../src/api/netconfig-kind.ts'
import type { KubeObject } from '../src/api/object.ts'
import { ansibleRunKind } from '../src/dataplane/kinds/ansible-run.ts'
import {
  dataPlaneKind,
  dataPlaneNodeKind,
  dataPlaneRoleKind,
  dataPlaneServiceKind,
} from '../src/dataplane/kinds/data-plane.ts'
import { cutToSchema } from './cut-to-schema.ts'
import { dataPlaneNode, dataPlaneRole, SSH_SECRET } from './data-plane.ts'
import { address, BYTES, build, chunk, fill, type LargestObject, NODE, TENANT, VARS } from './large-values.ts'
import { largestServiceObjects, SERVICE_SECRET, serviceKinds } from './largest-service-objects.ts'
import { sharedSecret } from './real/dataplane/hostile-cloud.ts'

const otherKinds = [
  netConfigKind,
  ipSetKind,
  reservationKind,
  dnsMasqKind,
  dnsDataKind,
  dataPlaneRoleKind,
  dataPlaneNodeKind,
  dataPlaneKind,
  dataPlaneServiceKind,
  ansibleRunKind,
]

function subnet(index: number, more: object = {}): object {
  const range = { start: address(index * 4 + 2), end: address(index * 4 + 2) }
  return { name: `s${index}`, cidr: `${address(index * 4)}/30`, allocationRanges: [range], ...more }
}

const network = (index: number, subnets: readonly object[]): object => ({ name: `net${index}`, mtu: 1500, subnets })

const excluded = (first: number): readonly string[] => fill((index) => address(first + index), BYTES, 4096)

const largestForEtcd: readonly LargestObject[] = [
  {
    shape: 'many subnets',
    object: build(netConfigKind, {
      networks: chunk(
        fill((n) => subnet(n)),
        1024,
      ).map((subnets, n) => network(n, subnets)),
    }),
  },
  {
    shape: 'many subnets within the limit of a review',
    object: build(netConfigKind, {
      networks: chunk(
        fill((n) => subnet(n), BYTES, 6000),
        1024,
      ).map((subnets, n) => network(n, subnets)),
    }),
  },
  {
    shape: 'many equal subnets',
    object: build(netConfigKind, {
      networks: chunk(
        fill((n) => ({ ...subnet(0), name: `s${n}` }), BYTES, 6000),
        1024,
      ).map((subnets, n) => network(n, subnets)),
    }),
  },
  {
    shape: 'many ranges',
    object: build(netConfigKind, {
      networks: chunk(
        fill(
          (n) => {
            const allocationRanges = fill(
              (r) => ({ start: address(n * 65536 + r + 2), end: address(n * 65536 + 65000) }),
              BYTES,
              256,
            )
            return { name: `s${n}`, cidr: `${address(n * 65536)}/16`, allocationRanges }
          },
          BYTES,
          45,
        ),
        9,
      ).map((subnets, n) => network(n, subnets)),
    }),
  },
  {
    shape: 'many excluded addresses',
    object: build(netConfigKind, {
      networks: fill(
        (n) =>
          network(n, [
            {
              name: 'ss',
              cidr: `10.${n}.0.0/16`,
              allocationRanges: [{ start: `10.${n}.0.1`, end: `10.${n}.255.254` }],
              excludeAddresses: excluded(n * 65536 + 256),
            },
          ]),
        BYTES,
        22,
      ),
    }),
  },
  {
    shape: 'many networks',
    object: build(ipSetKind, {
      networks: fill((n) => ({ name: `${'n'.repeat(240)}${n}`, subnetName: 's'.repeat(253) }), BYTES, 256),
    }),
  },
  {
    shape: 'one fixed address in a subnet with many excluded addresses, often',
    object: build(ipSetKind, {
      networks: fill(() => ({ name: 'excluding', subnetName: 'ss', fixedIP: '172.16.0.1' }), BYTES, 256),
    }),
  },
  {
    shape: 'many owners',
    object: build(
      ipSetKind,
      { networks: [{ name: 'excluding', subnetName: 'ss' }] },
      { ownerReferences: fill((n) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `c${n}`, uid: `${n}` })) },
    ),
  },
  {
    shape: 'many addresses',
    object: build(reservationKind, {
      ipSetRef: { name: 'largest', namespace: TENANT },
      reservation: Object.fromEntries(
        fill((n) => [`n${n}`, { network: `n${n}a`, subnet: 'ss', address: address(n) }] as const, BYTES / 2.4),
      ),
    }),
  },
  {
    shape: 'many values that are no addresses',
    object: build(reservationKind, {
      ipSetRef: { name: 'largest', namespace: TENANT },
      reservation: Object.fromEntries(
        fill((n) => [`n${n}`, { network: 'nn', subnet: 'ss', address: ':'.repeat(200) }] as const, BYTES / 1.5),
      ),
    }),
  },
  {
    shape: 'many options',
    object: build(dnsMasqKind, {
      dnsDataLabelSelectorValue: 'dnsdata',
      options: fill((n) => ({ key: 'server', values: [`/d${n}.example/${address(n)}`] })),
    }),
  },
  {
    shape: 'one long option',
    object: build(dnsMasqKind, { options: [{ key: 'txt-record', values: [`a,${'"" '.repeat(BYTES / 8)}`] }] }),
  },
  {
    shape: 'an option with many wrong values',
    object: build(dnsMasqKind, { options: [{ key: 'txt-record', values: fill(() => '"') }] }),
  },
  {
    shape: 'an option with many values',
    object: build(dnsMasqKind, { options: [{ key: 'server', values: fill((n) => address(n)) }] }),
  },
  {
    shape: 'many endpoints',
    object: build(dnsMasqKind, {
      externalEndpoints: fill((n) => ({ ipAddressPool: `p${n}`, loadBalancerIPs: [address(n)] })),
    }),
  },
  {
    shape: 'many hosts',
    object: build(dnsDataKind, {
      hosts: fill((n) => ({ ip: address(n), hostnames: [`h${n}.${'e'.repeat(130)}.com`] }), BYTES, 8192),
    }),
  },
  {
    shape: 'one host with many names',
    object: build(dnsDataKind, { hosts: [{ ip: '10.0.0.1', hostnames: fill((n) => `h${n}`) }] }),
  },
  {
    shape: 'many hosts with one name',
    object: build(dnsDataKind, { hosts: fill((n) => ({ ip: address(n), hostnames: ['a'] }), BYTES, 8192) }),
  },
  {
    shape: 'one long name',
    object: build(dnsDataKind, { hosts: [{ ip: '10.0.0.1', hostnames: ['a-'.repeat(BYTES / 2)] }] }),
  },
  {
    shape: 'many services',
    object: build(dataPlaneRoleKind, { services: fill((n) => `s${n}`) }),
  },
  {
    shape: 'long variables',
    object: build(dataPlaneRoleKind, {
      nodeTemplate: { ansibleVars: `a: [${'1,'.repeat(VARS / 2 - 10)}]`.slice(0, VARS - 1) },
    }),
  },
  {
    shape: 'variables of many keys',
    object: build(dataPlaneRoleKind, {
      nodeTemplate: {
        ansibleVars: fill((n) => n, VARS - 40_000)
          .map((n) => `a${n}: {}`)
          .join('\n')
          .slice(0, VARS - 20),
      },
    }),
  },
  {
    shape: 'nested variables',
    object: build(dataPlaneRoleKind, {
      nodeTemplate: { ansibleVars: `a: ${'['.repeat(VARS / 2 - 10)}${']'.repeat(VARS / 2 - 10)}` },
    }),
  },
  {
    shape: 'many mounts',
    object: build(dataPlaneRoleKind, {
      nodeTemplate: {
        extraMounts: [
          {
            volumes: fill((n) => ({ name: `v${n}`, secret: { secretName: `s${n}` } }), BYTES / 2),
            mounts: fill((n) => ({ name: `v${n}`, mountPath: `/${n}` }), BYTES / 2),
          },
        ],
      },
    }),
  },
  {
    shape: 'many networks',
    object: build(dataPlaneRoleKind, {
      nodeTemplate: { networks: fill((n) => ({ name: `net${n}`, subnetName: 'ss' })) },
    }),
  },
  {
    shape: 'many variables of the environment',
    object: build(dataPlaneRoleKind, {
      env: fill((n) => ({ name: `E${n}`, valueFrom: { secretKeyRef: { name: `s${n}`, key: 'k' } } })),
    }),
  },
  {
    shape: 'a long template',
    object: build(dataPlaneRoleKind, { nodeTemplate: { networkConfig: { template: '{{ '.repeat(BYTES / 3) } } }),
  },
  {
    shape: 'many machines',
    object: build(dataPlaneRoleKind, {
      baremetalSetTemplate: {
        ctlplaneInterface: 'eth0',
        deploymentSSHSecret: SSH_SECRET,
        baremetalHosts: Object.fromEntries(fill((n) => [`h${n}`, { ctlPlaneIP: address(n) }] as const, BYTES / 2.5)),
      },
    }),
  },
  {
    shape: 'many networks',
    object: build(dataPlaneNodeKind, {
      role: 'role',
      node: { networks: fill((n) => ({ name: `net${n}`, subnetName: 'ss', fixedIP: address(n) })) },
    }),
  },
  {
    shape: 'long variables',
    object: build(dataPlaneNodeKind, {
      role: 'role',
      node: {
        ansibleVars: fill((n) => n, VARS - 40_000)
          .map((n) => `a${n}: {}`)
          .join('\n')
          .slice(0, VARS - 20),
      },
    }),
  },
  {
    shape: 'many mounts',
    object: build(dataPlaneNodeKind, {
      role: 'role',
      node: {
        extraMounts: fill((n) => ({
          volumes: [{ name: `v${n}`, secret: { secretName: `s${n}` } }],
          mounts: [{ name: `v${n}`, mountPath: `/${n}` }],
        })),
      },
    }),
  },
  {
    shape: 'a long template and host name',
    object: build(dataPlaneNodeKind, {
      role: 'role',
      hostName: 'a'.repeat(BYTES / 2),
      node: { networkConfig: { template: '{{ '.repeat(BYTES / 6) } },
    }),
  },
  {
    shape: 'many nodes and roles',
    object: build(dataPlaneKind, {
      nodes: Object.fromEntries(fill((n) => [`n${n}`, {}] as const, BYTES / 5)),
      roles: Object.fromEntries(fill((n) => [`r${n}`, {}] as const, BYTES / 10)),
    }),
  },
  {
    shape: 'a long play',
    object: build(dataPlaneServiceKind, { play: '- hosts: all\n'.repeat(BYTES / 15) }),
  },
  {
    shape: 'many tasks',
    object: build(dataPlaneServiceKind, {
      role: { tasks: fill((n) => ({ name: `t${n}`, import_role: { name: 'r' } })) },
    }),
  },
  {
    shape: 'a long inventory',
    object: build(ansibleRunKind, {
      play: '- hosts: all',
      inventory: `all: {hosts: {${fill((n) => n, BYTES / 2)
        .map((n) => `h${n}: {}`)
        .join(',')}}}`,
    }),
  },
  {
    shape: 'an inventory of one long line',
    object: build(ansibleRunKind, { play: '- hosts: all', inventory: `a ${' ansible_host'.repeat(BYTES / 15)}` }),
  },
  {
    shape: 'a nested inventory',
    object: build(ansibleRunKind, { play: '- hosts: all', inventory: `${'['.repeat(BYTES / 2)}` }),
  },
  {
    shape: 'many variables',
    object: build(ansibleRunKind, {
      play: '- hosts: all',
      inventory: 'all: {}',
      extraVars: Object.fromEntries(fill((n) => [`v${n}`, `{{ ${n}`] as const, BYTES / 2)),
    }),
  },
  {
    shape: 'many mounts',
    object: build(ansibleRunKind, {
      play: '- hosts: all',
      inventory: 'all: {}',
      extraMounts: [
        {
          volumes: fill((n) => ({ name: `v${n}`, secret: { secretName: `s${n}` } }), BYTES / 2),
          mounts: fill((n) => ({ name: `v${n}`, mountPath: `/${n}` }), BYTES / 2),
        },
      ],
    }),
  },
  {
    shape: 'many containers',
    object: build(ansibleRunKind, {
      play: '- hosts: all',
      inventory: 'all: {}',
      initContainers: fill((n) => ({ name: `c${n}`, image: 'x', securityContext: { privileged: true } })),
    }),
  },
  {
    shape: 'many tasks',
    object: build(ansibleRunKind, {
      inventory: 'all: {}',
      roles: { tasks: fill((n) => ({ name: `t${n}`, import_role: { name: 'r' }, vars: ['a: b'] })) },
    }),
  },
  ...largestServiceObjects,
]

export const largestObjects: readonly LargestObject[] = largestForEtcd.flatMap(({ shape, object }) => {
  const definition = [...serviceKinds, ...otherKinds].find(({ kind }) => kind === object.kind)
  const accepted = { ...object, ...(definition && { spec: cutToSchema(definition, object['spec']) }) }
  const isCut = JSON.stringify(accepted).length < JSON.stringify(object).length
  return [{ shape, object }, ...(isCut ? [{ shape: `${shape}, as the CRD accepts`, object: accepted }] : [])]
})

export const largestKinds: readonly string[] = [...new Set(largestObjects.map(({ object }) => object.kind))]

const excludingNetwork = network(-1, [
  {
    name: 'ss',
    cidr: '172.16.0.0/16',
    allocationRanges: [{ start: '172.16.128.1', end: '172.16.200.1' }],
    excludeAddresses: Array.from({ length: 4096 }, (_, index) => `172.16.${index >> 8}.${index & 255}`),
  },
])

/** Small objects of the tenant that refer to the largest, so that every controller has to look at it. */
export function neighbours({ kind, metadata }: KubeObject): readonly KubeObject[] {
  const manySubnets = chunk(
    fill((n) => subnet(n), BYTES, 6000),
    1024,
  ).map((subnets, n) => network(n, subnets))
  const networks = [{ ...excludingNetwork, name: 'excluding' }, ...(kind === 'IPSet' ? manySubnets : [])]
  const role = kind === 'OpenStackDataPlaneRole' ? metadata.name : 'role'
  const section = { ansibleSSHPrivateKeySecret: SSH_SECRET, networks: [{ name: 'excluding', subnetName: 'ss' }] }
  const all = [
    build(netConfigKind, { networks }),
    build(dnsMasqKind, {}, { name: 'dns' }),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: SSH_SECRET, namespace: TENANT },
      stringData: { 'ssh-privatekey': 'x' },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: SERVICE_SECRET, namespace: TENANT },
      stringData: sharedSecret,
    },
    dataPlaneRole('role', { nodeTemplate: section, deployStrategy: {} }, {}, TENANT),
    dataPlaneNode(NODE, { role, node: section, deployStrategy: {} }, {}, TENANT),
  ]
  return all.filter((object) => object.kind !== kind || object.metadata.name === 'role')
}
