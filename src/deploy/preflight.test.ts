import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { neverAborted } from '../../test/never-aborted.ts'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import { indexSnapshot, type SnapshotIndex, type UnreadKind } from '../api/snapshot.ts'
import { systemClock } from '../clock/clock.ts'
import { readSlotTable } from '../plan/slots/slot-table.ts'
import { renderDocuments } from '../render/render.ts'
import type { StageEvent } from '../run/events.ts'
import type { LiveView } from './live-view.ts'
import { checkCluster, crdFindings, preflightStage } from './preflight.ts'
import { defaultRetryPolicy } from './retry.ts'

const plan = testPlan({ nodes: 1 })

const network = (gatewayConfig: object): KubeObject => ({
  apiVersion: 'operator.openshift.io/v1',
  kind: 'Network',
  metadata: { name: 'cluster' },
  spec: { defaultNetwork: { type: 'OVNKubernetes', ovnKubernetesConfig: { gatewayConfig } } },
})
const dns = (addresses: readonly string[]): KubeObject => ({
  apiVersion: 'operator.openshift.io/v1',
  kind: 'DNS',
  metadata: { name: 'default' },
  spec: {
    upstreamResolvers: { upstreams: addresses.map((address) => ({ type: 'Network', address, port: 53 })) },
  },
})
const storage = (name: string, isDefault = true): KubeObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': String(isDefault) } },
})
const fit = [storage('local'), network({ routingViaHost: true, ipForwarding: 'Global' }), dns(['192.168.122.1'])]
const unread = (apiVersion: string, kind: string): UnreadKind => ({ apiVersion, kind, reason: 'not served' })
const live = (objects: readonly KubeObject[], missing: readonly UnreadKind[] = []): SnapshotIndex =>
  indexSnapshot({ objects, unread: missing })
const codes = (index: SnapshotIndex, of = plan) => checkCluster(of, index, undefined).findings.map(({ code }) => code)

describe('checkCluster', () => {
  it('reports nothing for a cluster that has everything', () => {
    expect(checkCluster(plan, live(fit), undefined)).toEqual({ findings: [], settings: [] })
  })

  it('reports missing Multus and whereabouts', () => {
    const missing = [
      unread('k8s.cni.cncf.io/v1', 'NetworkAttachmentDefinition'),
      unread('whereabouts.cni.cncf.io/v1alpha1', 'IPPool'),
    ]
    expect(codes(live(fit, missing))).toEqual(['SL4020', 'SL4021'])
  })

  it('reports a missing Node Tuning Operator where the site needs it', () => {
    const missing = [unread('tuned.openshift.io/v1', 'Tuned')]
    expect(codes(live(fit, missing))).toEqual(['SL4090'])
    const open = testPlan({ nodes: 1, cluster: { isolation: { nodeAddresses: 'any-segment' } } })
    expect(codes(live(fit, missing), open)).toEqual([])
    expect(codes(live(fit, missing), testPlan({ nodes: 1, cluster: { platform: 'kubernetes' } }))).toEqual([])
  })

  it('reports the missing storage class of the site, or a missing default', () => {
    const named = testPlan({ nodes: 1, cluster: { storageClass: 'fast' } })
    expect(codes(live(fit), named)).toEqual(['SL4022'])
    expect(codes(live([...fit, storage('fast')]), named)).toEqual([])
    expect(codes(live([storage('local', false), ...fit.slice(1)]))).toEqual(['SL4023'])
  })
})

describe('cluster settings', () => {
  const settings = (objects: readonly KubeObject[], of = plan) =>
    checkCluster(of, live([storage('local'), ...objects]), undefined).settings

  it.each([
    {},
    { routingViaHost: true },
    { ipForwarding: 'Global' },
    { routingViaHost: false, ipForwarding: 'Global' },
  ])('include the gateway when it has only %o', (gateway) => {
    expect(settings([network(gateway)])).toMatchObject([{ object: { kind: 'Network', name: 'cluster' } }])
  })

  it('leave the gateway alone with another network plugin', () => {
    const other = { ...network({}), spec: { defaultNetwork: { type: 'OpenShiftSDN' } } }
    expect(settings([other])).toEqual([])
    expect(settings([])).toEqual([])
  })

  it('put the DNS servers of the site before the existing ones', () => {
    expect(settings([dns(['192.168.122.1', '9.9.9.9'])])).toEqual([])
    const [setting] = settings([dns(['9.9.9.9'])])
    expect(setting?.patch).toMatchObject({
      spec: {
        upstreamResolvers: {
          policy: 'Sequential',
          upstreams: [{ address: '192.168.122.1' }, { address: '9.9.9.9' }],
        },
      },
    })
    expect(settings([dns([])])[0]?.patch).toMatchObject({
      spec: {
        upstreamResolvers: { upstreams: [{ address: '192.168.122.1' }, { type: 'SystemResolvConf' }] },
      },
    })
  })
})

describe('preflightStage', () => {
  const run = async (mayConfigureCluster: boolean) => {
    const { client, objects, requests } = memoryCluster()
    for (const object of [network({}), dns([])]) await client.create(object)
    const view = {
      watch: async () => undefined,
      index: () => live([storage('local'), ...objects('Network'), ...objects('DNS')]),
    } as unknown as LiveView
    const documents = renderDocuments(plan)
    const stage = preflightStage({
      client,
      view,
      plan,
      documents,
      mayConfigureCluster,
      retryPolicy: defaultRetryPolicy,
    })
    const events: StageEvent[] = []
    const emit = (event: StageEvent) => void events.push(event)
    const context = { emit, stop: neverAborted(), clock: systemClock }
    expect(await stage.check(context)).toMatchObject({ kind: 'needed' })
    await stage.work(context)
    const writes = requests.filter((request) => !/^(get|list|create) /.test(request))
    return {
      writes,
      events: events.map((event) => (event.kind === 'finding' ? event.finding.code : event.kind)),
    }
  }

  it('reports each cluster-wide setting and changes none without consent', async () => {
    expect(await run(false)).toEqual({ writes: [], events: ['SL4024', 'SL4025'] })
  })

  it('changes the cluster-wide settings with consent', async () => {
    const { writes, events } = await run(true)
    expect(writes).toEqual(['patch Network cluster', 'patch DNS default'])
    expect(events).toEqual(['applied', 'applied'])
  })
})

const override = { properties: { service: { additionalProperties: { properties: { metadata: {} } } } } }
const serviceSchema = { properties: { enabled: {}, template: { properties: { override } } } }

function crd(services: readonly string[], more: object = {}): KubeObject {
  const properties = Object.fromEntries(services.map((name) => [name, serviceSchema]))
  const openAPIV3Schema = { properties: { spec: { properties: { ...properties, ...more } } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'openstackcontrolplanes.core.openstack.org' },
    spec: {
      names: { kind: 'OpenStackControlPlane' },
      versions: [{ name: 'v1beta1', storage: true, schema: { openAPIV3Schema } }],
    },
  }
}

function tableOf(object: KubeObject) {
  const read = readSlotTable(object, 'a test')
  if (read.kind !== 'table') throw new Error('the CRD of the test has no slots')
  return read.table
}

const planned = tableOf(crd(['keystone', 'glance']))

describe('crdFindings', () => {
  it('reports nothing for the planned schema, or before the CRD exists', () => {
    expect(crdFindings(planned, crd(['glance', 'keystone']))).toEqual([])
    expect(crdFindings(planned, undefined)).toEqual([])
  })

  it('reports the slots that the cluster lacks and those that it adds', () => {
    const [found] = crdFindings(planned, crd(['keystone', 'watcher']))
    expect(found).toMatchObject({ code: 'SL4026', severity: 'warning' })
    expect(found?.message).toContain('it lacks glance.template.override.service')
    expect(found?.message).toContain('it adds watcher.template.override.service')
    expect(found?.remedy).toContain('plan --crd live')
  })

  it('reports a schema in which only other fields differ', () => {
    const [found] = crdFindings(planned, crd(['keystone', 'glance'], { extra: { type: 'string' } }))
    expect(found?.message).toContain('the places that take a Service override are the same')
  })
})
