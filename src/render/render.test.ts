import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { objectIdentity } from '../api/object.ts'
import { findSite } from '../api/ownership.ts'
import type { PlannedCloud } from '../plan/plan.ts'
import { writeYamlStream } from '../yaml/write.ts'
import { providedSecrets } from './needed-secrets.ts'
import { documentStages, renderDocuments, renderKeptDocuments } from './render.ts'

const clouds = Array.from({ length: 3 }, (_, index) => ({
  name: `rhoso${index + 1}`,
  namespace: index === 0 ? 'openstack' : `openstack${index + 1}`,
  hosts: [{ name: `compute-${index}` }],
}))

describe('renderDocuments', () => {
  const documents = renderDocuments(testPlan({ clouds }))

  it('renders no two documents with one identity', () => {
    const all = documents.map(({ object }) => objectIdentity(object))
    expect(new Set(all).size).toBe(all.length)
  })

  it('labels every document with manager, site and cloud, and not with the label of Argo CD', () => {
    for (const { object, cloud } of documents) {
      expect(object.metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'stackloom' })
      expect(findSite(object)).toBe('lab')
      expect(object.metadata.labels?.['stackloom.dev/cloud']).toBe(cloud)
      expect(object.metadata.labels).not.toHaveProperty(['app.kubernetes.io/instance'])
    }
  })

  it('orders documents by stage, shared ones first', () => {
    const order = (only: string | undefined) =>
      documents.filter(({ cloud }) => cloud === only).map(({ stage }) => documentStages.indexOf(stage))
    for (const cloud of [undefined, 'rhoso1', 'rhoso2']) {
      expect(order(cloud)).toEqual([...order(cloud)].sort((a, b) => a - b))
    }
    expect(documents.findIndex(({ cloud }) => cloud !== undefined)).toBe(
      documents.findLastIndex(({ cloud }) => cloud === undefined) + 1,
    )
  })

  it('renders the same bytes again', () => {
    const text = (all: typeof documents) => writeYamlStream(all.map(({ object }) => object))
    expect(text(renderDocuments(testPlan({ clouds })))).toBe(text(documents))
  })

  it('does not change documents of a cloud when another is added', () => {
    const of = (all: typeof documents, name: string) => all.filter(({ cloud }) => cloud === name)
    const before = renderDocuments(testPlan({ clouds: clouds.slice(0, 2) }))
    expect(of(documents, 'rhoso1')).toEqual(of(before, 'rhoso1'))
    expect(of(documents, 'rhoso2')).toEqual(of(before, 'rhoso2'))
  })

  it('leaves out what stays with the tool that deployed the cloud, and nothing else', () => {
    const [first, ...others] = clouds
    const keeping = testPlan({
      clouds: [{ ...(first as (typeof clouds)[number]), keep: ['attachments', 'control-plane'] }, ...others],
    })
    const kept = renderKeptDocuments(keeping)
    expect(new Set(kept.map(({ stage, cloud }) => `${cloud} ${stage}`))).toEqual(
      new Set(['rhoso1 netattach', 'rhoso1 control-plane', 'rhoso1 data-plane']),
    )
    const all = [...renderDocuments(keeping), ...kept].map(({ object }) => objectIdentity(object))
    expect(all.sort()).toEqual(documents.map(({ object }) => objectIdentity(object)).sort())
    expect(providedSecrets(keeping, keeping.clouds[0] as PlannedCloud)).toEqual([])
    expect(providedSecrets(keeping, keeping.clouds[1] as PlannedCloud)).not.toEqual([])
  })

  it('renders no Secret', () => {
    expect(documents.filter(({ object }) => object.kind === 'Secret')).toEqual([])
  })

  it('renders no operator on plain Kubernetes', () => {
    const kinds = renderDocuments(testPlan({ platform: 'kubernetes' })).map(({ object }) => object.kind)
    for (const kind of ['Subscription', 'OperatorGroup', 'NMState', 'MetalLB', 'OpenStack'])
      expect(kinds).not.toContain(kind)
  })
})
