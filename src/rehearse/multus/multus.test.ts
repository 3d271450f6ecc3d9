import { describe, expect, it } from 'vitest'
import { planExample } from '../../../test/examples.ts'
import type { KubeObject } from '../../api/object.ts'
import { narrowPlan } from '../rehearsal-plan.ts'
import { judgeAttachments, judgeReleased, planMultusPods } from './multus-plan.ts'
import { multusScript } from './multus-pods.ts'

const plan = narrowPlan(planExample('two-clouds'), { nodes: 2, clouds: [] })
const pods = planMultusPods(plan)
const [pod] = pods
if (!pod) throw new Error('no pod')

function attached(change: (name: string) => readonly string[] | undefined): KubeObject {
  const status = pod?.networks.map(({ name, subnets }) => {
    const ips = change(name) ?? subnets.flatMap(({ spans }) => spans.find(({ role }) => role === 'pods')?.start ?? [])
    return { name: `openstack/${name}`, interface: 'net1', ips }
  })
  const annotations = { 'k8s.v1.cni.cncf.io/network-status': JSON.stringify(status) }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'openstack-multus', namespace: 'openstack', annotations } }
}

describe('the pods that Multus attaches', () => {
  it('are one per cloud, in turn on the nodes, with every network of the cloud', () => {
    expect(pods.map(({ node, name }) => `${name} ${node}`)).toEqual([
      'openstack-multus worker-0',
      'openstack2-multus worker-1',
    ])
    const annotation = pod.objects.find(({ kind }) => kind === 'Pod')?.metadata.annotations
    expect(JSON.parse(annotation?.['k8s.v1.cni.cncf.io/networks'] ?? '')).toHaveLength(pod.networks.length)
    expect(pod.objects.filter(({ kind }) => kind === 'NetworkAttachmentDefinition')).toHaveLength(pod.networks.length)
  })

  it('have an address of the span for pods on every network', () => {
    expect(
      judgeAttachments(
        pod,
        attached(() => undefined),
      ),
    ).toEqual([])
    const other = judgeAttachments(
      pod,
      attached((name) => (name === 'internalapi' ? ['172.17.0.85'] : undefined)),
    )
    expect(other.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'SL9345 Multus and whereabouts do not attach rhoso1/internalapi on worker-0 as planned: ' +
        '172.17.0.85 instead of one of its span for pods in 172.17.0.0/24',
    ])
    expect(judgeAttachments(pod, undefined)).toHaveLength(pod.networks.length)
  })

  it('hold no address after they are detached', () => {
    const pool = (allocations: object): KubeObject => ({
      apiVersion: 'whereabouts.cni.cncf.io/v1alpha1',
      kind: 'IPPool',
      metadata: { name: 'internalapi' },
      spec: { range: '172.17.0.0/24', allocations },
    })
    expect(judgeReleased([pool({})])).toEqual([])
    const [stays] = judgeReleased([pool({ '30': { id: 'x', podref: 'openstack/openstack-multus' } })])
    expect(stays).toMatchObject({ code: 'SL9346', message: expect.stringContaining('openstack/openstack-multus') })
  })

  it('are attached as the container runtime does it', () => {
    const script = multusScript(pod, 'ADD', 'kind: Config\n')
    expect(script).toContain("CNI_ARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=openstack;K8S_POD_NAME=openstack-multus'")
    expect(script).toContain('ip netns add openstack-multus')
    expect(multusScript(pod, 'DEL', '')).not.toContain('netns add')
  })
})
