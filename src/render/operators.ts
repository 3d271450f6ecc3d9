/**
 * Renders namespaces, and on OpenShift the operators that the clouds share: OperatorGroups, Subscriptions, operands.
 *
 * Plain Kubernetes has no OLM; `installRequirements` lists what must be installed there first.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { detectEra } from '../plan/slots/slots.ts'
import type { OperatorName } from '../site/site.ts'
import { addOwnershipLabels, ownershipLabels } from './labels.ts'
import { ARP_SETTINGS } from './node-tuning.ts'

interface Operator {
  readonly namespace: string
  readonly package: string
  readonly subscription: string
  readonly group: string
  /** Watches only its own namespace. */
  readonly ownNamespace?: boolean
}

const operators: Readonly<Record<OperatorName, Operator>> = {
  nmstate: {
    namespace: 'openshift-nmstate',
    package: 'kubernetes-nmstate-operator',
    subscription: 'kubernetes-nmstate-operator',
    group: 'openshift-nmstate',
    ownNamespace: true,
  },
  metallb: {
    namespace: 'metallb-system',
    package: 'metallb-operator',
    subscription: 'metallb-operator-sub',
    group: 'metallb-operator',
  },
  certManager: {
    namespace: 'cert-manager-operator',
    package: 'openshift-cert-manager-operator',
    subscription: 'openshift-cert-manager-operator',
    group: 'cert-manager-operator',
    ownNamespace: true,
  },
  openstack: {
    namespace: 'openstack-operators',
    package: 'openstack-operator',
    subscription: 'openstack-operator',
    // Without target namespaces one operator serves every cloud.
    group: 'openstack',
  },
}

export function renderOperator(plan: Plan, name: OperatorName): readonly KubeObject[] {
  if (plan.from.cluster.platform !== 'openshift') return []
  const operator = operators[name]
  const source = plan.from.cluster.operators[name]
  const namespace = name === 'metallb' ? plan.from.cluster.metallb.namespace : operator.namespace
  const catalog = source.source ?? `${operator.package}-index`
  const catalogNamespace = source.sourceNamespace ?? namespace
  const objects: readonly KubeObject[] = [
    {
      apiVersion: 'operators.coreos.com/v1',
      kind: 'OperatorGroup',
      metadata: { name: operator.group, namespace },
      spec: operator.ownNamespace ? { targetNamespaces: [namespace] } : {},
    },
    ...(source.image ? [catalogSource(catalog, catalogNamespace, source.image)] : []),
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { name: operator.subscription, namespace },
      spec: {
        channel: source.channel,
        name: operator.package,
        source: catalog,
        sourceNamespace: catalogNamespace,
      },
    },
  ]
  return [renderNamespace(plan, namespace), ...objects.map((object) => addOwnershipLabels(object, { site: plan.site }))]
}

function catalogSource(name: string, namespace: string, image: string): KubeObject {
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'CatalogSource',
    metadata: { name, namespace },
    spec: { sourceType: 'grpc', image, displayName: name },
  }
}

const WORKERS = { 'node-role.kubernetes.io/worker': '' }

export function renderNmstateOperand(plan: Plan): readonly KubeObject[] {
  return operand(plan, { apiVersion: 'nmstate.io/v1', kind: 'NMState', metadata: { name: 'nmstate' }, spec: {} })
}

export function renderMetalLbOperand(plan: Plan): readonly KubeObject[] {
  return operand(plan, {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'MetalLB',
    metadata: { name: 'metallb', namespace: plan.from.cluster.metallb.namespace },
    spec: { nodeSelector: WORKERS },
  })
}

/** Starts the service operators; in the 2023 release the Subscription alone did that. */
export function renderOpenStackOperand(plan: Plan): readonly KubeObject[] {
  if (detectEra(plan.slots) === '2023') return []
  return operand(plan, {
    apiVersion: 'operator.openstack.org/v1beta1',
    kind: 'OpenStack',
    metadata: { name: 'openstack', namespace: operators.openstack.namespace },
    spec: {},
  })
}

function operand(plan: Plan, object: KubeObject): readonly KubeObject[] {
  return plan.from.cluster.platform === 'openshift' ? [addOwnershipLabels(object, { site: plan.site })] : []
}

/** Programs that must be installed before the documents can be applied; empty on OpenShift. */
export function installRequirements(plan: Plan): readonly string[] {
  if (plan.from.cluster.platform === 'openshift') return []
  const { namespace: metallb, mode } = plan.from.cluster.metallb
  return [
    'kubernetes-nmstate: operator, webhook and a handler on every node of the site',
    `MetalLB in the namespace ${metallb}: controller, webhook and a speaker on every node${mode === 'bgp' ? ' (FRR mode)' : ''}`,
    'cert-manager',
    'Multus, with the CNI plugins macvlan, bridge, static and whereabouts',
    'the OpenStack operators and the CRDs of their release',
    ...(plan.from.cluster.isolation.nodeAddresses === 'own-segment'
      ? [`${ARP_SETTINGS.join(' and ')} on every node, in a file of /etc/sysctl.d`]
      : []),
  ]
}

/** Without it OpenShift computes the label `enforce` itself and overwrites ours. */
const NO_SYNC = { 'security.openshift.io/scc.podSecurityLabelSync': 'false' }

/** Privileged, because OpenStack pods need it. Sets only our labels, so that applying keeps those of others. */
export function renderCloudNamespace(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'privileged',
    ...(plan.from.cluster.platform === 'openshift' && NO_SYNC),
    ...ownershipLabels({ site: plan.site, cloud: cloud.name }),
  }
  return [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: cloud.namespace, labels } }]
}

function renderNamespace(plan: Plan, name: string): KubeObject {
  return addOwnershipLabels({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { site: plan.site })
}
