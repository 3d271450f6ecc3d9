/** Builds the status of a DNSMasq in upstream's fields, condition types and messages. Pure. */
import type { DnsMasq, DnsMasqStatus } from '../../api/dnsmasq.ts'
import type { Condition, KubeObject } from '../../api/object.ts'
import type { Finding } from '../../errors/finding.ts'
import {
  conditionError,
  conditionForFinding,
  conditionRequested,
  conditionTrue,
  summarizeConditions,
} from '../kit/conditions.ts'

/** An object that was not written: another one is in its way, or the API server refuses it. */
export interface RefusedWrite {
  readonly kind: string
  readonly finding: Finding
}

export interface DnsMasqState {
  readonly configFindings: readonly Finding[]
  readonly hostFindings: readonly Finding[]
  readonly services: readonly KubeObject[]
  readonly deployment: KubeObject | undefined
  /** Of all served hosts. */
  readonly hash: string
  readonly refused: readonly RefusedWrite[]
  readonly topology?: { readonly name: string; readonly namespace: string; readonly finding?: Finding }
}

export function buildDnsMasqStatus(dnsMasq: DnsMasq, state: DnsMasqState, now: string): DnsMasqStatus {
  const { services, deployment, hash, topology } = state
  const conditions = [
    conditionTrue('InputReady', 'Input data complete'),
    refusedCondition(state, 'ServiceConfigReady', ['ConfigMap', 'DNSData']) ?? configCondition(state),
    refusedCondition(state, 'ServiceAccountReady', ['ServiceAccount']) ??
      conditionTrue('ServiceAccountReady', 'ServiceAccount created'),
    // Upstream's conditions, for its readers: the pods have no permissions, so there is neither.
    ...['Role', 'RoleBinding'].map((kind) => conditionTrue(`${kind}Ready`, `${kind} not needed`)),
    refusedCondition(state, 'CreateServiceReady', ['Service']) ?? serviceCondition(services),
    ...(topology ? [topologyCondition(topology.finding)] : []),
    refusedCondition(state, 'DeploymentReady', ['Deployment']) ?? deploymentCondition(deployment),
  ]
  const { generation } = dnsMasq.metadata
  return {
    conditions: summarizeConditions(conditions, dnsMasq.status?.conditions, now),
    hash: { input: hash },
    readyCount: deploymentStatus(deployment).readyReplicas ?? 0,
    dnsAddresses: services.flatMap(ingressAddresses),
    dnsClusterAddresses: services.flatMap(clusterAddresses),
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(topology &&
      !topology.finding && {
        lastAppliedTopology: { name: topology.name, namespace: topology.namespace },
      }),
  }
}

function refusedCondition({ refused }: DnsMasqState, type: string, kinds: readonly string[]): Condition | undefined {
  const first = refused.find(({ kind }) => kinds.includes(kind))
  return first && conditionForFinding(type, first.finding)
}

function configCondition({ configFindings, hostFindings }: DnsMasqState): Condition {
  const [first] = [...configFindings, ...hostFindings]
  if (!first) return conditionTrue('ServiceConfigReady', 'Service config create completed')
  return conditionError('ServiceConfigReady', `Service config create error occurred ${first.code}: ${first.message}`)
}

function serviceCondition(services: readonly KubeObject[]): Condition {
  const pending = services.find((service) => isLoadBalancer(service) && ingressAddresses(service).length === 0)
  if (!pending) return conditionTrue('CreateServiceReady', 'Create service completed')
  const why = `${pending.metadata.name} LoadBalancer IP still pending`
  return conditionError('CreateServiceReady', `Create service error occurred ${why}`)
}

function topologyCondition(notFound: Finding | undefined): Condition {
  if (!notFound) return conditionTrue('TopologyReady', 'Topology config create completed')
  return conditionError('TopologyReady', `Topology config error occurred ${notFound.message}`)
}

function deploymentCondition(deployment: KubeObject | undefined): Condition {
  const { replicas = 1 } = (deployment?.['spec'] ?? {}) as { readonly replicas?: number }
  const status = deploymentStatus(deployment)
  const current = (status.observedGeneration ?? 0) >= (deployment?.metadata.generation ?? 1)
  const all = (count: number | undefined): boolean => (count ?? 0) === replicas
  if (current && all(status.replicas) && all(status.readyReplicas) && all(status.updatedReplicas)) {
    return conditionTrue('DeploymentReady', 'Deployment completed')
  }
  const stuck = status.conditions?.find((condition) => condition.reason === 'ProgressDeadlineExceeded')
  return stuck
    ? conditionError('DeploymentReady', `Deployment error occurred ${stuck.message}`)
    : conditionRequested('DeploymentReady', 'Deployment in progress')
}

interface DeploymentStatus {
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly readyReplicas?: number
  readonly updatedReplicas?: number
  readonly conditions?: readonly Condition[]
}

function deploymentStatus(deployment: KubeObject | undefined): DeploymentStatus {
  return (deployment?.['status'] ?? {}) as DeploymentStatus
}

export interface Ingress {
  readonly ip?: string
  readonly hostname?: string
}

export function serviceIngress(service: KubeObject): readonly Ingress[] {
  const status = service['status'] as { readonly loadBalancer?: { ingress?: readonly Ingress[] } } | undefined
  return status?.loadBalancer?.ingress ?? []
}

export function isLoadBalancer(service: KubeObject): boolean {
  return (service['spec'] as { readonly type?: string } | undefined)?.type === 'LoadBalancer'
}

function ingressAddresses(service: KubeObject): readonly string[] {
  return serviceIngress(service).flatMap(({ ip }) => ip ?? [])
}

function clusterAddresses(service: KubeObject): readonly string[] {
  return (service['spec'] as { readonly clusterIPs?: readonly string[] } | undefined)?.clusterIPs ?? []
}
