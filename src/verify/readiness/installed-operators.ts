/**
 * Readiness of operators: all of their parts must run before their stage ends. Parts are found by upstream names and labels in
 * every namespace, so an existing installation counts.
 */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, formatObjectName, getString } from '../../api/raw-object.ts'
import { hasEndpoints } from './load-balancer.ts'
import { liveReadiness } from './readiness.ts'
import { isBeingDeleted, progressing, type Readiness, type ReadinessContext, ready, worst } from './verdict.ts'

export type InstallationPart = (context: ReadinessContext) => Readiness

export function installationReadiness(parts: readonly InstallationPart[], context: ReadinessContext): Readiness {
  return worst(parts.map((part) => part(context)))
}

/** An available workload with one of these names. */
function workloadPart(
  groupKind: 'apps/Deployment' | 'apps/DaemonSet',
  what: string,
  ...names: readonly string[]
): InstallationPart {
  return (context) => {
    const found = context.around.all(groupKind).find(({ metadata }) => names.includes(metadata.name))
    return found ? liveReadiness(found, context) : progressing(`${what} (${names[0]}) to exist`)
  }
}

/** A ready pod of a node agent on every node of the site. */
function nodeAgentPart(what: string, ...components: readonly string[]): InstallationPart {
  return (context) => {
    const pods = context.around
      .all('Pod')
      .filter(({ metadata }) => components.includes(metadata.labels?.['component'] ?? ''))
    const missing = context.nodes.filter(
      (node) => !pods.some((pod) => getString(pod, 'spec', 'nodeName') === node && isPodReady(pod)),
    )
    const [first] = missing
    if (first === undefined) return ready
    const pod = pods.find((pod) => getString(pod, 'spec', 'nodeName') === first)
    return pod ? liveReadiness(pod, context) : progressing(`${what} on node ${first}`)
  }
}

function isPodReady(pod: KubeObject): boolean {
  return findCondition(pod, 'Ready')?.status === 'True' && !isBeingDeleted(pod)
}

/** Kinds that the API server must serve; a CRD that is not established is not served. */
function servedKindsPart(...groupKinds: readonly string[]): InstallationPart {
  return ({ around }) => {
    const missing = groupKinds.find((groupKind) => around.unread(groupKind) !== undefined)
    return missing === undefined ? ready : progressing(`the kind ${missing} to be served`)
  }
}

/** Webhook Services with endpoints; without endpoints every write is rejected. */
function webhookPart(what: string, pattern: RegExp): InstallationPart {
  return ({ around }) => {
    const services = around.all('Service').filter(({ metadata }) => pattern.test(metadata.name))
    if (services.length === 0) return progressing(`${what} to exist`)
    const silent = services.find(({ metadata }) => !hasEndpoints(around, metadata.namespace ?? '', metadata.name))
    return silent ? progressing(`${formatObjectName(silent)} to have endpoints`) : ready
  }
}

export const nmstateParts: readonly InstallationPart[] = [
  servedKindsPart('nmstate.io/NodeNetworkConfigurationPolicy', 'nmstate.io/NodeNetworkConfigurationEnactment'),
  workloadPart('apps/Deployment', 'the nmstate operator', 'nmstate-operator', 'kubernetes-nmstate-operator'),
  workloadPart('apps/Deployment', 'the nmstate webhook', 'nmstate-webhook'),
  nodeAgentPart('the nmstate handler', 'kubernetes-nmstate-handler'),
]

export const metallbParts: readonly InstallationPart[] = [
  servedKindsPart('metallb.io/IPAddressPool', 'metallb.io/L2Advertisement'),
  workloadPart('apps/Deployment', 'the MetalLB controller', 'controller', 'metallb-controller'),
  webhookPart('the MetalLB webhook server', /^(metallb-)?(operator-)?webhook-(server-)?service$/),
  nodeAgentPart('the MetalLB speaker', 'speaker'),
]

export const certManagerParts: readonly InstallationPart[] = [
  servedKindsPart('cert-manager.io/Certificate', 'cert-manager.io/Issuer'),
  workloadPart('apps/Deployment', 'cert-manager', 'cert-manager'),
  workloadPart('apps/Deployment', 'the cert-manager CA injector', 'cert-manager-cainjector'),
  workloadPart('apps/Deployment', 'the cert-manager webhook', 'cert-manager-webhook'),
]

/** Webhooks for all clouds: nothing can be applied before they answer. */
const WEBHOOK_SERVICES = ['openstack', 'openstack-baremetal', 'infra'] as const

/** Service operators of all supported releases. */
const SERVICE_OPERATORS = [
  'barbican',
  'cinder',
  'designate',
  'glance',
  'heat',
  'horizon',
  'infra',
  'ironic',
  'keystone',
  'manila',
  'mariadb',
  'neutron',
  'nova',
  'octavia',
  'openstack-baremetal',
  'ovn',
  'placement',
  'rabbitmq-cluster',
  'swift',
  'telemetry',
] as const

export const openstackInitParts: readonly InstallationPart[] = [
  servedKindsPart('core.openstack.org/OpenStackControlPlane', 'network.openstack.org/NetConfig'),
  (context) => {
    const [openstack] = context.around.all('operator.openstack.org/OpenStack')
    return openstack ? liveReadiness(openstack, context) : progressing('OpenStack openstack to exist')
  },
  workloadPart('apps/Deployment', 'the openstack operator', 'openstack-operator-controller-manager'),
  ...SERVICE_OPERATORS.map((name) =>
    workloadPart('apps/Deployment', `the ${name} operator`, `${name}-operator-controller-manager`, `${name}-operator`),
  ),
  ...WEBHOOK_SERVICES.map((name) =>
    webhookPart(`the webhook service of the ${name} operator`, new RegExp(`^${name}-operator-webhook-service$`)),
  ),
]
