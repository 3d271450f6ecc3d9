import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { selectDocuments } from './chosen.ts'
import { type Inventory, type InventoryEntry, objectRef } from './inventory.ts'
import { compareObject } from './object-changes.ts'
import { findLeftovers, riskyChanges, type SiteChanges } from './site-changes.ts'
import { siteOfPlan } from './site-of-plan.ts'

const site = siteOfPlan(
  testPlan({
    nodes: 1,
    clouds: [
      { name: 'rhoso1', namespace: 'openstack' },
      { name: 'rhoso2', namespace: 'openstack2' },
    ],
  }),
)
const listedOf = (cloud?: string): readonly InventoryEntry[] =>
  site.documents.filter((document) => document.cloud === cloud).map(({ object }) => objectRef(object))
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

describe('what is left over', () => {
  const all = [undefined, 'rhoso1', 'rhoso2'].map((cloud) => inventory(cloud, [{ ...old, name: `old-${cloud}` }]))

  it('is what the inventories list and the site does not want', () => {
    expect(namesOf(findLeftovers(site, all))).toEqual([
      [undefined, 'old-undefined'],
      ['rhoso1', 'old-rhoso1'],
      ['rhoso2', 'old-rhoso2'],
    ])
  })

  it('is nothing of another cloud when one cloud is asked for', () => {
    expect(namesOf(findLeftovers(site, all, ['rhoso1']))).toEqual([
      [undefined, 'old-undefined'],
      ['rhoso1', 'old-rhoso1'],
    ])
  })

  it('is nothing of a cloud that left the site as a whole: that one goes by down', () => {
    const gone: Inventory = { site: 'lab', cloud: 'rhoso3', objects: [old] }
    expect(findLeftovers(site, [gone])).toEqual([])
    expect(findLeftovers(site, [gone], ['rhoso3'])).toEqual([])
  })
})

describe('the documents of a choice', () => {
  it('are those that the chosen stages apply, of the chosen clouds', () => {
    const chosen = selectDocuments(site, { clouds: ['rhoso2'], stages: ['netattach', 'nncp'] })
    expect(new Set(chosen.map(({ stage, cloud }) => `${stage} ${cloud}`))).toEqual(
      new Set(['nncp undefined', 'nncp rhoso2', 'netattach rhoso2']),
    )
  })

  it('are refused when a name is wrong, with the right one', () => {
    expect(() => selectDocuments(site, { clouds: ['rhosso2'] })).toThrow(/did you mean rhoso2/)
  })
})

describe('consent', () => {
  const policies = site.documents.filter(({ stage }) => stage === 'nncp')
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

  it('is asked for the first deployment, too: it puts interfaces on nodes', () => {
    expect(new Set(riskyChanges(changes([])).map(({ risk }) => risk))).toEqual(new Set(['touches node networking']))
  })

  it('is asked when new node networking comes to nodes that carry a cloud', () => {
    const asked = riskyChanges(changes([inventory(undefined), inventory('rhoso1')]))
    expect(new Set(asked.map(({ cloud, risk }) => `${cloud} ${risk}`))).toEqual(
      new Set(['rhoso2 touches node networking']),
    )
  })

  it('is not asked again when a run that had it ended before it was done', () => {
    expect(riskyChanges(changes([undefined, 'rhoso1', 'rhoso2'].map((cloud) => inventory(cloud))))).toEqual([])
  })
})
