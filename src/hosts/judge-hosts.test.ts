import { describe, expect, it } from 'vitest'
import {
  both,
  deployment,
  type Fields,
  failed,
  judge,
  nodeSet,
  service,
  services,
  time,
  verdictsOf,
} from '../../test/node-set-objects.ts'
import type { KubeObject } from '../api/object.ts'

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
