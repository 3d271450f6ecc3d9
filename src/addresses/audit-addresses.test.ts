import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { indexSnapshot, type UnreadKind } from '../api/snapshot.ts'
import { auditAddresses } from './audit-addresses.ts'
import { parseOverlap } from './overlapping-reservation.ts'
import { intersectFaults, planRepair } from './plan-repair.ts'

const WHEREABOUTS = 'whereabouts.cni.cncf.io/v1alpha1'
const NETWORK = 'network.openstack.org/v1beta1'

function object(apiVersion: string, kind: string, key: string, fields: object = {}, metadata: object = {}): KubeObject {
  const [namespace = '', name = ''] = key.split('/')
  return { apiVersion, kind, metadata: { namespace, name, uid: `${kind} ${key}`, ...metadata }, ...fields }
}
const pool = (podRefs: Readonly<Record<string, string>>): KubeObject =>
  object(WHEREABOUTS, 'IPPool', 'kube-system/openstack-internalapi-172.17.0.0-24', {
    spec: {
      range: '172.17.0.0/24',
      allocations: Object.fromEntries(
        Object.entries(podRefs).map(([offset, podref]) => [offset, { id: `id-${podref}`, podref, ifname: 'net1' }]),
      ),
    },
  })
const overlap = (address: string, podref: string): KubeObject =>
  object(WHEREABOUTS, 'OverlappingRangeIPReservation', `kube-system/openstack-internalapi-${address}`, {
    spec: { podref, containerid: 'x' },
  })
const pod = (name: string, address?: string, metadata: object = {}): KubeObject =>
  object(
    'v1',
    'Pod',
    `openstack/${name}`,
    { status: { phase: 'Running' } },
    {
      ...(address !== undefined && {
        annotations: {
          'k8s.v1.cni.cncf.io/network-status': JSON.stringify([{ name: 'openstack/internalapi', ips: [address] }]),
        },
      }),
      ...metadata,
    },
  )
const attachment = object('k8s.cni.cncf.io/v1', 'NetworkAttachmentDefinition', 'openstack/internalapi', {
  spec: {
    config: JSON.stringify({
      type: 'macvlan',
      master: 'enp6s0.20',
      ipam: {
        type: 'whereabouts',
        range: '172.17.0.0/24',
        range_start: '172.17.0.30',
        range_end: '172.17.0.70',
        network_name: 'openstack-internalapi',
      },
    }),
  },
})
const node = (name: string, ready: string, taints: readonly object[] = []): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  spec: { taints },
  status: { conditions: [{ type: 'Ready', status: ready }] },
})
const reservation = object(NETWORK, 'Reservation', 'openstack/compute-0', {
  spec: { ipSetRef: { name: 'compute-0' }, reservation: { ctlplane: { address: '192.168.122.100' } } },
})
const ipSet = object(NETWORK, 'IPSet', 'openstack/compute-0')

const audit = (objects: readonly KubeObject[], unread: readonly UnreadKind[] = []) =>
  auditAddresses(indexSnapshot({ objects, unread }))
const brief = (objects: readonly KubeObject[]): readonly string[] =>
  audit(objects).faults.map(({ kind, address }) => `${kind} ${address}`)

describe('auditAddresses', () => {
  it('finds the entries of pods that do not exist, with network, owner and container', () => {
    const { faults } = audit([attachment, pool({ '30': 'openstack/gone', '31': 'openstack/ovn-0' }), pod('ovn-0')])
    expect(faults).toMatchObject([
      {
        kind: 'leaked',
        address: '172.17.0.30',
        namespace: 'openstack',
        network: 'internalapi',
        owner: 'Pod openstack/gone',
        entry: { offset: '30', container: 'id-openstack/gone', podRef: 'openstack/gone' },
      },
    ])
  })

  it('finds blocked addresses of pods that do not exist', () => {
    expect(
      brief([overlap('172.17.0.30', 'openstack/gone'), overlap('172.17.0.31', 'openstack/ovn-0'), pod('ovn-0')]),
    ).toEqual(['leaked-overlap 172.17.0.30'])
  })

  it('does not judge an entry without a pod, which old versions of whereabouts wrote', () => {
    expect(brief([pool({ '30': '', '31': 'odd' }), overlap('172.17.0.32', '')])).toEqual([])
  })

  it('finds running pods whose address the IPPool has for no pod or for another one', () => {
    const objects = [
      attachment,
      pool({ '30': 'openstack/a', '32': 'openstack/a' }),
      pod('a', '172.17.0.30'),
      pod('b', '172.17.0.31'),
      pod('c', '172.17.0.32'),
      pod('d', '172.17.0.33', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      // Not of whereabouts.
      pod('e', '10.1.0.33'),
    ]
    expect(brief(objects)).toEqual(['unreserved 172.17.0.31', 'unreserved 172.17.0.32'])
  })

  it('finds Reservations without their IPSet', () => {
    expect(brief([reservation])).toEqual(['orphaned 192.168.122.100'])
    expect(brief([reservation, ipSet])).toEqual([])
  })

  it('judges nothing by a kind that was not read, and says so', () => {
    const unread = [
      { apiVersion: 'v1', kind: 'Pod', reason: 'forbidden', cause: 'forbidden' },
      { apiVersion: NETWORK, kind: 'IPSet', reason: 'read in openstack2 only', cause: 'forbidden' },
    ] as const
    const objects = [pool({ '30': 'openstack/gone' }), overlap('172.17.0.30', 'openstack/gone'), reservation]
    expect(audit(objects, unread)).toEqual({
      faults: [],
      unproven: ['Pod: forbidden', 'IPSet: read in openstack2 only'],
    })
  })

  it('never blames an address whose pod exists (property)', () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'))
    fc.assert(
      fc.property(names, names, (reserved, living) => {
        const entries = Object.fromEntries(reserved.map((name, n) => [String(30 + n), `openstack/${name}`]))
        const { faults } = audit([pool(entries), ...living.map((name) => pod(name))])
        const expected = reserved.filter((name) => !living.includes(name)).map((name) => `Pod openstack/${name}`)
        expect(faults.map(({ owner }) => owner).sort()).toEqual(expected.sort())
      }),
    )
  })
})

describe('planRepair', () => {
  const plan = (objects: readonly KubeObject[], unread: readonly UnreadKind[] = []) => {
    const index = indexSnapshot({ objects, unread })
    return planRepair(auditAddresses(index), index)
  }
  const leak = [pool({ '30': 'openstack/gone' }), reservation]

  it('frees leaked addresses when every node is ready, with what was looked at as proof', () => {
    const { free, kept, proof } = plan([...leak, node('worker-0', 'True'), pod('other')])
    expect(free.map(({ kind }) => kind)).toEqual(['leaked', 'orphaned'])
    expect(kept).toEqual([])
    expect(proof).toMatchObject({ Pod: ['openstack/other'], Node: ['worker-0'], Reservation: ['openstack/compute-0'] })
  })

  it('keeps addresses of pods while a node is silent, unless it is declared out of service', () => {
    const { free, kept, silentNodes } = plan([...leak, node('worker-0', 'Unknown')])
    expect(free.map(({ kind }) => kind)).toEqual(['orphaned'])
    expect(kept.map(({ kind }) => kind)).toEqual(['leaked'])
    expect(silentNodes).toEqual(['worker-0'])
    const off = node('worker-0', 'Unknown', [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }])
    expect(plan([...leak, off]).kept).toEqual([])
  })

  it('keeps addresses of pods when the nodes could not be read', () => {
    const unread = [{ apiVersion: 'v1', kind: 'Node', reason: 'forbidden', cause: 'forbidden' }] as const
    expect(plan(leak, unread).free.map(({ kind }) => kind)).toEqual(['orphaned'])
  })

  it('never frees what a living object has', () => {
    const { free } = plan([attachment, pool({}), pod('a', '172.17.0.30'), node('worker-0', 'True')])
    expect(free).toEqual([])
  })
})

describe('intersectFaults', () => {
  it('drops an entry that got another container in between', () => {
    const { faults } = audit([pool({ '30': 'openstack/gone', '31': 'openstack/gone-too' })])
    const changed = faults.map((fault) =>
      fault.entry?.offset === '30' ? { ...fault, entry: { ...fault.entry, container: 'new' } } : fault,
    )
    expect(intersectFaults(faults, changed).map(({ address }) => address)).toEqual(['172.17.0.31'])
  })
})

describe('parseOverlap', () => {
  it.each([
    ['172.17.0.30', '172.17.0.30'],
    ['openstack-internalapi-172.17.0.30', '172.17.0.30'],
    ['openstack-storage-fd00-cccc--30', 'fd00:cccc::30'],
    ['odd', 'odd'],
  ])('reads the address of %s', (name, address) => {
    expect(parseOverlap(object(WHEREABOUTS, 'OverlappingRangeIPReservation', `kube-system/${name}`)).address).toBe(
      address,
    )
  })
})
