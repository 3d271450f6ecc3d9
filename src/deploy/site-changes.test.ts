import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import { indexSnapshot } from '../api/snapshot.ts'
import { type RenderedDocument, renderDocuments } from '../render/render.ts'
import type { Inventory, InventoryEntry } from './inventory.ts'
import { compareObject, objectRef } from './object-changes.ts'
import { findLeftovers, riskyChanges, type SiteChanges, secondControlPlanes } from './site-changes.ts'
import { selectDocuments } from './site-stages.ts'

const plan = testPlan({
  nodes: 1,
  clouds: [
    { name: 'rhoso1', namespace: 'openstack' },
    { name: 'rhoso2', namespace: 'openstack2' },
  ],
})
const documents = renderDocuments(plan)
const listedOf = (cloud?: string): readonly InventoryEntry[] =>
  documents.filter((document) => document.cloud === cloud).map(({ object }) => objectRef(object))
const inventory = (cloud: string | undefined, more: readonly InventoryEntry[] = []): Inventory => ({
  site: 'lab',
  ...(cloud !== undefined && { cloud }),
  objects: [...listedOf(cloud), ...more],
})
const old: InventoryEntry = {
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  namespace: 'metallb-system',
  name: 'old',
}
const namesOf = (left: ReturnType<typeof findLeftovers>) => left.map(({ cloud, ref }) => [cloud, ref.name])

describe('findLeftovers', () => {
  const all = [undefined, 'rhoso1', 'rhoso2'].map((cloud) => inventory(cloud, [{ ...old, name: `old-${cloud}` }]))

  it('returns listed objects that the site does not have', () => {
    expect(namesOf(findLeftovers(plan, documents, all))).toEqual([
      [undefined, 'old-undefined'],
      ['rhoso1', 'old-rhoso1'],
      ['rhoso2', 'old-rhoso2'],
    ])
  })

  it('ignores other clouds when one cloud is selected', () => {
    expect(namesOf(findLeftovers(plan, documents, all, ['rhoso1']))).toEqual([
      [undefined, 'old-undefined'],
      ['rhoso1', 'old-rhoso1'],
    ])
  })

  it('ignores a cloud that left the site, because `down` removes it', () => {
    const gone: Inventory = { site: 'lab', cloud: 'rhoso3', objects: [old] }
    expect(findLeftovers(plan, documents, [gone])).toEqual([])
    expect(findLeftovers(plan, documents, [gone], ['rhoso3'])).toEqual([])
  })

  it('returns nothing of what stays with another tool: it must not be pruned', () => {
    const keeping = testPlan({
      nodes: 1,
      clouds: [{ name: 'rhoso1', namespace: 'openstack', keep: ['attachments', 'control-plane'] }],
    })
    const secret: InventoryEntry = { apiVersion: 'v1', kind: 'Secret', namespace: 'openstack', name: 'osp-secret' }
    const before = [inventory('rhoso1', [secret])]
    expect(before[0]?.objects.some(({ kind }) => kind === 'OpenStackControlPlane')).toBe(true)
    expect(findLeftovers(keeping, renderDocuments(keeping), before)).toEqual([])
  })
})

describe('secondControlPlanes', () => {
  const ours = documents.find(({ object }) => object.kind === 'OpenStackControlPlane') as RenderedDocument
  const other = (namespace: string) => ({ ...ours.object, metadata: { name: 'sample', namespace } })
  const found = (live: readonly KubeObject[], same?: KubeObject) => {
    const change = { ...compareObject(ours.object, same), stage: ours.stage, cloud: 'rhoso1' }
    return secondControlPlanes([change], indexSnapshot({ objects: live, unread: [] }))
  }

  it('refuses to create one beside that of another tool', () => {
    expect(found([other('openstack')])).toMatchObject([
      { code: 'SL4032', remedy: expect.stringContaining('keep: [control-plane]') },
    ])
  })

  it('finds none for other namespaces, or where ours exists', () => {
    expect(found([other('openstack2')])).toEqual([])
    expect(found([ours.object], ours.object)).toEqual([])
  })
})

describe('selectDocuments', () => {
  it('returns the documents of the selected stages and clouds', () => {
    const selected = selectDocuments(plan, documents, { clouds: ['rhoso2'], stages: ['netattach', 'nncp'] })
    expect(new Set(selected.map(({ stage, cloud }) => `${stage} ${cloud}`))).toEqual(
      new Set(['nncp undefined', 'nncp rhoso2', 'netattach rhoso2']),
    )
  })

  it('suggests the right name for a wrong one', () => {
    expect(() => selectDocuments(plan, documents, { clouds: ['rhosso2'] })).toThrow(/did you mean rhoso2/)
  })
})

describe('riskyChanges', () => {
  const policies = documents.filter(({ stage }) => stage === 'nncp')
  const changes = (inventories: readonly Inventory[]): SiteChanges => ({
    documents: policies.map(({ object, stage, cloud }) => ({
      ...compareObject(object, undefined),
      stage,
      ...(cloud !== undefined && { cloud }),
    })),
    settings: [],
    leftovers: [],
    inventories,
    findings: [],
  })

  it('include new interfaces on nodes in the first deployment', () => {
    expect(new Set(riskyChanges(changes([])).map(({ risk }) => risk))).toEqual(new Set(['touches node networking']))
  })

  it('include new node networking beside a deployed cloud', () => {
    const changed = riskyChanges(changes([inventory(undefined), inventory('rhoso1')]))
    expect(new Set(changed.map(({ cloud, risk }) => `${cloud} ${risk}`))).toEqual(
      new Set(['rhoso2 touches node networking']),
    )
  })

  it('exclude changes that an interrupted run has recorded', () => {
    expect(riskyChanges(changes([undefined, 'rhoso1', 'rhoso2'].map((cloud) => inventory(cloud))))).toEqual([])
  })
})
