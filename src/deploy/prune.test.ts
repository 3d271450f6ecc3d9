import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { neverAborted } from '../../test/never-aborted.ts'
import type { KubeObject } from '../api/object.ts'
import { systemClock } from '../clock/clock.ts'
import { addOwnershipLabels } from '../render/labels.ts'
import type { StageEvent } from '../run/events.ts'
import { readInventory, writeInventory } from './inventory.ts'
import { objectRef } from './object-changes.ts'
import { type Dependents, pruneStage, reasonToKeep } from './prune.ts'

const noDependents: Dependents = { services: [], claims: [] }
const owner = { site: 'lab', cloud: 'rhoso1' }

const pool: KubeObject = {
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: { name: 'openstack-storage', namespace: 'metallb-system' },
  spec: { addresses: ['172.18.0.80-172.18.0.90', 'fd00:18::/120'] },
}
const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'openstack' } }
const attachment: KubeObject = {
  apiVersion: 'k8s.cni.cncf.io/v1',
  kind: 'NetworkAttachmentDefinition',
  metadata: { name: 'storage', namespace: 'openstack' },
}

const service = (ip: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: `at-${ip}`, namespace: 'elsewhere' },
  status: { loadBalancer: { ingress: [{ ip }] } },
})
const claim = (within: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'mysql-db', namespace: within },
})
const leftover = (object: KubeObject, more: object = {}) => ({
  cloud: 'rhoso1',
  ref: { ...objectRef(object), ...more },
})
const ours = (object: KubeObject): KubeObject => addOwnershipLabels(object, owner)

describe('reasonToKeep', () => {
  it('returns nothing for an object of ours without dependents', () => {
    for (const object of [pool, namespace, attachment])
      expect(reasonToKeep(leftover(object), ours(object), noDependents)).toBeUndefined()
  })

  it('keeps a pool while a Service of the cluster has one of its addresses', () => {
    for (const address of ['172.18.0.80', '172.18.0.90', 'fd00:18::7']) {
      const users = { ...noDependents, services: [service(address), service('172.18.0.79')] }
      expect(reasonToKeep(leftover(pool), ours(pool), users)).toBe('1 of its addresses are in use')
    }
    const elsewhere = { ...noDependents, services: [service('172.18.0.91'), service('172.17.0.80')] }
    expect(reasonToKeep(leftover(pool), ours(pool), elsewhere)).toBeUndefined()
  })

  it('keeps a namespace with volumes', () => {
    const users = { ...noDependents, claims: [claim('openstack'), claim('openstack2')] }
    expect(reasonToKeep(leftover(namespace), ours(namespace), users)).toBe('1 volume claims are in it')
    expect(
      reasonToKeep(leftover(namespace), ours(namespace), { ...noDependents, claims: [claim('openstack2')] }),
    ).toBeUndefined()
  })

  it('keeps an object that was adopted, is no longer ours, or belongs to another cloud', () => {
    const here = reasonToKeep(leftover(attachment, { adopted: true }), ours(attachment), noDependents)
    expect(here).toBe('it existed before Stackloom')
    expect(reasonToKeep(leftover(attachment), attachment, noDependents)).toBe('it is no longer managed by Stackloom')
    const other = addOwnershipLabels(attachment, { site: 'lab', cloud: 'rhoso2' })
    expect(reasonToKeep(leftover(attachment), other, noDependents)).toBe('it belongs to rhoso2')
    const shared = addOwnershipLabels(attachment, { site: 'lab' })
    expect(reasonToKeep(leftover(attachment), shared, noDependents)).toBe('it belongs to what the clouds share')
  })
})

describe('pruneStage', () => {
  const prune = async (live: readonly KubeObject[], left: readonly KubeObject[]) => {
    const { client, objects } = memoryCluster()
    for (const object of live) await client.create(object)
    await writeInventory(client, { site: 'lab', cloud: 'rhoso1', objects: left.map(objectRef) })
    const events: StageEvent[] = []
    const stage = pruneStage(
      left.map((object) => leftover(object)),
      client,
      [],
    )
    const context = {
      emit: (event: StageEvent) => void events.push(event),
      stop: neverAborted(),
      clock: systemClock,
    }
    await stage.work(context)
    const listed = (await readInventory(client, 'rhoso1'))?.objects.map(({ name }) => name)
    const kinds = ['IPAddressPool', 'NetworkAttachmentDefinition', 'Service']
    return { listed, events, names: kinds.flatMap(objects).map(({ metadata }) => metadata.name) }
  }

  it('deletes unused objects, keeps the others, and lists exactly what remains', async () => {
    const used = service('172.18.0.80')
    const { listed, names, events } = await prune([ours(pool), ours(attachment), used], [pool, attachment])
    expect(names).toEqual([pool.metadata.name, used.metadata.name])
    expect(listed).toEqual([pool.metadata.name])
    expect(events).toMatchObject([
      { kind: 'finding', finding: { code: 'SL4018', message: expect.stringContaining('in use') } },
      { kind: 'applied', change: 'deleted', object: { name: 'storage' } },
    ])
  })

  it('removes objects that are gone already from the inventory', async () => {
    const { listed, events } = await prune([], [attachment])
    expect(listed).toEqual([])
    expect(events).toEqual([])
  })
})
