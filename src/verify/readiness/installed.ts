/**
 * Operators that must really run before their stage may end: every part by name, the missing one named.
 *
 * Found by the labels and names that upstream gives them; where they live depends on who installed them, so a part
 * is looked for in every namespace and an installation by somebody else counts.
 */
import type { KubeObject } from '../../api/object.ts'
import { conditionOf, nameOf, textAt } from '../../api/raw-object.ts'
import { isBeingDeleted } from './deletion.ts'
import { readinessOfLive } from './readiness.ts'
import { hasEndpoints } from './services.ts'
import { progressing, type Readiness, type ReadinessContext, ready, worst } from './verdict.ts'

/** One part of an installation. */
export type Part = (context: ReadinessContext) => Readiness

export function installedReadiness(parts: readonly Part[], context: ReadinessContext): Readiness {
  return worst(parts.map((part) => part(context)))
}

/** A workload by one of its usual names, available. */
function deployed(
  groupKind: 'apps/Deployment' | 'apps/DaemonSet',
  what: string,
  ...names: readonly string[]
): Part {
  return (context) => {
    const found = context.around.all(groupKind).find(({ metadata }) => names.includes(metadata.name))
    return found ? readinessOfLive(found, context) : progressing(`${what} (${names[0]}) to exist`)
  }
}

/** A pod of a node agent, ready, on every node of the site. */
function onEveryNode(what: string, ...components: readonly string[]): Part {
  return (context) => {
    const pods = context.around
      .all('Pod')
      .filter(({ metadata }) => components.includes(metadata.labels?.['component'] ?? ''))
    const missing = context.nodes.filter(
      (node) => !pods.some((pod) => textAt(pod, 'spec', 'nodeName') === node && isReady(pod)),
    )
    const [first] = missing
    if (first === undefined) return ready
    const pod = pods.find((one) => textAt(one, 'spec', 'nodeName') === first)
    return pod ? readinessOfLive(pod, context) : progressing(`${what} on node ${first}`)
  }
}

function isReady(pod: KubeObject): boolean {
  return conditionOf(pod, 'Ready')?.status === 'True' && !isBeingDeleted(pod)
}

/** Kinds that the API server must serve: a CRD that exists but is not established serves nothing. */
function served(...groupKinds: readonly string[]): Part {
  return ({ around }) => {
    const missing = groupKinds.find((groupKind) => around.unread(groupKind) !== undefined)
    return missing === undefined ? ready : progressing(`the kind ${missing} to be served`)
  }
}

/** Webhook Services that somebody answers for: a Service alone refuses every write. */
function serving(what: string, pattern: RegExp): Part {
  return ({ around }) => {
    const services = around.all('Service').filter(({ metadata }) => pattern.test(metadata.name))
    if (services.length === 0) return progressing(`${what} to exist`)
    const silent = services.find(
      ({ metadata }) => !hasEndpoints(around, metadata.namespace ?? '', metadata.name),
    )
    return silent ? progressing(`${nameOf(silent)} to have endpoints`) : ready
  }
}

export const nmstateParts: readonly Part[] = [
  served('nmstate.io/NodeNetworkConfigurationPolicy', 'nmstate.io/NodeNetworkConfigurationEnactment'),
  deployed('apps/Deployment', 'the nmstate operator', 'nmstate-operator', 'kubernetes-nmstate-operator'),
  deployed('apps/Deployment', 'the nmstate webhook', 'nmstate-webhook'),
  onEveryNode('the nmstate handler', 'kubernetes-nmstate-handler'),
]

export const metallbParts: readonly Part[] = [
  served('metallb.io/IPAddressPool', 'metallb.io/L2Advertisement'),
  deployed('apps/Deployment', 'the MetalLB controller', 'controller', 'metallb-controller'),
  serving('the MetalLB webhook server', /^(metallb-)?(operator-)?webhook-(server-)?service$/),
  onEveryNode('the MetalLB speaker', 'speaker'),
]

export const certManagerParts: readonly Part[] = [
  served('cert-manager.io/Certificate', 'cert-manager.io/Issuer'),
  deployed('apps/Deployment', 'cert-manager', 'cert-manager'),
  deployed('apps/Deployment', 'the cert-manager CA injector', 'cert-manager-cainjector'),
  deployed('apps/Deployment', 'the cert-manager webhook', 'cert-manager-webhook'),
]

/** What `OpenStack` brings: these serve admission for every cloud, so nothing may be applied before they answer. */
const WEBHOOK_SERVICES = ['openstack', 'openstack-baremetal', 'infra'] as const

/** Each service operator that document 000 and today's bundle have. */
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

export const openstackInitParts: readonly Part[] = [
  served('core.openstack.org/OpenStackControlPlane', 'network.openstack.org/NetConfig'),
  (context) => {
    const [openstack] = context.around.all('operator.openstack.org/OpenStack')
    return openstack ? readinessOfLive(openstack, context) : progressing('OpenStack openstack to exist')
  },
  deployed('apps/Deployment', 'the openstack operator', 'openstack-operator-controller-manager'),
  ...SERVICE_OPERATORS.map((name) =>
    deployed(
      'apps/Deployment',
      `the ${name} operator`,
      `${name}-operator-controller-manager`,
      `${name}-operator`,
    ),
  ),
  ...WEBHOOK_SERVICES.map((name) =>
    serving(`the webhook service of the ${name} operator`, new RegExp(`^${name}-operator-webhook-service$`)),
  ),
]
