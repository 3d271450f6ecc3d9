/** Short constructors for the cluster objects of doctor states. */
import type { Condition, KubeObject } from '../../src/api/object.ts'

export const NOW = Date.parse('2026-03-01T12:00:00Z')
/** Older than every grace period. */
const LONG_AGO = '2026-03-01T09:00:00Z'

type Json = Readonly<Record<string, unknown>>
type Meta = Partial<KubeObject['metadata']>

export function object(groupVersionKind: string, name: string, body: Json = {}, meta: Meta = {}): KubeObject {
  const at = groupVersionKind.lastIndexOf('/')
  const [namespace, own] = name.includes('/') ? name.split('/') : [undefined, name]
  return {
    apiVersion: groupVersionKind.slice(0, at),
    kind: groupVersionKind.slice(at + 1),
    metadata: {
      name: own ?? '',
      ...(namespace !== undefined && { namespace }),
      uid: `uid-${groupVersionKind}-${name}`,
      generation: 1,
      creationTimestamp: LONG_AGO,
      ...meta,
    },
    ...body,
  }
}

export function condition(
  type: string,
  status: Condition['status'],
  message = '',
  more: Partial<Condition> = {},
): Condition {
  return { type, status, message, lastTransitionTime: LONG_AGO, ...more }
}

export const bad = (type: string, message: string): Condition =>
  condition(type, 'False', message, { severity: 'Error', reason: 'Error' })

export const good = (type: string): Condition => condition(type, 'True', 'Setup complete')

export interface ServiceOptions {
  readonly ip?: string
  readonly ports?: readonly number[]
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: Json
}

/** A LoadBalancer Service with only the given settings. */
export function service(
  name: string,
  { ip, ports = [443], annotations = {}, spec = {} }: ServiceOptions = {},
): KubeObject {
  return object(
    'v1/Service',
    name,
    {
      spec: { type: 'LoadBalancer', ports: ports.map((port) => ({ port, protocol: 'TCP' })), ...spec },
      status: { loadBalancer: ip === undefined ? {} : { ingress: [{ ip }] } },
    },
    { annotations },
  )
}

export const requests = (
  pool: string,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => ({
  'metallb.io/address-pool': pool,
  ...more,
})

export function pool(
  name: string,
  addresses: readonly string[],
  namespaces: readonly string[] = [],
  spec: Json = {},
): KubeObject {
  return object('metallb.io/v1beta1/IPAddressPool', `metallb-system/${name}`, {
    spec: {
      addresses,
      autoAssign: false,
      ...(namespaces.length > 0 && { serviceAllocation: { namespaces } }),
      ...spec,
    },
  })
}

export function l2(name: string, pools: readonly string[], interfaces: readonly string[], spec: Json = {}): KubeObject {
  return object('metallb.io/v1beta1/L2Advertisement', `metallb-system/${name}`, {
    spec: { ipAddressPools: pools, interfaces, ...spec },
  })
}

export function event(about: KubeObject, reason: string, message: string): KubeObject {
  const { kind, metadata } = about
  return object('v1/Event', `${metadata.namespace ?? 'default'}/${metadata.name}.${reason}`, {
    involvedObject: { kind, name: metadata.name, namespace: metadata.namespace },
    reason,
    message,
    firstTimestamp: LONG_AGO,
    lastTimestamp: LONG_AGO,
  })
}

export const allocationFailed = (about: KubeObject, why: string): KubeObject =>
  event(
    about,
    'AllocationFailed',
    `Failed to allocate IP for "${about.metadata.namespace}/${about.metadata.name}": ${why}`,
  )

/** A pod whose container crashes repeatedly. */
export function crashing(name: string): KubeObject {
  return object('v1/Pod', name, {
    status: {
      phase: 'Running',
      startTime: LONG_AGO,
      containerStatuses: [
        {
          name: 'galera',
          restartCount: 9,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 1 } },
        },
      ],
    },
  })
}

export function node(name: string): KubeObject {
  return object(
    'v1/Node',
    name,
    { status: { conditions: [condition('Ready', 'True')] } },
    { labels: { 'kubernetes.io/hostname': name } },
  )
}

export interface InterfaceOptions {
  readonly name: string
  readonly ports?: readonly string[]
  readonly addresses?: readonly string[]
}

function nic({ name, ports, addresses = [] }: InterfaceOptions): Json {
  return {
    name,
    type: ports ? 'linux-bridge' : 'vlan',
    state: 'up',
    ...(ports && { bridge: { port: ports.map((port) => ({ name: port })) } }),
    ipv4: { enabled: addresses.length > 0, address: addresses.map((ip) => ({ ip, 'prefix-length': 24 })) },
  }
}

export function policy(name: string, nodeName: string, interfaces: readonly InterfaceOptions[]): KubeObject {
  return object('nmstate.io/v1/NodeNetworkConfigurationPolicy', name, {
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': nodeName },
      desiredState: { interfaces: interfaces.map(nic) },
    },
  })
}

export function enactment(
  nodeName: string,
  policyName: string,
  conditions: readonly Condition[] = [good('Available')],
  generation = 1,
): KubeObject {
  return object('nmstate.io/v1beta1/NodeNetworkConfigurationEnactment', `${nodeName}.${policyName}`, {
    status: { policyGeneration: generation, conditions },
  })
}

export function attachment(name: string, config: Json | string): KubeObject {
  return object('k8s.cni.cncf.io/v1/NetworkAttachmentDefinition', name, {
    spec: { config: typeof config === 'string' ? config : JSON.stringify(config) },
  })
}

export interface NetworkOptions {
  readonly name: string
  readonly cidr: string
  readonly hosts: readonly [string, string]
}

export function netConfig(name: string, networks: readonly NetworkOptions[], meta: Meta = {}): KubeObject {
  const spec = {
    networks: networks.map((network) => ({
      name: network.name,
      subnets: [
        {
          name: 'subnet1',
          cidr: network.cidr,
          allocationRanges: [{ start: network.hosts[0], end: network.hosts[1] }],
        },
      ],
    })),
  }
  return object('network.openstack.org/v1beta1/NetConfig', name, { spec }, meta)
}

/** An object of an upstream operator with its conditions. */
export function cr(
  groupVersionKind: string,
  name: string,
  spec: Json = {},
  conditions: readonly Condition[] = [good('Ready')],
  status: Json = {},
): KubeObject {
  return object(groupVersionKind, name, { spec, status: { observedGeneration: 1, conditions, ...status } })
}

export function deployment(name: string, ready = 1): KubeObject {
  return object('apps/v1/Deployment', name, {
    spec: { replicas: 1, selector: { matchLabels: { app: name.split('/')[1] } } },
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: ready },
  })
}

/** The Deployment that `operator install` creates. */
export function stackloomOperator(...args: readonly string[]): KubeObject {
  const containers = [{ name: 'operator', args: ['operator', 'run', ...args] }]
  const installed = deployment('stackloom-operator/stackloom-operator')
  return {
    ...installed,
    metadata: { ...installed.metadata, labels: { 'app.kubernetes.io/name': 'stackloom-operator' } },
    spec: { ...(installed['spec'] as object), template: { spec: { containers } } },
  }
}

/** A ready endpoint of a Service. */
export function endpoints(name: string): KubeObject {
  const [, own = ''] = name.split('/')
  const labels = { 'kubernetes.io/service-name': own }
  return object(
    'discovery.k8s.io/v1/EndpointSlice',
    `${name}-abc`,
    { endpoints: [{ addresses: ['10.128.0.7'], conditions: { ready: true } }] },
    { labels },
  )
}
