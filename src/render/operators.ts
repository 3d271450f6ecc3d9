/**
 * What the clouds share on OpenShift: the operators, as OperatorGroup and Subscription, and the resources that turn
 * them on. On plain Kubernetes there is no OLM: `requirements` says what must be there already.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan } from '../plan/plan.ts'
import { detectEra } from '../plan/slots/slots.ts'
import type { OperatorName } from '../site/site.ts'
import { addOwnershipLabels } from './labels.ts'
import { namespace } from './namespaces.ts'

interface Operator {
  readonly namespace: string
  readonly package: string
  readonly subscription: string
  readonly group: string
  /** Watches its own namespace only; the others watch all. */
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
    // No target namespaces: one operator serves every cloud.
    group: 'openstack',
  },
}

/** Namespace, OperatorGroup and Subscription of one operator; nothing on plain Kubernetes. */
export function renderOperator(plan: Plan, name: OperatorName): readonly KubeObject[] {
  if (plan.from.cluster.platform !== 'openshift') return []
  const operator = operators[name]
  const source = plan.from.cluster.operators[name]
  const at = name === 'metallb' ? plan.from.cluster.metallb.namespace : operator.namespace
  const catalog = source.image ? `${operator.package}-index` : source.source
  const objects: readonly KubeObject[] = [
    {
      apiVersion: 'operators.coreos.com/v1',
      kind: 'OperatorGroup',
      metadata: { name: operator.group, namespace: at },
      spec: operator.ownNamespace ? { targetNamespaces: [at] } : {},
    },
    ...(source.image ? [catalogSource(catalog, at, source.image)] : []),
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { name: operator.subscription, namespace: at },
      spec: {
        channel: source.channel,
        name: operator.package,
        source: catalog,
        sourceNamespace: source.image ? at : source.sourceNamespace,
      },
    },
  ]
  return [namespace(plan, at), ...objects.map((object) => addOwnershipLabels(object, { site: plan.site }))]
}

function catalogSource(name: string, at: string, image: string): KubeObject {
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'CatalogSource',
    metadata: { name, namespace: at },
    spec: { sourceType: 'grpc', image, displayName: name },
  }
}

const WORKERS = { 'node-role.kubernetes.io/worker': '' }

export function renderNmstateOperand(plan: Plan): readonly KubeObject[] {
  return operand(plan, {
    apiVersion: 'nmstate.io/v1',
    kind: 'NMState',
    metadata: { name: 'nmstate' },
    spec: {},
  })
}

export function renderMetalLbOperand(plan: Plan): readonly KubeObject[] {
  return operand(plan, {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'MetalLB',
    metadata: { name: 'metallb', namespace: plan.from.cluster.metallb.namespace },
    spec: { nodeSelector: WORKERS },
  })
}

/** What turns the service operators on; in 2023 they came with the Subscription alone. */
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

/** What must be installed before the documents mean anything, where no OLM installs it; empty on OpenShift. */
export function installRequirements(plan: Plan): readonly string[] {
  if (plan.from.cluster.platform === 'openshift') return []
  const { namespace: metallb, mode } = plan.from.cluster.metallb
  return [
    'kubernetes-nmstate: operator, webhook and a handler on every node of the site',
    `MetalLB in the namespace ${metallb}: controller, webhook and a speaker on every node${mode === 'bgp' ? ' (FRR mode)' : ''}`,
    'cert-manager',
    'Multus, with the CNI plugins macvlan, bridge, static and whereabouts',
    'the OpenStack operators and the CRDs of their release',
  ]
}
