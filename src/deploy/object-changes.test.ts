import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import { renderDocuments } from '../render/render.ts'
import { compareObject } from './object-changes.ts'

const documents = renderDocuments(testPlan({ nodes: 1 })).map(({ object }) => object)
const kindOf = (kind: string): KubeObject => {
  const found = documents.find((document) => document.kind === kind)
  if (!found) throw new Error(`the plan has no ${kind}`)
  return found
}

/** As the server holds what we applied: every field of the object with our name on it. */
function applied(object: KubeObject, manager = 'stackloom'): KubeObject {
  const { name: _, namespace: __, ...metadata } = object.metadata
  const { apiVersion: ___, kind: ____, metadata: _____, ...rest } = object
  const fieldsV1 = ownedBy({ ...rest, metadata })
  const managedFields = [{ manager, operation: 'Apply' as const, apiVersion: object.apiVersion, fieldsV1 }]
  return { ...object, metadata: { ...object.metadata, uid: 'u', resourceVersion: '1', managedFields } }
}

function ownedBy(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [`f:${key}`, ownedBy(one)]))
}

const changed = (object: KubeObject, spec: object): KubeObject => {
  const live = applied(object)
  return { ...live, spec: { ...(live['spec'] as object), ...spec } }
}

describe('a change', () => {
  const pool = kindOf('IPAddressPool')

  it('is none when every field is there and ours', () => {
    expect(compareObject(pool, applied(pool))).toMatchObject({ change: 'unchanged', risk: 'safe', fields: [] })
  })

  it('is a create when nothing is there', () => {
    expect(compareObject(pool, undefined)).toMatchObject({ change: 'create', risk: 'safe' })
  })

  it('is seen when a hand has edited what our hash would still vouch for', () => {
    expect(compareObject(pool, changed(pool, { autoAssign: true }))).toMatchObject({
      change: 'update',
      fields: [{ path: 'spec.autoAssign', desired: false, live: true }],
    })
  })

  it('is a take-over when the values are right and somebody else has set them', () => {
    const { change, foreign, risk } = compareObject(pool, applied(pool, 'kubectl'))
    expect({ change, risk }).toEqual({ change: 'take over', risk: 'safe' })
    expect(foreign.flatMap(({ managers }) => managers)).toContain('kubectl')
  })

  it.each([
    ['IPAddressPool', { addresses: ['172.18.0.1-172.18.0.2'] }, 'changes a VIP'],
    ['L2Advertisement', { interfaces: ['eth9'] }, 'changes a VIP'],
    ['NodeNetworkConfigurationPolicy', { desiredState: {} }, 'touches node networking'],
    ['NetworkAttachmentDefinition', { config: '{}' }, 'needs recreation'],
    ['NetConfig', { networks: [] }, 'needs recreation'],
    ['OpenStackControlPlane', { keystone: {} }, 'changes a VIP'],
    ['OpenStackControlPlane', { secret: 'other' }, 'restarts pods'],
  ])('of a %s has the risk of what it does to those who use it', (kind, spec, risk) => {
    const object = kindOf(kind)
    expect(compareObject(object, changed(object, spec)).risk).toBe(risk)
  })

  it('of labels alone has no risk', () => {
    const live = applied(pool)
    const bare = { ...live, metadata: { ...live.metadata, labels: {} } }
    expect(compareObject(pool, bare)).toMatchObject({ change: 'update', risk: 'safe' })
  })

  it('that puts interfaces on nodes is a risk even when the object is new', () => {
    expect(compareObject(kindOf('NodeNetworkConfigurationPolicy'), undefined).risk).toBe('touches node networking')
  })
})
