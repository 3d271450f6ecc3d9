import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { neverAborted } from '../../test/never-aborted.ts'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import { indexSnapshot, type SnapshotIndex, type UnreadKind } from '../api/snapshot.ts'
import { systemClock } from '../clock/clock.ts'
import type { StageEvent } from '../run/events.ts'
import { defaultGrace } from '../verify/readiness/verdict.ts'
import { createLimiter } from './limiter.ts'
import type { LiveView } from './live-view.ts'
import { preflight } from './preflight.ts'
import { defaultRetryPolicy } from './retry.ts'
import { siteOfPlan } from './site-of-plan.ts'
import { preflightWork } from './works/preflight.ts'
import type { World } from './world.ts'

const site = siteOfPlan(testPlan({ nodes: 1 }))

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
const look = (objects: readonly KubeObject[], missing: readonly UnreadKind[] = []): SnapshotIndex =>
  indexSnapshot({ objects, unread: missing })
const codes = (around: SnapshotIndex, of = site) => preflight(of, around, undefined).findings.map(({ code }) => code)

describe('what a cluster must bring', () => {
  it('is nothing more when it is all there', () => {
    expect(preflight(site, look(fit), undefined)).toEqual({ findings: [], settings: [] })
  })

  it('is Multus and whereabouts', () => {
    const missing = [
      unread('k8s.cni.cncf.io/v1', 'NetworkAttachmentDefinition'),
      unread('whereabouts.cni.cncf.io/v1alpha1', 'IPPool'),
    ]
    expect(codes(look(fit, missing))).toEqual(['SL4020', 'SL4021'])
  })

  it('is the storage class that the site names, or a default one', () => {
    const named = { ...site, storageClasses: ['fast'] }
    expect(codes(look(fit), named)).toEqual(['SL4022'])
    expect(codes(look([...fit, storage('fast')]), named)).toEqual([])
    expect(codes(look([storage('local', false), ...fit.slice(1)]))).toEqual(['SL4023'])
  })
})

describe('settings of the whole cluster', () => {
  const settings = (objects: readonly KubeObject[], of = site) =>
    preflight(of, look([storage('local'), ...objects]), undefined).settings

  it.each([
    {},
    { routingViaHost: true },
    { ipForwarding: 'Global' },
    { routingViaHost: false, ipForwarding: 'Global' },
  ])('lack something when the gateway has only %o', (gateway) => {
    expect(settings([network(gateway)])).toMatchObject([{ object: { kind: 'Network', name: 'cluster' } }])
  })

  it('are not asked of a cluster with another network, or of none', () => {
    const other = { ...network({}), spec: { defaultNetwork: { type: 'OpenShiftSDN' } } }
    expect(settings([other])).toEqual([])
    expect(settings([])).toEqual([])
  })

  it('ask the DNS servers of the site, and whoever was asked before after them', () => {
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

describe('consent to cluster-wide settings', () => {
  const run = async (mayConfigureCluster: boolean) => {
    const { client, objects, requests } = memoryCluster()
    for (const object of [network({}), dns([])]) await client.create(object)
    const lookout = {
      follow: async () => undefined,
      index: () => look([storage('local'), ...objects('Network'), ...objects('DNS')]),
    } as unknown as LiveView
    const world: World = {
      client,
      lookout,
      site,
      grace: defaultGrace,
      patience: defaultRetryPolicy,
      force: false,
      mayConfigureCluster,
      gate: createLimiter(1),
    }
    const events: StageEvent[] = []
    const context = {
      emit: (stageEvent: StageEvent) => void events.push(stageEvent),
      stop: neverAborted(),
      clock: systemClock,
    }
    const stage = preflightWork(world)
    expect(await stage.check(context)).toMatchObject({ kind: 'needed' })
    await stage.work(context)
    const writes = requests.filter((request) => !/^(get|list|create) /.test(request))
    return { writes, events: events.map((event) => (event.kind === 'finding' ? event.finding.code : event.kind)) }
  }

  it('withheld: each setting is told, none is changed', async () => {
    expect(await run(false)).toEqual({ writes: [], events: ['SL4024', 'SL4025'] })
  })

  it('given: they are changed', async () => {
    const { writes, events } = await run(true)
    expect(writes).toEqual(['patch Network cluster', 'patch DNS default'])
    expect(events).toEqual(['applied', 'applied'])
  })
})
