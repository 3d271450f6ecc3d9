/**
 * A cloud as install_yamls and the scripts of its fork leave it: pools without scope that give addresses to anybody,
 * advertisements without nodes, attachments without `network_name`, node policies called after interface and node,
 * and a control plane from upstream's sample with annotations in the old spelling only.
 */
import type { KubeObject } from '../../../src/api/object.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../../../src/plan/plan.ts'
import { renderControlPlane } from '../../../src/render/control-plane/control-plane.ts'
import { fieldsOf, mergeRaw, withValue } from '../../../src/render/merge.ts'
import { rangeText, spansOf } from '../../../src/render/spans.ts'
import { ingressOf } from '../../../src/verify/readiness/services.ts'

export interface InstalledBy {
  /** What the script calls the pool of a network. */
  readonly pool: (network: string) => string
  /** The fork's later scripts scope their pools. */
  readonly scoped?: boolean
}

export const SAMPLE = 'openstack-galera-network-isolation'
const OLD = 'metallb.universe.tf'
const PINNED = `${OLD}/loadBalancerIPs`
const POOLED = ['ctlplane', 'internalapi', 'storage', 'tenant', 'designateext']

export function installedObjects(plan: Plan, cloud: PlannedCloud, by: InstalledBy): readonly KubeObject[] {
  const { namespace } = cloud
  const pooled = cloud.networks.filter(({ name }) => POOLED.includes(name))
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'osp-secret', namespace },
      stringData: { AdminPassword: 'x' },
    },
    ...pooled.flatMap((network) => [pool(cloud, network, by), advertisement(network, by)]),
    ...cloud.networks
      .filter(({ subnets }) => subnets.length > 0)
      .map((network) => attachment(namespace, network)),
    ...plan.from.cluster.nodes.map(({ name }) => policy(name, namespace)),
    controlPlane(plan, cloud, by),
  ]
}

function pool({ namespace }: PlannedCloud, network: PlannedNetwork, by: InstalledBy): KubeObject {
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'IPAddressPool',
    metadata: { name: by.pool(network.name), namespace: 'metallb-system' },
    spec: {
      addresses: network.subnets.flatMap((subnet) => spansOf(subnet, 'vips').map(rangeText)),
      ...(network.name === 'designateext' && { autoAssign: false }),
      ...(by.scoped && { serviceAllocation: { namespaces: [namespace] } }),
    },
  }
}

function advertisement(network: PlannedNetwork, by: InstalledBy): KubeObject {
  const name = by.pool(network.name)
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'L2Advertisement',
    metadata: { name, namespace: 'metallb-system' },
    spec: { ipAddressPools: [name], interfaces: [network.interface] },
  }
}

function attachment(namespace: string, { name, interface: master, subnets }: PlannedNetwork): KubeObject {
  const base = (subnets[0]?.cidr ?? '').replace(/\.0\/24$/, '')
  const ipam = {
    type: 'whereabouts',
    range: `${base}.0/24`,
    range_start: `${base}.30`,
    range_end: `${base}.70`,
  }
  const config = { cniVersion: '0.3.1', name, type: 'macvlan', master, ipam }
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name, namespace },
    spec: { config: JSON.stringify(config, null, 2) },
  }
}

/** Of nobody's cloud: the last `make nncp` wins. */
function policy(node: string, namespace: string): KubeObject {
  return {
    apiVersion: 'nmstate.io/v1',
    kind: 'NodeNetworkConfigurationPolicy',
    metadata: { name: `enp6s0-${node}`, labels: { 'osp/interface': 'enp6s0' }, annotations: { namespace } },
    spec: { nodeSelector: { 'kubernetes.io/hostname': node, 'node-role.kubernetes.io/worker': '' } },
  }
}

/** The same services as planned, asked for as the sample does: one spelling, the script's pools, one address left open. */
function controlPlane(plan: Plan, cloud: PlannedCloud, by: InstalledBy): KubeObject {
  const rendered = renderControlPlane(plan, cloud).find(({ kind }) => kind === 'OpenStackControlPlane')
  const names = new Map(cloud.networks.map(({ name, pool: own }) => [own, by.pool(name)]))
  const open = [
    ...'barbican.template.barbicanAPI.override.service.internal.metadata.annotations'.split('.'),
    PINNED,
  ]
  const spec = mergeRaw(fieldsOf(inOldWords(rendered?.['spec'], names)), fieldsOf(withValue({}, open, null)))
  return {
    apiVersion: 'core.openstack.org/v1beta1',
    kind: 'OpenStackControlPlane',
    metadata: { name: SAMPLE, namespace: cloud.namespace, labels: { 'created-by': 'install_yamls' } },
    spec,
  }
}

function inOldWords(value: unknown, names: ReadonlyMap<string | undefined, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => inOldWords(one, names))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => !key.startsWith('metallb.io/'))
  return Object.fromEntries(
    entries.map(([key, one]) => [
      key,
      key.startsWith(OLD) ? (names.get(one as string) ?? one) : inOldWords(one, names),
    ]),
  )
}

/** As `oc apply` writes it. */
export async function installCloud(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const { apiVersion, kind, metadata } = object
    if (await client.get({ apiVersion, kind, ...metadata })) continue
    await client.create(object, { fieldManager: 'kubectl-client-side-apply' })
  }
}

/** `name -> addresses` of a namespace's LoadBalancer Services. */
export async function addressesIn(
  client: KubeClient,
  namespace: string,
): Promise<ReadonlyMap<string, string>> {
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Service' }, { namespace })
  const balancers = items.filter((one) => (one['spec'] as { type?: string }).type === 'LoadBalancer')
  return new Map(balancers.map((one) => [one.metadata.name, ingressOf(one).join(',')]))
}

/** Until the operators and MetalLB have done their part. */
export async function settled(
  client: KubeClient,
  namespace: string,
  services: number,
): Promise<ReadonlyMap<string, string>> {
  for (;;) {
    const addresses = await addressesIn(client, namespace)
    if (addresses.size >= services && [...addresses.values()].every((one) => one !== '')) return addresses
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
