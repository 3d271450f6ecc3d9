/** The status of a DNSMasq, in upstream's fields, types and words. Pure. */

import type { DnsMasq, DnsMasqStatus } from '../../api/dnsmasq.ts'
import type { Condition, KubeObject } from '../../api/object.ts'
import type { Finding } from '../../errors/finding.ts'
import { done, failed, requested, summedUp } from '../conditions.ts'

/** What came of one look. */
export interface Standing {
  readonly configFindings: readonly Finding[]
  readonly hostFindings: readonly Finding[]
  readonly services: readonly KubeObject[]
  readonly deployment: KubeObject | undefined
  /** Of everything that is served. */
  readonly hash: string
  readonly topology?: { readonly name: string; readonly namespace: string; readonly finding?: Finding }
}

export function dnsMasqStatus(dnsMasq: DnsMasq, standing: Standing, now: string): DnsMasqStatus {
  const { services, deployment, hash, topology } = standing
  const conditions = [
    done('InputReady', 'Input data complete'),
    configCondition(standing),
    done('ServiceAccountReady', 'ServiceAccount created'),
    done('RoleReady', 'Role created'),
    done('RoleBindingReady', 'RoleBinding created'),
    serviceCondition(services),
    ...(topology ? [topologyCondition(topology.finding)] : []),
    deploymentCondition(deployment),
  ]
  const { generation } = dnsMasq.metadata
  return {
    conditions: summedUp(conditions, dnsMasq.status?.conditions, now),
    hash: { input: hash },
    readyCount: statusOf(deployment).readyReplicas ?? 0,
    dnsAddresses: services.flatMap(addressesOf),
    dnsClusterAddresses: services.flatMap(clusterAddressesOf),
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(topology &&
      !topology.finding && {
        lastAppliedTopology: { name: topology.name, namespace: topology.namespace },
      }),
  }
}

function configCondition({ configFindings, hostFindings }: Standing): Condition {
  const [first] = [...configFindings, ...hostFindings]
  if (!first) return done('ServiceConfigReady', 'Service config create completed')
  return failed('ServiceConfigReady', `Service config create error occurred ${first.code}: ${first.message}`)
}

function serviceCondition(services: readonly KubeObject[]): Condition {
  const pending = services.find((one) => isLoadBalancer(one) && addressesOf(one).length === 0)
  if (!pending) return done('CreateServiceReady', 'Create service completed')
  const why = `${pending.metadata.name} LoadBalancer IP still pending`
  return failed('CreateServiceReady', `Create service error occurred ${why}`)
}

function topologyCondition(missing: Finding | undefined): Condition {
  if (!missing) return done('TopologyReady', 'Topology config create completed')
  return failed('TopologyReady', `Topology config error occurred ${missing.message}`)
}

function deploymentCondition(deployment: KubeObject | undefined): Condition {
  const { replicas = 1 } = (deployment?.['spec'] ?? {}) as { readonly replicas?: number }
  const status = statusOf(deployment)
  const current = (status.observedGeneration ?? 0) >= (deployment?.metadata.generation ?? 1)
  const all = (count: number | undefined): boolean => (count ?? 0) === replicas
  if (current && all(status.replicas) && all(status.readyReplicas) && all(status.updatedReplicas)) {
    return done('DeploymentReady', 'Deployment completed')
  }
  const stuck = status.conditions?.find((one) => one.reason === 'ProgressDeadlineExceeded')
  return stuck
    ? failed('DeploymentReady', `Deployment error occurred ${stuck.message}`)
    : requested('DeploymentReady', 'Deployment in progress')
}

interface DeploymentStatus {
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly readyReplicas?: number
  readonly updatedReplicas?: number
  readonly conditions?: readonly Condition[]
}

function statusOf(deployment: KubeObject | undefined): DeploymentStatus {
  return (deployment?.['status'] ?? {}) as DeploymentStatus
}

export interface Ingress {
  readonly ip?: string
  readonly hostname?: string
}

export function ingressOf(service: KubeObject): readonly Ingress[] {
  const status = service['status'] as { readonly loadBalancer?: { ingress?: readonly Ingress[] } } | undefined
  return status?.loadBalancer?.ingress ?? []
}

export function isLoadBalancer(service: KubeObject): boolean {
  return (service['spec'] as { readonly type?: string } | undefined)?.type === 'LoadBalancer'
}

function addressesOf(service: KubeObject): readonly string[] {
  return ingressOf(service).flatMap(({ ip }) => ip ?? [])
}

function clusterAddressesOf(service: KubeObject): readonly string[] {
  return (service['spec'] as { readonly clusterIPs?: readonly string[] } | undefined)?.clusterIPs ?? []
}
