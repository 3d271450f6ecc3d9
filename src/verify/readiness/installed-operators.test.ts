import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { indexSnapshot, type UnreadKind } from '../../api/snapshot.ts'
import { installationReadiness, metallbParts, nmstateParts } from './installed-operators.ts'
import { defaultGrace } from './verdict.ts'

const deployment = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace, name, generation: 1 },
  spec: { replicas: 1 },
  status: { observedGeneration: 1, updatedReplicas: 1, availableReplicas: 1, replicas: 1 },
})
const agent = (component: string, nodeName: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'agents', name: `${component}-${nodeName}`, labels: { component } },
  spec: { nodeName },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
})

const nmstate = [
  deployment('openshift-nmstate', 'nmstate-operator'),
  deployment('openshift-nmstate', 'nmstate-webhook'),
  agent('kubernetes-nmstate-handler', 'worker-0'),
  agent('kubernetes-nmstate-handler', 'worker-1'),
]

function judge(parts: typeof nmstateParts, objects: readonly KubeObject[], unread: readonly UnreadKind[] = []) {
  return installationReadiness(parts, {
    around: indexSnapshot({ objects, unread }),
    now: 0,
    grace: defaultGrace,
    nodes: ['worker-0', 'worker-1'],
  })
}

describe('an installed operator', () => {
  it('is ready when all of its parts run', () => {
    expect(judge(nmstateParts, nmstate).kind).toBe('ready')
  })

  it.each(nmstate.map(({ metadata }, index) => [metadata.name, index] as const))(
    'is not ready without %s',
    (name, missing) => {
      const verdict = judge(
        nmstateParts,
        nmstate.filter((_, index) => index !== missing),
      )
      expect(verdict.kind).toBe('progressing')
      const waits = verdict.kind === 'progressing' ? verdict.waits : ''
      expect(waits).toContain(name.startsWith('kubernetes-nmstate-handler') ? name.slice(-8) : name)
    },
  )

  it('does not count an agent that is being deleted', () => {
    const [last, ...others] = nmstate.toReversed()
    if (!last) throw new Error('no agent')
    const going = { ...last, metadata: { ...last.metadata, deletionTimestamp: '2026-01-01T12:00:00Z' } }
    expect(judge(nmstateParts, [...others, going])).toEqual({
      kind: 'progressing',
      waits: 'Pod agents/kubernetes-nmstate-handler-worker-1 is being deleted',
    })
  })

  it('is not ready before the API server serves its kinds', () => {
    const kind = 'NodeNetworkConfigurationPolicy'
    expect(judge(nmstateParts, nmstate, [{ apiVersion: 'nmstate.io/v1', kind, reason: 'no such kind' }])).toEqual({
      kind: 'progressing',
      waits: `the kind nmstate.io/${kind} to be served`,
    })
  })

  it('requires a webhook with endpoints', () => {
    const service: KubeObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'metallb-system', name: 'metallb-webhook-service' },
      spec: {},
    }
    const slice = (ready: boolean): KubeObject => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        namespace: 'metallb-system',
        name: 'x',
        labels: { 'kubernetes.io/service-name': 'metallb-webhook-service' },
      },
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }],
    })
    const rest = [
      deployment('metallb-system', 'controller'),
      agent('speaker', 'worker-0'),
      agent('speaker', 'worker-1'),
      service,
    ]
    expect(judge(metallbParts, rest)).toEqual({
      kind: 'progressing',
      waits: 'Service metallb-system/metallb-webhook-service to have endpoints',
    })
    expect(judge(metallbParts, [...rest, slice(false)]).kind).toBe('progressing')
    expect(judge(metallbParts, [...rest, slice(true)]).kind).toBe('ready')
  })
})
