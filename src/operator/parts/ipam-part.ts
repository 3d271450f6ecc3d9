/** Defines the operator part that assigns addresses to data plane hosts: NetConfig, IPSet, Reservation, AddressBlock. */
import { addressBlockKind, addressBlocks } from '../../api/address-block.ts'
import { renderCrd } from '../../api/crd.ts'
import { ipSetKind, ipSets, reservationKind, reservations } from '../../api/ipset.ts'
import { netConfigs, networkGroup } from '../../api/netconfig.ts'
import { netConfigKind } from '../../api/netconfig-kind.ts'
import type { GroupVersionKind } from '../../api/object.ts'
import { registerAddressMetrics } from '../../controllers/ipam/address-metrics.ts'
import { parsePool, segmentAddress } from '../../controllers/ipam/claim.ts'
import { type IpamState, startIpSetController } from '../../controllers/ipam/ipset-controller.ts'
import { createIpSetObserver } from '../../controllers/ipam/ipset-observer.ts'
import { detectStatusForm, IPSET_FINALIZERS, type StatusForm } from '../../controllers/ipam/ipset-results.ts'
import { ownerKey } from '../../controllers/ipam/ledger.ts'
import { formatError } from '../../errors/failure.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import type { KubeReader } from '../../kube/client.ts'
import { parseAddress } from '../../net/address.ts'
import { lastAddress } from '../../net/cidr.ts'
import { type NetworkView, networkHandlers, networkWebhooks } from '../../webhooks/network-webhooks.ts'
import { addressPools, attachments, findOtherAllocators } from '../../webhooks/other-allocators.ts'
import type { OperatorPart, PartContext, PolicyRule } from './part.ts'

/** Its schema shows which form of the IPSet status is served. */
const IPSET_CRD = 'ipsets.network.openstack.org'

export const ipamPart: OperatorPart = {
  name: 'ipam',
  kinds: [netConfigs, ipSets, reservations, addressBlocks],
  highCardinalityKinds: [ipSets, reservations, addressBlocks],
  // The ledger has what they hold.
  indexedKinds: [addressBlocks],
  crds: {
    own: [renderCrd(addressBlockKind)],
    upstream: [netConfigKind, ipSetKind, reservationKind].map(renderCrd),
  },
  rules: [
    networkRule(['netconfigs'], ['get', 'list', 'watch'], 'read subnets and ranges'),
    networkRule(['ipsets'], ['get', 'list', 'watch', 'update'], 'assign addresses; set and remove the finalizer'),
    networkRule(['ipsets/status'], ['update'], 'report addresses and conditions'),
    networkRule(
      ['ipsets/finalizers'],
      ['update'],
      'own Reservations that block the deletion of an IPSet, on OpenShift',
    ),
    networkRule(
      ['reservations'],
      ['get', 'list', 'watch', 'create', 'update', 'delete'],
      'record the addresses of an IPSet for other programs',
    ),
    {
      apiGroups: [addressBlockKind.group],
      resources: [addressBlockKind.plural],
      verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
      scope: 'cluster',
      reason: 'record the owner of every address of a segment',
    },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: [IPSET_CRD],
      verbs: ['get'],
      scope: 'cluster',
      reason: 'find out which form of the IPSet status is served',
    },
    {
      apiGroups: ['metallb.io'],
      resources: ['ipaddresspools'],
      verbs: ['list'],
      scope: 'cluster',
      reason: 'warn of a NetConfig whose ranges overlap a MetalLB pool',
    },
    {
      apiGroups: ['k8s.cni.cncf.io'],
      resources: ['network-attachment-definitions'],
      verbs: ['list'],
      scope: 'cluster',
      reason: 'warn of a NetConfig whose ranges overlap those of pods',
    },
  ],
  webhooks: networkWebhooks,
  start: startIpam,
  observe: { kinds: [netConfigs, ipSets, reservations], start: observeIpam },
}

function networkRule(resources: readonly string[], verbs: readonly string[], reason: string): PolicyRule {
  return { apiGroups: [networkGroup.group], resources, verbs, reason }
}

function startIpam(context: PartContext): Readonly<Record<string, AdmissionHandler>> {
  const { runtime, metrics, record, segmentOwners = [] } = context
  const statusForm = detectServedForm(runtime.client)
  const state = startIpSetController({ runtime, statusForm, record, segmentOwners })
  registerAddressMetrics(metrics.registry, () => ({
    netConfigs: state.netConfigs.list(),
    ipSets: state.ipSets.list(),
    findHeld: (pool) => state.ledger.heldIn(segmentAddress(pool, pool.cidr.base), lastAddress(pool.cidr)),
  }))
  return networkHandlers(networkView(runtime.client, state, statusForm), IPSET_FINALIZERS)
}

function observeIpam({ runtime, metrics, record }: PartContext): void {
  const { controller, inventory } = createIpSetObserver(runtime, record)
  runtime.add(controller)
  registerAddressMetrics(metrics.registry, inventory)
}

/** Reads the CRD once; a failed read is repeated by the next call. */
function detectServedForm(client: Pick<KubeReader, 'get'>): () => Promise<StatusForm> {
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: IPSET_CRD }
  let form: Promise<StatusForm> | undefined
  return () => {
    form ??= client
      .get(crd)
      .then(detectStatusForm)
      .catch((error: unknown) => {
        form = undefined
        throw error
      })
    return form
  }
}

function networkView(
  client: KubeReader,
  state: Pick<IpamState, 'netConfigs' | 'ledger'>,
  statusForm: () => Promise<StatusForm>,
): NetworkView {
  const list = async <T>(kind: GroupVersionKind, namespace: string, signal: AbortSignal): Promise<readonly T[]> =>
    (await client.list(kind, { namespace, signal })).items as unknown as readonly T[]
  return {
    cachedNetConfigs: (namespace) => state.netConfigs.list(namespace),
    netConfigs: (namespace, signal) => list(netConfigs, namespace, signal),
    ipSets: (namespace, signal) => list(ipSets, namespace, signal),
    findHolder: (netConfig, networkName, subnetName, text) => {
      const network = netConfig.spec.networks.find(({ name }) => name === networkName)
      const subnet = network?.subnets.find(({ name }) => name === subnetName)
      const pool = subnet && parsePool(netConfig, networkName, subnet)
      const address = parseAddress(text)
      if (!pool || address?.family !== pool.cidr.family) return undefined
      const holder = state.ledger.holder(segmentAddress(pool, address.value))
      return holder && ownerKey(holder)
    },
    otherAllocators: async (namespace, signal) => {
      try {
        // Listed on demand, because it is needed rarely; a kind that is not installed has no objects.
        const objects = await Promise.all(
          [addressPools, attachments].map(async (kind) =>
            (await client.resource(kind)) ? (await client.list(kind, { signal })).items : [],
          ),
        )
        return findOtherAllocators(objects.flat(), namespace)
      } catch (error) {
        return { problem: formatError(error) }
      }
    },
    hasServiceNetwork: async () => (await statusForm()) === 'current',
  }
}
