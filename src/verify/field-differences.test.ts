import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KubeObject, ManagedFields } from '../api/object.ts'
import { fieldDifferences, foreignFields } from './field-differences.ts'

const desired: KubeObject = {
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: { name: 'openstack-internalapi', namespace: 'metallb-system', labels: { cloud: 'rhoso1' } },
  spec: { addresses: ['172.17.0.80-172.17.0.90'], autoAssign: false, serviceAllocation: { namespaces: ['openstack'] } },
}
const fieldsV1 = {
  'f:metadata': { 'f:labels': { 'f:cloud': {} } },
  'f:spec': { 'f:addresses': {}, 'f:autoAssign': {}, 'f:serviceAllocation': { 'f:namespaces': {} } },
}
const applied = (manager: string, fields: object, operation: 'Apply' | 'Update' = 'Apply'): ManagedFields => ({
  manager,
  operation,
  apiVersion: 'v1',
  fieldsV1: fields as Record<string, unknown>,
})
const live = (managedFields: readonly ManagedFields[], spec: object = {}): KubeObject => ({
  ...desired,
  metadata: { ...desired.metadata, resourceVersion: '7', uid: 'u', managedFields },
  spec: { ...(desired['spec'] as object), avoidBuggyIPs: false, ...spec },
  status: { assignedIPv4: 3 },
})

describe('fieldDifferences', () => {
  it('ignores fields that the server or other managers added', () => {
    expect(fieldDifferences(desired, live([]))).toEqual([])
  })

  it('reports a manually changed field', () => {
    const edited = live([], { addresses: ['172.17.0.80-172.17.0.99'], autoAssign: true })
    expect(fieldDifferences(desired, edited).map(({ path }) => path)).toEqual(['spec.addresses[0]', 'spec.autoAssign'])
  })

  it('reports an entry that was added to a list', () => {
    const edited = live([], { serviceAllocation: { namespaces: ['openstack', 'openstack2'] } })
    expect(fieldDifferences(desired, edited).map(({ path }) => path)).toEqual(['spec.serviceAllocation.namespaces'])
  })

  it('matches entries of named lists by name', () => {
    const networks = (names: readonly string[]) => ({
      ...desired,
      spec: { networks: names.map((name) => ({ name, mtu: 1 })) },
    })
    expect(fieldDifferences(networks(['b', 'a']), networks(['a', 'b', 'c']))).toEqual([])
    expect(fieldDifferences(networks(['d']), networks(['a'])).map(({ path }) => path)).toEqual([
      'spec.networks[name=d]',
    ])
  })

  it('compares the desired state of a node policy as a whole, because nmstate reads all of it', () => {
    const policy = (desiredState: object): KubeObject => ({
      apiVersion: 'nmstate.io/v1',
      kind: 'NodeNetworkConfigurationPolicy',
      metadata: { name: 'worker-0' },
      spec: { desiredState },
    })
    const vlan = (name: string) => ({ name, type: 'vlan', state: 'up' })
    const rendered = policy({ interfaces: [vlan('a'), vlan('b')] })
    expect(fieldDifferences(rendered, policy({ interfaces: [vlan('b'), vlan('a')] }))).toEqual([])
    const rules = { config: [{ priority: 1 }] }
    const more = policy({ interfaces: [vlan('a'), { ...vlan('b'), mtu: 9000 }, vlan('c')], 'route-rules': rules })
    expect(fieldDifferences(rendered, more)).toEqual([
      { path: 'spec.desiredState.interfaces[name=b].mtu', desired: undefined, live: 9000 },
      { path: 'spec.desiredState.interfaces[name=c]', desired: undefined, live: vlan('c') },
      { path: 'spec.desiredState.route-rules', desired: undefined, live: rules },
    ])
  })

  it('compares stringData of a Secret with data', () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }
    const text = { ...secret, stringData: { a: 'x' } }
    expect(fieldDifferences(text, { ...secret, data: { a: 'eA==' } })).toEqual([])
    expect(fieldDifferences(text, { ...secret, data: { a: 'eQ==' } })).toHaveLength(1)
  })

  it('reports nothing for an object with additional fields (property)', () => {
    const value = fc.object({ maxDepth: 3, values: [fc.string(), fc.integer(), fc.boolean()] })
    fc.assert(
      fc.property(value, value, (spec, more) => {
        const object = (content: object) => ({ ...desired, spec: content })
        expect(fieldDifferences(object(spec), object({ ...more, ...spec }))).toEqual([])
      }),
    )
  })
})

describe('foreignFields', () => {
  it('reports nothing for applied fields', () => {
    expect(foreignFields(desired, live([applied('stackloom', fieldsV1)]), 'stackloom')).toEqual([])
  })

  it('reports a field that another manager set to the same value', () => {
    const { 'f:addresses': addresses, ...rest } = fieldsV1['f:spec']
    const mine = applied('stackloom', { ...fieldsV1, 'f:spec': rest })
    const hand = applied('kubectl-edit', { 'f:spec': { 'f:addresses': addresses } }, 'Update')
    expect(foreignFields(desired, live([mine, hand]), 'stackloom')).toEqual([
      { path: 'spec.addresses', managers: ['kubectl-edit'] },
    ])
  })

  it('accepts ownership of an atomic parent field', () => {
    const whole = { ...fieldsV1, 'f:spec': { ...fieldsV1['f:spec'], 'f:serviceAllocation': {} } }
    expect(foreignFields(desired, live([applied('stackloom', whole)]), 'stackloom')).toEqual([])
  })

  it('reports fields when our managed entry is empty', () => {
    const foreign = foreignFields(desired, live([applied('stackloom', {})]), 'stackloom')
    expect(foreign.map(({ path }) => path)).toContain('spec.addresses')
  })

  it('reports all fields of an object that another manager created', () => {
    const others = live([applied('kubectl-client-side-apply', fieldsV1, 'Update')])
    expect(foreignFields(desired, others, 'stackloom').map(({ path }) => path)).toEqual([
      'spec.addresses',
      'spec.autoAssign',
      'spec.serviceAllocation.namespaces',
      'metadata.labels.cloud',
    ])
  })
})
