import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { type Content, type HostState, type HostsInput, judgeHosts } from './judge-hosts.ts'

const API = 'dataplane.openstack.org/v1beta1'
type Fields = Readonly<Record<string, unknown>>

const nodeSet = (status: Fields = {}, spec: Fields = {}, namespace = 'openstack'): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneNodeSet',
  metadata: { name: 'computes', namespace, generation: 1 },
  spec: {
    preProvisioned: true,
    nodes: { 'edpm-0': { hostName: 'compute-0.example.com' }, 'edpm-1': { hostName: 'compute-1.example.com' } },
    services: ['bootstrap', 'nova'],
    ...spec,
  },
  status: { observedGeneration: 1, configHash: 'a', deployedConfigHash: 'a', ...status },
})

let hour = 0
const time = (hours: number): string => `2026-01-01T${String(hours).padStart(2, '0')}:00:00Z`

/** A deployment that finished; each is later than the one before. */
const deployment = (name: string, spec: Fields = {}, status: Fields = {}): KubeObject => {
  hour += 1
  return {
    apiVersion: API,
    kind: 'OpenStackDataPlaneDeployment',
    metadata: { name, namespace: 'openstack', creationTimestamp: time(hour) },
    spec: { nodeSets: ['computes'], ...spec },
    status: {
      deployed: true,
      nodeSetHashes: { computes: 'a' },
      secretHashes: { 'nova-config': 's1' },
      containerImages: { NovaComputeImage: 'nova:1' },
      conditions: [{ type: 'DeploymentReady', status: 'True', lastTransitionTime: time(hour) }],
      ...status,
    },
  }
}

const failed = (name: string, status: Fields = {}, spec: Fields = {}): KubeObject =>
  deployment(name, spec, {
    deployed: false,
    conditions: [{ type: 'DeploymentReady', status: 'False', severity: 'Error', message: 'backoff limit reached' }],
    ...status,
  })

const service = (name: string, spec: Fields = {}, changed = time(0)): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneService',
  metadata: {
    name,
    namespace: 'openstack',
    managedFields: [
      { manager: 'manager', operation: 'Update', apiVersion: API, time: changed, fieldsV1: { 'f:spec': {} } },
      { manager: 'manager', operation: 'Update', apiVersion: API, time: time(23), subresource: 'status' },
    ],
  },
  spec,
})

const services = [
  service('bootstrap'),
  service('nova', {
    dataSources: [{ secretRef: { name: 'nova-config' } }],
    containerImageFields: ['NovaComputeImage'],
  }),
]

const version = (image: string): KubeObject => ({
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackVersion',
  metadata: { name: 'controlplane', namespace: 'openstack' },
  status: { containerImages: { novaComputeImage: image } },
})

const hash = (text: string): Content => ({ kind: 'hash', hash: text })

function judge(deployments: readonly KubeObject[], more: Partial<HostsInput> = {}): readonly HostState[] {
  return judgeHosts({
    nodeSets: [nodeSet()],
    deployments,
    services,
    versions: [version('nova:1')],
    content: () => hash('s1'),
    certificates: [],
    ...more,
  })
}

const verdictsOf = (states: readonly HostState[]): readonly string[] =>
  states.map(({ host, verdict }) => `${host} ${verdict}`)
const both = (verdict: string): readonly string[] => [`compute-0 ${verdict}`, `compute-1 ${verdict}`]

describe('judgeHosts', () => {
  it('calls a host current when the last deployment had everything that is declared', () => {
    const states = judge([deployment('first')])
    expect(verdictsOf(states)).toEqual(both('current'))
    expect(states[0]).toMatchObject({ declared: 'a', deployed: 'a', deployment: 'first', changes: [], unknown: [] })
  })

  it('calls a host never deployed without a deployment that selected it', () => {
    const fresh = [nodeSet({ deployedConfigHash: undefined })]
    expect(verdictsOf(judge([], { nodeSets: fresh }))).toEqual(both('never'))
    const withoutStatus = fresh.map((object) => ({ ...object, status: undefined }))
    expect(verdictsOf(judge([], { nodeSets: withoutStatus }))).toEqual(both('never'))
    expect(verdictsOf(judge([deployment('one', { ansibleLimit: 'compute-0' })]))).toEqual([
      'compute-0 current',
      'compute-1 never',
    ])
  })

  it('names the changed node set and the services that have the old one', () => {
    const [first] = judge([deployment('first')], { nodeSets: [nodeSet({ configHash: 'b' })] })
    expect(first).toMatchObject({ verdict: 'behind', declared: 'b', deployed: 'a' })
    expect(first?.changes).toEqual([{ kind: 'spec', services: ['bootstrap', 'nova'] }])
  })

  it('calls only the hosts outside of the limit of the last deployment behind', () => {
    const deployments = [
      deployment('first'),
      deployment('second', { ansibleLimit: 'compute-0' }, { nodeSetHashes: { computes: 'b' } }),
    ]
    const states = judge(deployments, { nodeSets: [nodeSet({ configHash: 'b', deployedConfigHash: 'b' })] })
    expect(verdictsOf(states)).toEqual(['compute-0 current', 'compute-1 behind'])
    expect(states.map(({ deployment: name, limit }) => [name, limit])).toEqual([
      ['second', 'compute-0'],
      ['first', undefined],
    ])
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

  it('brings only the overridden services level', () => {
    const deployments = [
      deployment('first'),
      deployment('second', { servicesOverride: ['nova'] }, { nodeSetHashes: { computes: 'b' } }),
    ]
    const [first] = judge(deployments, { nodeSets: [nodeSet({ configHash: 'b', deployedConfigHash: 'b' })] })
    expect(first?.changes).toEqual([{ kind: 'spec', services: ['bootstrap'] }])
  })

  it('names a service that never ran on a host', () => {
    const [first] = judge([deployment('first', { servicesOverride: ['bootstrap'] })])
    expect(first).toMatchObject({ verdict: 'behind', changes: [{ kind: 'never', services: ['nova'] }] })
  })

  it('sees a service that was added to the node set later by the conditions of the deployment', () => {
    const ran = { type: 'ServiceBootstrapDeploymentReady', status: 'True' }
    const done = { type: 'NodeSetDeploymentReady', status: 'True' }
    const [first] = judge([deployment('first', {}, { nodeSetConditions: { computes: [done, ran] } })])
    expect(first?.changes).toEqual([{ kind: 'never', services: ['nova'] }])
  })

  it('expects no run of a second service of the same type', () => {
    const custom = service('nova-custom', { edpmServiceType: 'nova' })
    const nodeSets = [nodeSet({}, { services: ['bootstrap', 'nova', 'nova-custom'] })]
    const conditions = ['NodeSet', 'ServiceBootstrap', 'ServiceNova'].map((type) => ({
      type: `${type}DeploymentReady`,
      status: 'True',
    }))
    const states = judge([deployment('first', {}, { nodeSetConditions: { computes: conditions } })], {
      nodeSets,
      services: [...services, custom],
    })
    expect(verdictsOf(states)).toEqual(both('current'))
  })

  it('finds a service that runs once for all node sets in the conditions of another one', () => {
    const done = { type: 'NodeSetDeploymentReady', status: 'True' }
    const ran = (name: string) => ({ type: `Service${name}DeploymentReady`, status: 'True' })
    const nodeSetConditions = { other: [done, ran('Bootstrap'), ran('Nova')], computes: [done, ran('Nova')] }
    const deployments = [deployment('first', { nodeSets: ['other', 'computes'] }, { nodeSetConditions })]
    const global = service('bootstrap', { deployOnAllNodeSets: true })
    expect(verdictsOf(judge(deployments, { services: [global, ...services.slice(1)] }))).toEqual(both('current'))
    expect(verdictsOf(judge(deployments))).toEqual(both('behind'))
  })

  it.each([{ ansibleTags: 'nova' }, { ansibleSkipTags: 'nova' }])(
    'does not call a host level after a deployment that ran a part of the tasks: %j',
    (spec) => {
      const deployments = [deployment('first'), deployment('second', spec, { nodeSetHashes: { computes: 'b' } })]
      const states = judge(deployments, { nodeSets: [nodeSet({ configHash: 'b' })] })
      expect(verdictsOf(states)).toEqual(both('behind'))
    },
  )

  it('calls the hosts of a deployment that has not ended running', () => {
    const running = deployment('second', { ansibleLimit: 'compute-1' }, { deployed: false, conditions: [] })
    expect(verdictsOf(judge([deployment('first'), running]))).toEqual(['compute-0 current', 'compute-1 running'])
  })

  it('calls a deployment without a status running', () => {
    const { status: _, ...fresh } = deployment('first')
    expect(verdictsOf(judge([fresh as KubeObject]))).toEqual(both('running'))
  })

  it('names the host, the service and the reason that the summary has', () => {
    const summaries = {
      'nova-second-computes': { failedHostList: ['compute-1'], totalHosts: 2 },
      'bootstrap-second-computes': { unreachableHostList: ['compute-0'], totalHosts: 2 },
    }
    const states = judge([deployment('first'), failed('second', { ansibleExecutionSummaries: summaries })])
    expect(states.map(({ verdict, failures }) => [verdict, ...failures])).toEqual([
      [
        'failed',
        { deployment: 'second', service: 'bootstrap', reason: 'unreachable', message: 'backoff limit reached' },
      ],
      ['failed', { deployment: 'second', service: 'nova', reason: 'failed', message: 'backoff limit reached' }],
    ])
  })

  it('does not blame a host that the summary of a failed deployment does not name', () => {
    const summaries = { 'nova-second-computes': { failedHostList: ['compute-1'] } }
    const states = judge([deployment('first'), failed('second', { ansibleExecutionSummaries: summaries })])
    expect(verdictsOf(states)).toEqual(['compute-0 current', 'compute-1 failed'])
  })

  it('blames every selected host of a failed deployment without a summary', () => {
    const states = judge([deployment('first'), failed('second', {}, { ansibleLimit: 'compute-0' })])
    expect(verdictsOf(states)).toEqual(['compute-0 failed', 'compute-1 current'])
    expect(states[0]?.failures).toMatchObject([{ reason: 'unknown' }])
  })

  it('ignores the summary of another node set of the same deployment with a host of the same name', () => {
    const spec = { nodeSets: ['computes', 'storage'] }
    const summaries = { 'nova-second-storage': { failedHostList: ['compute-0'] } }
    const conditions = { nodeSetConditions: { computes: [{ type: 'NodeSetDeploymentReady', status: 'True' }] } }
    const states = judge([failed('second', { ansibleExecutionSummaries: summaries, ...conditions }, spec)])
    expect(states.every(({ verdict }) => verdict !== 'failed')).toBe(true)
  })

  it('calls a host failed that a successful deployment left behind', () => {
    const summaries = { 'nova-first-computes': { unreachableHostList: ['compute-1'] } }
    const states = judge([deployment('first', {}, { ansibleExecutionSummaries: summaries })])
    expect(verdictsOf(states)).toEqual(['compute-0 current', 'compute-1 failed'])
  })

  it('forgets a failure after a later deployment of the same service on the host', () => {
    const summaries = { 'nova-first-computes': { failedHostList: ['compute-1'] } }
    const broken = failed('first', { ansibleExecutionSummaries: summaries })
    expect(verdictsOf(judge([broken, deployment('second', { ansibleLimit: 'compute-1' })]))[1]).toBe(
      'compute-1 current',
    )
    const other = deployment('third', { servicesOverride: ['bootstrap'] })
    expect(verdictsOf(judge([broken, other]))[1]).toBe('compute-1 failed')
  })

  it('orders deployments that ended in the same second by their last write', () => {
    const endTogether = (object: KubeObject, resourceVersion: string): KubeObject => {
      const conditions = (object['status'] as { conditions: readonly Fields[] }).conditions
      const ended = {
        ...(object['status'] as Fields),
        conditions: conditions.map((condition) => ({ ...condition, lastTransitionTime: time(9) })),
      }
      return { ...object, metadata: { ...object.metadata, creationTimestamp: time(9), resourceVersion }, status: ended }
    }
    const broken = failed('broken')
    const good = deployment('good')
    expect(verdictsOf(judge([endTogether(broken, '100'), endTogether(good, '99')]))).toEqual(both('failed'))
    expect(verdictsOf(judge([endTogether(broken, '99'), endTogether(good, '100')]))).toEqual(both('current'))
  })

  it('reports the last of two failures in the same service', () => {
    const states = judge([failed('first'), failed('second')])
    expect(states[0]?.failures.map(({ deployment: name }) => name)).toEqual(['second'])
  })

  it('reads the copies in the node set when its deployment was deleted', () => {
    const deploymentStatuses = {
      old: [{ type: 'NodeSetDeploymentReady', status: 'True', lastTransitionTime: time(1) }],
    }
    const copies = { deploymentStatuses, secretHashes: { 'nova-config': 's1' } }
    const states = judge([], { nodeSets: [nodeSet(copies)] })
    expect(verdictsOf(states)).toEqual(both('current'))
    expect(states[0]?.deployment).toBe('old')
    const behind = judge([], { nodeSets: [nodeSet({ ...copies, configHash: 'b' })] })
    expect(behind[0]?.changes).toMatchObject([{ kind: 'spec' }])
    expect(judge([], { nodeSets: [nodeSet({ ...copies, secretHashes: {} })] })[0]?.verdict).toBe('unknown')
  })

  it('does not take the copies of a later limited deployment for those of a deleted one', () => {
    const deploymentStatuses = {
      old: [{ type: 'NodeSetDeploymentReady', status: 'True', lastTransitionTime: time(0) }],
    }
    const states = judge([deployment('second', { ansibleLimit: 'compute-0' })], {
      nodeSets: [nodeSet({ deploymentStatuses })],
    })
    expect(verdictsOf(states)).toEqual(['compute-0 current', 'compute-1 unknown'])
  })

  it('is unknown while the operator has not seen the last change of the node set', () => {
    expect(verdictsOf(judge([deployment('first')], { nodeSets: [nodeSet({ observedGeneration: 0 })] }))).toEqual(
      both('unknown'),
    )
  })

  it('is unknown when a later deployment has a limit that only Ansible can evaluate', () => {
    const deployments = [
      deployment('first'),
      deployment('second', { ansibleLimit: '~compute-[01]' }, { nodeSetHashes: { computes: 'b' } }),
    ]
    const [state] = judge(deployments, { nodeSets: [nodeSet({ configHash: 'b' })] })
    expect(state).toMatchObject({
      verdict: 'unknown',
      unknown: ['limit ~compute-[01] of deployment second cannot be evaluated'],
    })
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

  it('keeps node sets of the same name in two clouds apart', () => {
    const nodeSets = [nodeSet(), nodeSet({ deployedConfigHash: undefined }, {}, 'openstack2')]
    const states = judge([deployment('first')], { nodeSets })
    expect(states.map(({ namespace, host, verdict }) => `${namespace}/${host} ${verdict}`)).toEqual([
      'openstack/compute-0 current',
      'openstack/compute-1 current',
      'openstack2/compute-0 never',
      'openstack2/compute-1 never',
    ])
  })

  it('reads hostile objects without failing', () => {
    const hostile = [
      { ...nodeSet(), spec: { nodes: [1, null], services: 7 }, status: [] },
      { ...nodeSet(), spec: null, status: null },
      nodeSet({ deploymentStatuses: { x: [null, 3, { type: 5 }] }, secretHashes: { a: 1 } }),
    ] as readonly KubeObject[]
    const broken = [
      { ...deployment('x'), status: { ansibleExecutionSummaries: { a: null }, nodeSetConditions: { computes: 4 } } },
      { ...deployment('constructor'), spec: { nodeSets: 'computes' } },
    ] as readonly KubeObject[]
    expect(() => judge(broken, { nodeSets: hostile })).not.toThrow()
  })
})
