import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import { renderDocuments } from '../render/render.ts'
import { compareObject } from './object-changes.ts'

const documents = renderDocuments(testPlan({ nodes: 1 })).map(({ object }) => object)
const ofKind = (kind: string): KubeObject => {
  const found = documents.find((document) => document.kind === kind)
  if (!found) throw new Error(`the plan has no ${kind}`)
  return found
}

/** The object as the server has it after an apply: this manager owns every field. */
function applied(object: KubeObject, manager = 'stackloom'): KubeObject {
  const { name: _, namespace: __, ...metadata } = object.metadata
  const { apiVersion: ___, kind: ____, metadata: _____, ...rest } = object
  const fieldsV1 = ownedFields({ ...rest, metadata })
  const managedFields = [{ manager, operation: 'Apply' as const, apiVersion: object.apiVersion, fieldsV1 }]
  return { ...object, metadata: { ...object.metadata, uid: 'u', resourceVersion: '1', managedFields } }
}

function ownedFields(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [`f:${key}`, ownedFields(child)]))
}

const changed = (object: KubeObject, spec: object): KubeObject => {
  const live = applied(object)
  return { ...live, spec: { ...(live['spec'] as object), ...spec } }
}

describe('compareObject', () => {
  const pool = ofKind('IPAddressPool')

  it('returns unchanged when we own every field', () => {
    expect(compareObject(pool, applied(pool))).toMatchObject({ change: 'unchanged', risk: 'safe', fields: [] })
  })

  it('returns create without a live object', () => {
    expect(compareObject(pool, undefined)).toMatchObject({ change: 'create', risk: 'safe' })
  })

  it('finds a manual edit that a hash of our object would miss', () => {
    expect(compareObject(pool, changed(pool, { autoAssign: true }))).toMatchObject({
      change: 'update',
      fields: [{ path: 'spec.autoAssign', desired: false, live: true }],
    })
  })

  const nodeSet = (hosts: readonly string[], networks: readonly string[] = []): KubeObject => ({
    apiVersion: 'dataplane.openstack.org/v1beta1',
    kind: 'OpenStackDataPlaneNodeSet',
    metadata: { name: 'compute', namespace: 'openstack' },
    spec: { nodes: Object.fromEntries(hosts.map((name) => [name, { networks: networks.map((name) => ({ name })) }])) },
  })

  it('finds a field that we applied and that is desired no longer', () => {
    expect(compareObject(nodeSet(['compute-0']), applied(nodeSet(['compute-0', 'compute-1'])))).toMatchObject({
      change: 'update',
      fields: [{ path: 'spec.nodes.compute-1', desired: undefined, live: { networks: [] } }],
    })
  })

  it('finds an item that left a list which we own as a whole', () => {
    const live = applied(nodeSet(['compute-0'], ['ctlplane', 'tenant']))
    expect(compareObject(nodeSet(['compute-0'], ['ctlplane']), live)).toMatchObject({
      change: 'update',
      fields: [{ path: 'spec.nodes.compute-0.networks' }],
    })
  })

  it('does not count fields that the server or another manager has added', () => {
    expect(compareObject(pool, changed(pool, { defaulted: true })).change).toBe('unchanged')
    const live = applied(pool)
    const [ours] = live.metadata.managedFields ?? []
    const theirs = {
      manager: 'kubectl',
      operation: 'Apply' as const,
      apiVersion: 'v1',
      fieldsV1: { 'f:spec': { 'f:x': {} } },
    }
    const shared = { ...live, metadata: { ...live.metadata, managedFields: ours ? [ours, theirs] : [] } }
    expect(compareObject(pool, { ...shared, spec: { ...(pool['spec'] as object), x: 1 } }).change).toBe('unchanged')
  })

  it('returns take over when another manager has set the right values', () => {
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
  ])('rates the risk of a changed %s', (kind, spec, risk) => {
    const object = ofKind(kind)
    expect(compareObject(object, changed(object, spec)).risk).toBe(risk)
  })

  const attachment = ofKind('NetworkAttachmentDefinition')
  const config = JSON.parse((attachment['spec'] as { config: string }).config) as { ipam: Record<string, string> }
  const liveAttachment = (ipam: object): KubeObject =>
    changed(attachment, { config: JSON.stringify({ ...config, ipam: { ...config.ipam, ...ipam } }) })

  it.each([
    ['fewer addresses', { range_end: config.ipam['range_start'] }, 'safe'],
    ['excluded addresses', { exclude: [`${config.ipam['range_start']}/32`] }, 'safe'],
    ['more addresses', { range_end: config.ipam['range_end']?.replace(/\d+$/, '79') }, 'restarts pods'],
    ['another subnet', { range: '10.9.0.0/24' }, 'needs recreation'],
    ['another name of the count', { network_name: 'other' }, 'needs recreation'],
  ])('rates the attachment of a network that has had %s', (_, ipam, risk) => {
    expect(compareObject(attachment, liveAttachment(ipam))).toMatchObject({ change: 'update', risk })
  })

  it('rates a larger address pool and other ranges of hosts as safe', () => {
    const [range] = (pool['spec'] as { addresses: readonly [string] }).addresses
    expect(compareObject(pool, changed(pool, { addresses: [range.replace(/-.*/, '')] }))).toMatchObject({
      change: 'update',
      risk: 'safe',
    })
    const netConfig = ofKind('NetConfig')
    const { networks } = netConfig['spec'] as { networks: readonly { subnets: readonly object[] }[] }
    const other = networks.map((network) => ({
      ...network,
      subnets: network.subnets.map((subnet) => ({ ...subnet, allocationRanges: [] })),
    }))
    expect(compareObject(netConfig, changed(netConfig, { networks: other }))).toMatchObject({
      change: 'update',
      risk: 'safe',
    })
  })

  it('rates changed labels as safe', () => {
    const live = applied(pool)
    const bare = { ...live, metadata: { ...live.metadata, labels: {} } }
    expect(compareObject(pool, bare)).toMatchObject({ change: 'update', risk: 'safe' })
  })

  it('rates new interfaces on nodes as a risk', () => {
    expect(compareObject(ofKind('NodeNetworkConfigurationPolicy'), undefined).risk).toBe('touches node networking')
  })
})
