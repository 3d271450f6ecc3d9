import { describe, expect, it } from 'vitest'
import {
  both,
  deployment,
  hash,
  hour,
  judge,
  nodeSet,
  service,
  services,
  time,
  verdictsOf,
  version,
} from '../../test/node-set-objects.ts'
import type { HostsInput } from './judge-hosts.ts'

describe('the comparison of a service', () => {
  it('names the changed node set and the services that have the old one', () => {
    const [first] = judge([deployment('first')], { nodeSets: [nodeSet({ configHash: 'b' })] })
    expect(first).toMatchObject({ verdict: 'behind', declared: 'b', deployed: 'a' })
    expect(first?.changes).toEqual([{ kind: 'spec', services: ['bootstrap', 'nova'] }])
  })

  it('names the Secret that changed and the service that reads it', () => {
    const [first] = judge([deployment('first')], { content: () => hash('s2') })
    expect(first?.verdict).toBe('behind')
    expect(first?.changes).toEqual([{ kind: 'Secret', name: 'nova-config', change: 'changed', services: ['nova'] }])
  })

  it('tells a Secret that was added after the deployment from one that was deleted', () => {
    const old = deployment('first', {}, { secretHashes: {} })
    expect(judge([old])[0]?.changes).toMatchObject([{ name: 'nova-config', change: 'added' }])
    const gone = judge([deployment('second')], { content: () => ({ kind: 'absent' }) })
    expect(gone[0]?.changes).toMatchObject([{ name: 'nova-config', change: 'deleted' }])
  })

  it('does not miss an optional Secret that never existed', () => {
    const optional = service('nova', { dataSources: [{ secretRef: { name: 'extra', optional: true } }] })
    const states = judge([deployment('first')], {
      services: [service('bootstrap'), optional],
      content: () => ({ kind: 'absent' }),
    })
    expect(verdictsOf(states)).toEqual(both('current'))
  })

  it('says that it is unknown, not current, when a Secret cannot be read', () => {
    const unread: Partial<HostsInput> = { content: () => ({ kind: 'unread', reason: 'forbidden' }) }
    const [first] = judge([deployment('first')], unread)
    expect(first).toMatchObject({
      verdict: 'unknown',
      unknown: ['Secret nova-config was not compared: forbidden'],
    })
    const [changed] = judge([deployment('second')], { ...unread, versions: [version('nova:2')] })
    expect(changed?.verdict).toBe('behind')
  })

  it('does not compare contents that the caller must not read', () => {
    expect(verdictsOf(judge([deployment('first')], { content: () => ({ kind: 'ignored' }) }))).toEqual(both('current'))
  })

  it('calls only the host behind whose own variables changed', () => {
    const nodes = {
      'compute-0': { ansible: { ansibleVarsFrom: [{ configMapRef: { name: 'vars-0' } }] } },
      'compute-1': {},
    }
    const states = judge([deployment('first', {}, { configMapHashes: { 'vars-0': 'c1' } })], {
      nodeSets: [nodeSet({}, { nodes })],
      content: (kind) => hash(kind === 'Secret' ? 's1' : 'c2'),
    })
    expect(verdictsOf(states)).toEqual(['compute-0 behind', 'compute-1 current'])
    expect(states[0]?.changes).toMatchObject([{ kind: 'ConfigMap', name: 'vars-0', services: ['bootstrap', 'nova'] }])
  })

  it('names the image that the version of the control plane has changed', () => {
    const [first] = judge([deployment('first')], { versions: [version('nova:2')] })
    expect(first?.changes).toEqual([{ kind: 'image', name: 'NovaComputeImage', services: ['nova'] }])
  })

  it('names a service that was edited after the deployment began, not one whose status changed', () => {
    const deployments = [deployment('first')]
    const edited = [service('bootstrap', {}, time(hour + 1)), ...services.slice(1)]
    expect(judge(deployments, { services: edited })[0]?.changes).toEqual([
      { kind: 'service', name: 'bootstrap', services: ['bootstrap'] },
    ])
  })

  it('is unknown while the operator has not seen the last change of the node set', () => {
    expect(verdictsOf(judge([deployment('first')], { nodeSets: [nodeSet({ observedGeneration: 0 })] }))).toEqual(
      both('unknown'),
    )
  })

  it('is unknown when services cannot be read or do not exist', () => {
    expect(judge([deployment('first')], { services: undefined })[0]?.unknown).toEqual(['services could not be read'])
    expect(judge([deployment('first')], { services: [] })[0]?.unknown).toEqual([
      'service bootstrap does not exist',
      'service nova does not exist',
    ])
  })

  it('compares the machines of hosts that were provisioned', () => {
    const provisioned = nodeSet({ bmhRefHash: 'm2' }, { preProvisioned: false })
    const states = judge([deployment('first', {}, { bmhRefHashes: { computes: 'm1' } })], { nodeSets: [provisioned] })
    expect(states[0]?.changes).toMatchObject([{ kind: 'machine' }])
  })

  it('calls only the host behind whose certificate was renewed', () => {
    const labels = { osdpns: 'computes', 'osdp-service': 'nova', hostname: 'compute-1.example.com' }
    const certificate = { namespace: 'openstack', name: 'cert-nova-compute-1', labels, hash: 'new' }
    const recorded = deployment('first', {}, { secretHashes: { 'nova-config': 's1', 'cert-nova-compute-1': 'old' } })
    const states = judge([recorded], { certificates: [certificate] })
    expect(verdictsOf(states)).toEqual(['compute-0 current', 'compute-1 behind'])
    // The operator records the last Secret of this name in any namespace.
    const twin = { ...certificate, namespace: 'openstack2', hash: 'other' }
    expect(verdictsOf(judge([recorded], { certificates: [certificate, twin] }))[1]).toBe('compute-1 unknown')
  })
})
