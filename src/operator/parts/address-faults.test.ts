import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { indexSnapshot, type UnreadKind } from '../../api/snapshot.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import { createLeakObserver, registerFaultMetrics } from './address-faults.ts'

const attachment: KubeObject = {
  apiVersion: 'k8s.cni.cncf.io/v1',
  kind: 'NetworkAttachmentDefinition',
  metadata: { name: 'internalapi', namespace: 'openstack' },
  spec: {
    config: JSON.stringify({
      type: 'macvlan',
      ipam: { type: 'whereabouts', range: '172.17.0.0/24', range_start: '172.17.0.30', range_end: '172.17.0.70' },
    }),
  },
}
const pool: KubeObject = {
  apiVersion: 'whereabouts.cni.cncf.io/v1alpha1',
  kind: 'IPPool',
  metadata: { name: '172.17.0.0-24', namespace: 'kube-system' },
  spec: {
    range: '172.17.0.0/24',
    allocations: {
      30: { id: 'a', podref: 'openstack/alive' },
      31: { id: 'b', podref: 'openstack/gone' },
      32: { id: 'c', podref: 'elsewhere/unknown' },
    },
  },
}
const reservation: KubeObject = {
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'Reservation',
  metadata: { name: 'compute-0', namespace: 'openstack' },
  spec: { ipSetRef: { name: 'compute-0' }, reservation: { ctlplane: { address: '192.168.122.100' } } },
}
/** As a cache of names has it. */
const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'alive', namespace: 'openstack' } }
const index = (objects: readonly KubeObject[], unread: readonly UnreadKind[] = []) =>
  indexSnapshot({ objects: [attachment, pool, ...objects], unread })

/** Fails when it is parsed: attachments of tenants may have thousands of ranges. */
const unparsable: KubeObject = {
  ...attachment,
  get spec(): never {
    throw new Error('the attachment was parsed')
  },
}

describe('stackloom_address_faults', () => {
  const serve = (objects: readonly KubeObject[], unread: readonly UnreadKind[] = []): Promise<string> => {
    const registry = new Registry()
    registerFaultMetrics(registry, index(objects, unread))
    return registry.metrics()
  }

  it('counts leaked and orphaned addresses of clouds, not of namespaces that are not served', async () => {
    const text = await serve([pod, reservation])
    expect(text).toContain('stackloom_address_faults{cloud="openstack",kind="leaked"} 1')
    expect(text).toContain('stackloom_address_faults{cloud="openstack",kind="leaked-overlap"} 0')
    expect(text).toContain('stackloom_address_faults{cloud="openstack",kind="orphaned"} 1')
    expect(text).not.toContain('elsewhere')
  })

  it('is counted without parsing attachments, whatever a tenant wrote into them', async () => {
    const registry = new Registry()
    registerFaultMetrics(registry, indexSnapshot({ objects: [unparsable, pool, pod], unread: [] }))
    expect(await registry.metrics()).toContain('stackloom_address_faults{cloud="openstack",kind="leaked"} 1')
  })

  it('counts nothing as leaked before the pods are listed', async () => {
    const text = await serve([], [{ apiVersion: 'v1', kind: 'Pod', reason: 'not listed yet' }])
    expect(text).toContain('stackloom_address_faults{cloud="openstack",kind="leaked"} 0')
  })
})

it('the observer looks at the IPPool that changed, and parses no attachments', async () => {
  const other: KubeObject = {
    ...pool,
    metadata: { ...pool.metadata, name: 'other' },
    get spec(): never {
      throw new Error('another IPPool was parsed')
    },
  }
  const observer = createLeakObserver(
    indexSnapshot({ objects: [unparsable, pool, pod, other], unread: [] }),
    () => undefined,
  )
  const request = { name: '172.17.0.0-24', namespace: 'kube-system' }
  expect(await observer.reconcile(request, { clock: { now: () => 0 } } as never)).toHaveProperty('requeueAfterMs')
})

it('the observer records a leak that lasts, once', async () => {
  const recorded: EventRecord[] = []
  const observer = createLeakObserver(index([pod]), (event) => void recorded.push(event))
  const reconcile = (minutes: number) =>
    observer.reconcile({ name: '172.17.0.0-24', namespace: 'kube-system' }, {
      clock: { now: () => minutes * 60_000 },
    } as never)
  await reconcile(0)
  await reconcile(9)
  expect(recorded).toEqual([])
  await reconcile(10)
  await reconcile(20)
  expect(recorded).toMatchObject([
    { regarding: pool, reason: 'AddressesLeaked', note: expect.stringContaining('172.17.0.31 of Pod openstack/gone') },
  ])
})
