import { describe, expect, it } from 'vitest'
import { ago, judge, object } from '../../../test/readiness.ts'
import { defaultGrace } from './verdict.ts'

describe('LoadBalancer Services', () => {
  const service = (ips: readonly string[]) =>
    object({
      kind: 'Service',
      namespace: 'openstack',
      name: 'keystone-internal',
      metadata: {
        annotations: { 'metallb.universe.tf/loadBalancerIPs': '10.0.0.1', 'metallb.io/loadBalancerIPs': '172.17.0.80' },
      },
      spec: { type: 'LoadBalancer' },
      status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
    })
  const refusal = (ms: number) =>
    object({
      kind: 'Event',
      namespace: 'openstack',
      name: 'e1',
      reason: 'AllocationFailed',
      message: 'Failed to allocate IP: no available IPs in pool "openstack-internalapi"',
      firstTimestamp: ago(ms),
      involvedObject: {
        kind: 'Service',
        namespace: 'openstack',
        name: 'keystone-internal',
        uid: 'uid-keystone-internal',
      },
    })
  const planned = () => new Set(['172.17.0.80', '172.17.0.81'])

  it('are ready only with the planned address', () => {
    expect(judge(service([]), [], { planned }).kind).toBe('progressing')
    expect(judge(service(['172.17.0.80']), [], { planned }).kind).toBe('ready')
    expect(judge(service(['172.17.0.81']), [], { planned })).toMatchObject({
      kind: 'failed',
      cause: 'Service openstack/keystone-internal has 172.17.0.81 instead of 172.17.0.80',
    })
  })

  it('fail with an address of another cloud', () => {
    expect(judge(service(['172.17.0.80']), [], { planned: () => new Set(['172.27.0.80']) }).kind).toBe('failed')
  })

  it('fail with the event of MetalLB after the grace period', () => {
    expect(judge(service([]), [refusal(1_000)])).toMatchObject({
      kind: 'progressing',
      waits: expect.stringContaining('no available IPs'),
    })
    expect(judge(service([]), [refusal(defaultGrace.allocationMs)])).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('no available IPs in pool "openstack-internalapi"'),
    })
  })

  it('count a failure from before the apply from the apply', () => {
    const old = refusal(3_600_000)
    const since = (ms: number) => ({ since: Date.parse(ago(ms)) })
    expect(judge(service([]), [old], since(0)).kind).toBe('progressing')
    expect(judge(service([]), [old], since(defaultGrace.allocationMs - 1)).kind).toBe('progressing')
    expect(judge(service([]), [old], since(defaultGrace.allocationMs)).kind).toBe('failed')
  })

  it('ignore events from before their pool was created', () => {
    const asking = service([])
    const annotations = { 'metallb.io/address-pool': 'openstack-internalapi' }
    const subject = { ...asking, metadata: { ...asking.metadata, annotations } }
    const pool = (name: string, ms: number) =>
      object({
        apiVersion: 'metallb.io/v1beta1',
        kind: 'IPAddressPool',
        namespace: 'metallb-system',
        name,
        metadata: { creationTimestamp: ago(ms) },
      })
    const before = { ...refusal(3_600_000), lastTimestamp: ago(1_800_000) }
    expect(judge(subject, [before, pool('openstack-internalapi', 1_000)])).toEqual({
      kind: 'progressing',
      waits: 'Service openstack/keystone-internal to get its address',
    })
    const after = { ...before, lastTimestamp: ago(500) }
    expect(judge(subject, [after, pool('openstack-internalapi', 1_000)]).kind).toBe('failed')
    expect(judge(subject, [before, pool('openstack2-internalapi', 1_000)]).kind).toBe('failed')
  })

  it('ignore events of a deleted Service of the same name', () => {
    const before = refusal(3_600_000)
    const about = { ...(before['involvedObject'] as object), uid: 'uid-of-the-old-one' }
    expect(judge(service([]), [{ ...before, involvedObject: about }]).kind).toBe('progressing')
  })
})
