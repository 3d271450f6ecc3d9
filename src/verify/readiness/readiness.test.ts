import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Condition, KubeObject } from '../../api/object.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import { nodeSetSetUp } from './openstack.ts'
import { readinessOf, readinessOfLive, rules } from './readiness.ts'
import { type Readiness, type ReadinessContext, standardGrace } from './verdict.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')
const ago = (ms: number): string => new Date(NOW - ms).toISOString()

interface Draft {
  readonly apiVersion?: string
  readonly kind: string
  readonly name?: string
  readonly namespace?: string
  readonly metadata?: Partial<KubeObject['metadata']>
  readonly [field: string]: unknown
}

function object({ apiVersion = 'v1', kind, name = 'it', namespace, metadata, ...rest }: Draft): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }), uid: `uid-${name}`, ...metadata },
    ...rest,
  }
}

function context(objects: readonly KubeObject[], more: Partial<ReadinessContext> = {}): ReadinessContext {
  return {
    around: indexSnapshot({ objects, unread: [] }),
    now: NOW,
    grace: standardGrace,
    nodes: ['worker-0', 'worker-1'],
    ...more,
  }
}

function judge(
  subject: KubeObject,
  others: readonly KubeObject[] = [],
  more: Partial<ReadinessContext> = {},
): Readiness {
  return readinessOfLive(subject, context([subject, ...others], more))
}

function condition(type: string, status: Condition['status'], more: Partial<Condition> = {}): Condition {
  return { type, status, ...more }
}

describe('existence comes first', () => {
  const wanted = { apiVersion: 'v1', kind: 'Service', namespace: 'openstack', name: 'dns' }

  it('waits for what is not there yet', () => {
    expect(readinessOf(wanted, context([]))).toEqual({
      kind: 'progressing',
      waits: 'Service openstack/dns to exist',
    })
  })

  it('does not take a kind that could not be read for one that has no objects', () => {
    const around = indexSnapshot({
      objects: [],
      unread: [{ apiVersion: 'v1', kind: 'Service', reason: 'forbidden' }],
    })
    expect(readinessOf(wanted, { ...context([]), around })).toEqual({
      kind: 'progressing',
      waits: 'Service openstack/dns, which cannot be read: forbidden',
    })
  })
})

describe('any kind', () => {
  const reading = [
    'IPAddressPool',
    'L2Advertisement',
    'BGPPeer',
    'BGPAdvertisement',
    'NetworkAttachmentDefinition',
    'NetConfig',
  ]
  const silentKinds = Object.keys(rules).filter(
    (key) =>
      !reading.some((kind) => key.endsWith(`/${kind}`)) && !key.includes('Webhook') && key !== 'Service',
  )

  it.each(silentKinds)('%s is not ready while its controller has said nothing', (groupKind) => {
    const [group, kind = group ?? ''] = groupKind.split('/')
    const silent = object({
      apiVersion: kind === group ? 'v1' : `${group}/v1`,
      kind,
      metadata: { generation: 1 },
      spec: {},
    })
    expect(judge(silent).kind).not.toBe('ready')
  })

  it('never believes a status of an older generation', () => {
    fc.assert(
      fc.property(fc.nat({ max: 5 }), fc.nat({ max: 5 }), (generation, observedGeneration) => {
        const verdict = judge(
          object({
            apiVersion: 'core.openstack.org/v1beta1',
            kind: 'OpenStackControlPlane',
            metadata: { generation },
            status: { observedGeneration, conditions: [condition('Ready', 'True')] },
          }),
        )
        expect(verdict.kind).toBe(observedGeneration < generation ? 'progressing' : 'ready')
      }),
    )
  })

  it('reads conditions by type, whatever their order', () => {
    const conditions = [
      condition('Ready', 'True'),
      condition('InputReady', 'True'),
      condition('ExposeReady', 'True'),
    ]
    fc.assert(
      fc.property(fc.shuffledSubarray(conditions, { minLength: 3 }), (order) => {
        const status = { observedGeneration: 1, conditions: order }
        const apiVersion = 'operator.openstack.org/v1beta1'
        expect(judge(object({ apiVersion, kind: 'OpenStack', status })).kind).toBe('ready')
      }),
    )
  })

  it('takes Unknown for no success', () => {
    const status = { conditions: [condition('Ready', 'Unknown', { message: 'who knows' })] }
    expect(judge(object({ apiVersion: 'x.dev/v1', kind: 'Thing', status }))).toEqual({
      kind: 'progressing',
      waits: 'Thing it: who knows (Ready)',
    })
  })

  it('is not ready while it is being deleted', () => {
    const going = object({ kind: 'Service', metadata: { deletionTimestamp: ago(0) }, spec: {} })
    expect(judge(going).kind).toBe('progressing')
  })
})

describe('OpenStack kinds', () => {
  const controlPlane = (conditions: readonly Condition[]) =>
    object({
      apiVersion: 'core.openstack.org/v1beta1',
      kind: 'OpenStackControlPlane',
      namespace: 'openstack',
      metadata: { generation: 2 },
      status: { observedGeneration: 2, conditions },
    })
  const error = (ms: number) =>
    condition('OpenStackControlPlaneRabbitMQReady', 'False', {
      severity: 'Error',
      message: 'RabbitMQ error occurred: no address',
      lastTransitionTime: ago(ms),
    })

  it('gives an error time to heal, and then calls it a failure with its words', () => {
    const summary = condition('Ready', 'False', { message: 'RabbitMQ error' })
    expect(judge(controlPlane([summary, error(1_000)])).kind).toBe('progressing')
    expect(judge(controlPlane([summary, error(standardGrace.errorMs)]))).toEqual({
      kind: 'failed',
      cause:
        'OpenStackControlPlane openstack/it: RabbitMQ error occurred: no address (OpenStackControlPlaneRabbitMQReady)',
      next: 'kubectl -n openstack describe openstackcontrolplane.core.openstack.org it',
    })
  })

  it('does not fail for being slow', () => {
    const slow = condition('Ready', 'False', {
      severity: 'Info',
      lastTransitionTime: ago(86_400_000),
      message: 'x',
    })
    expect(judge(controlPlane([slow])).kind).toBe('progressing')
  })

  it('finds the failed job behind a control plane that waits', () => {
    const job = object({
      apiVersion: 'batch/v1',
      kind: 'Job',
      namespace: 'openstack',
      name: 'keystone-db-sync',
      status: {
        conditions: [
          condition('Failed', 'True', {
            reason: 'BackoffLimitExceeded',
            message: 'Job has reached the specified backoff limit',
          }),
        ],
      },
    })
    const waiting = controlPlane([condition('Ready', 'False', { message: 'in progress' })])
    expect(judge(waiting, [job])).toMatchObject({
      kind: 'failed',
      next: 'kubectl -n openstack logs job/keystone-db-sync',
    })
    const elsewhere = { ...job, metadata: { ...job.metadata, namespace: 'openstack2' } }
    expect(judge(waiting, [elsewhere]).kind).toBe('progressing')
  })

  it('knows the set-up of a node set from its deployment', () => {
    const nodeSet = object({
      apiVersion: 'dataplane.openstack.org/v1beta1',
      kind: 'OpenStackDataPlaneNodeSet',
      metadata: { generation: 1 },
      status: {
        observedGeneration: 1,
        conditions: [condition('SetupReady', 'True'), condition('Ready', 'False')],
      },
    })
    expect(nodeSetSetUp(nodeSet, context([])).kind).toBe('ready')
    expect(judge(nodeSet).kind).toBe('progressing')
  })

  it('ends a version only when the target is deployed', () => {
    const version = (deployedVersion: string) =>
      object({
        apiVersion: 'core.openstack.org/v1beta1',
        kind: 'OpenStackVersion',
        metadata: { generation: 1 },
        spec: { targetVersion: '0.6.0' },
        status: {
          observedGeneration: 1,
          deployedVersion,
          availableVersion: '0.6.0',
          conditions: [condition('Ready', 'True')],
        },
      })
    expect(judge(version('0.5.0'))).toEqual({
      kind: 'progressing',
      waits: 'OpenStackVersion it to go from 0.5.0 to 0.6.0',
    })
    expect(judge(version('0.6.0')).kind).toBe('ready')
  })
})

describe('node networking', () => {
  const policy = object({
    apiVersion: 'nmstate.io/v1',
    kind: 'NodeNetworkConfigurationPolicy',
    name: 'rhoso1-worker-0',
    metadata: { generation: 3 },
    spec: { nodeSelector: { 'kubernetes.io/hostname': 'worker-0' } },
    // The policy's own word is of some earlier generation, and it says so nowhere.
    status: { conditions: [condition('Available', 'True', { reason: 'SuccessfullyConfigured' })] },
  })
  const node = object({
    kind: 'Node',
    name: 'worker-0',
    metadata: { labels: { 'kubernetes.io/hostname': 'worker-0' } },
  })
  const enactment = (policyGeneration: number, type: string, message = '') =>
    object({
      apiVersion: 'nmstate.io/v1beta1',
      kind: 'NodeNetworkConfigurationEnactment',
      name: 'worker-0.rhoso1-worker-0',
      status: { policyGeneration, conditions: [condition(type, 'True', { message })] },
    })

  it('waits for the enactment of this generation, whatever the policy itself says', () => {
    expect(judge(policy, [node]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(2, 'Available')]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(2, 'Failing')]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(3, 'Progressing')]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(3, 'Available')]).kind).toBe('ready')
  })

  it("fails at once with the node's own words", () => {
    expect(judge(policy, [node, enactment(3, 'Failing', 'interface enp6s0 not found')])).toEqual({
      kind: 'failed',
      cause: 'node worker-0 refuses rhoso1-worker-0: interface enp6s0 not found',
      next: 'kubectl get nnce worker-0.rhoso1-worker-0 -o yaml',
    })
  })

  it('lets a node try again before it calls that a failure', () => {
    const both = enactment(3, 'Failing', 'Retrying 2/5')
    const conditions = [
      condition('Failing', 'True', { message: 'Retrying 2/5' }),
      condition('Progressing', 'True'),
    ]
    const retrying = { ...both, status: { policyGeneration: 3, conditions } }
    expect(judge(policy, [node, retrying])).toEqual({
      kind: 'progressing',
      waits: 'node worker-0, which tries again: Retrying 2/5',
    })
  })

  it('says so when the selector matches no node', () => {
    expect(judge(policy, [])).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('no node matches'),
    })
  })
})

describe('LoadBalancer Services', () => {
  const service = (ips: readonly string[]) =>
    object({
      kind: 'Service',
      namespace: 'openstack',
      name: 'keystone-internal',
      metadata: {
        annotations: {
          'metallb.universe.tf/loadBalancerIPs': '10.0.0.1',
          'metallb.io/loadBalancerIPs': '172.17.0.80',
        },
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

  it('are ready with the planned address alone', () => {
    expect(judge(service([]), [], { planned }).kind).toBe('progressing')
    expect(judge(service(['172.17.0.80']), [], { planned }).kind).toBe('ready')
    expect(judge(service(['172.17.0.81']), [], { planned })).toMatchObject({
      kind: 'failed',
      cause: 'Service openstack/keystone-internal has 172.17.0.81 instead of 172.17.0.80',
    })
  })

  it('may not have an address of another cloud', () => {
    expect(judge(service(['172.17.0.80']), [], { planned: () => new Set(['172.27.0.80']) }).kind).toBe(
      'failed',
    )
  })

  it('fail with what MetalLB says, when it keeps saying it', () => {
    expect(judge(service([]), [refusal(1_000)])).toMatchObject({
      kind: 'progressing',
      waits: expect.stringContaining('no available IPs'),
    })
    expect(judge(service([]), [refusal(standardGrace.allocationMs)])).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('no available IPs in pool "openstack-internalapi"'),
    })
  })

  it('are not blamed for the life of an older Service of that name', () => {
    const before = refusal(3_600_000)
    const about = { ...(before['involvedObject'] as object), uid: 'uid-of-the-old-one' }
    expect(judge(service([]), [{ ...before, involvedObject: about }]).kind).toBe('progressing')
  })
})

describe('workloads', () => {
  const labels = { app: 'x' }
  const deployment = (status: object) =>
    object({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'ns',
      metadata: { generation: 1 },
      spec: { replicas: 2, selector: { matchLabels: labels } },
      status,
    })
  const pod = (reason: string, restartCount = 0) =>
    object({
      kind: 'Pod',
      namespace: 'ns',
      name: 'x-1',
      metadata: { labels },
      status: {
        phase: 'Pending',
        startTime: ago(standardGrace.podMs),
        containerStatuses: [
          {
            name: 'c',
            image: 'quay.io/x',
            restartCount,
            state: { waiting: { reason, message: 'not found' } },
          },
        ],
      },
    })
  const half = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 1 }

  it('count what is available', () => {
    expect(judge(deployment(half))).toEqual({
      kind: 'progressing',
      waits: 'Deployment ns/it: 1 of 2 pods available',
    })
    expect(judge(deployment({ ...half, availableReplicas: 2 })).kind).toBe('ready')
    expect(judge(deployment({ ...half, availableReplicas: 2, replicas: 3 })).kind).toBe('progressing')
  })

  it('name the image that cannot be pulled and the container that crashes', () => {
    expect(judge(deployment(half), [pod('ImagePullBackOff')])).toEqual({
      kind: 'failed',
      cause: 'Pod ns/x-1 cannot pull quay.io/x: not found',
      next: 'kubectl -n ns describe pod x-1',
    })
    expect(judge(deployment(half), [pod('CrashLoopBackOff', 5)])).toMatchObject({
      kind: 'failed',
      next: 'kubectl -n ns logs x-1 -c c --previous',
    })
    expect(judge(deployment(half), [pod('CrashLoopBackOff', 1)]).kind).toBe('progressing')
  })

  it('wait for a claim, and name a storage class that does not exist', () => {
    const claim = object({
      kind: 'PersistentVolumeClaim',
      namespace: 'ns',
      spec: { storageClassName: 'fast' },
      status: { phase: 'Pending' },
    })
    const other = object({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', name: 'slow' })
    expect(judge(claim).kind).toBe('progressing')
    expect(judge(claim, [other])).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('storage class fast'),
    })
  })
})

describe('OLM', () => {
  const subscription = (status: object) =>
    object({
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      namespace: 'ns',
      name: 'nmstate',
      spec: {},
      status,
    })
  const csv = (phase: string, message = '') =>
    object({
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      namespace: 'ns',
      name: 'nmstate.v1',
      status: { phase, message },
    })

  it('is as far as the version behind the subscription', () => {
    expect(judge(subscription({})).kind).toBe('progressing')
    expect(judge(subscription({ installedCSV: 'nmstate.v1' })).kind).toBe('progressing')
    expect(judge(subscription({ installedCSV: 'nmstate.v1' }), [csv('Installing')]).kind).toBe('progressing')
    expect(judge(subscription({ installedCSV: 'nmstate.v1' }), [csv('Succeeded')]).kind).toBe('ready')
    expect(judge(subscription({ installedCSV: 'nmstate.v1' }), [csv('Failed', 'no RBAC')])).toMatchObject({
      kind: 'failed',
      cause: 'ClusterServiceVersion ns/nmstate.v1 failed: no RBAC',
    })
  })

  it('fails when the catalog has no such package', () => {
    const status = { conditions: [condition('ResolutionFailed', 'True', { message: 'no operators found' })] }
    expect(judge(subscription(status))).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('no operators found'),
    })
  })
})

describe('kinds without a status', () => {
  const pool = (addresses: readonly string[]) =>
    object({
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      namespace: 'metallb-system',
      spec: { addresses },
    })

  it('are ready when they read back as they were written', () => {
    const desired = pool(['172.17.0.80-172.17.0.90'])
    expect(judge(desired, [], { desired }).kind).toBe('ready')
    expect(judge(pool(['172.17.0.80-172.17.0.99']), [], { desired })).toEqual({
      kind: 'progressing',
      waits: 'IPAddressPool metallb-system/it to hold spec.addresses[0] as planned',
    })
  })
})
