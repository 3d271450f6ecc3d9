/** The part that gives data plane hosts their addresses: NetConfig, IPSet, Reservation and the ledger. */
import { addressBlockKind } from '../../api/address-block.ts'
import { renderCrd } from '../../api/crd.ts'
import { ipSetKind, ipSets, reservationKind, reservations } from '../../api/ipset.ts'
import { netConfigKind, netConfigs, networkGroup } from '../../api/netconfig.ts'
import type { GroupVersionKind } from '../../api/object.ts'
import { registerAddressMetrics } from '../../controllers/ipam/address-metrics.ts'
import { addressBlocks, type SegmentAddress } from '../../controllers/ipam/block.ts'
import { ipSetController } from '../../controllers/ipam/ipset-controller.ts'
import { createIpSetObserver } from '../../controllers/ipam/ipset-observer.ts'
import { detectStatusForm, type StatusForm } from '../../controllers/ipam/ipset-status.ts'
import { ownerKey } from '../../controllers/ipam/ledger.ts'
import { segmentAddress } from '../../controllers/ipam/plan-allocation.ts'
import { parsePool } from '../../controllers/ipam/pool.ts'
import { IPSET_FINALIZERS } from '../../controllers/ipam/reservation.ts'
import { createWorld, type World } from '../../controllers/ipam/world.ts'
import { formatError } from '../../errors/failure.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import type { KubeReader } from '../../kube/client.ts'
import { parseAddress } from '../../net/address.ts'
import type { NetworkView } from '../../webhooks/network-view.ts'
import { networkHandlers, networkWebhooks } from '../../webhooks/network-webhooks.ts'
import { addressPools, attachments, findOtherAllocators } from '../../webhooks/other-allocators.ts'
import type { OperatorPart, PartContext, PolicyRule } from './part.ts'

/** Its schema says which form of IPSets is served. */
const IPSET_CRD = 'ipsets.network.openstack.org'

export const ipamPart: OperatorPart = {
  name: 'ipam',
  kinds: [netConfigs, ipSets, reservations, addressBlocks],
  highCardinalityKinds: [ipSets, reservations, addressBlocks],
  crds: {
    own: [renderCrd(addressBlockKind)],
    upstream: [netConfigKind, ipSetKind, reservationKind].map(renderCrd),
  },
  rules: [
    network(['netconfigs'], ['get', 'list', 'watch']),
    network(['ipsets'], ['get', 'list', 'watch', 'update']),
    // The second is asked for where a Reservation that blocks its owner's deletion is written (OpenShift does).
    network(['ipsets/status', 'ipsets/finalizers'], ['update']),
    network(['reservations'], ['get', 'list', 'watch', 'create', 'update', 'delete']),
    {
      apiGroups: [addressBlockKind.group],
      resources: [addressBlockKind.plural],
      verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
    },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: [IPSET_CRD],
      verbs: ['get'],
    },
    // Who else hands out addresses: NetConfigs that overlap with them are warned of.
    { apiGroups: ['metallb.io'], resources: ['ipaddresspools'], verbs: ['list'] },
    { apiGroups: ['k8s.cni.cncf.io'], resources: ['network-attachment-definitions'], verbs: ['list'] },
  ],
  webhooks: networkWebhooks,
  start: startIpam,
  observe: { kinds: [netConfigs, ipSets, reservations], start: observeIpam },
}

function network(resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { apiGroups: [networkGroup.group], resources, verbs }
}

function startIpam({ runtime, metrics, record }: PartContext): Readonly<Record<string, AdmissionHandler>> {
  const form = servedForm(runtime.client)
  const world = createWorld({ runtime, form, record })
  const controller = runtime.add(ipSetController(world))
  world.wake.enqueue = controller.enqueue
  registerAddressMetrics(metrics.registry, () => ({
    netConfigs: world.netConfigs.list(),
    ipSets: world.ipSets.list(),
    held: [...world.ledger.all()],
  }))
  return networkHandlers(networkView(world), IPSET_FINALIZERS)
}

function observeIpam({ runtime, metrics, record }: PartContext): void {
  const { controller, inventory } = createIpSetObserver(runtime, record)
  runtime.add(controller)
  registerAddressMetrics(metrics.registry, inventory)
}

/** Which form of IPSets is served: asked once, and again while nobody answers. */
function servedForm(client: Pick<KubeReader, 'get'>): () => Promise<StatusForm> {
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
  let asked: Promise<StatusForm> | undefined
  return () => {
    asked ??= client
      .get({ ...crd, name: IPSET_CRD })
      .then(detectStatusForm)
      .catch((error: unknown) => {
        asked = undefined
        throw error
      })
    return asked
  }
}

function networkView(world: World): NetworkView {
  const list = async <T>(kind: GroupVersionKind, namespace: string, signal: AbortSignal): Promise<readonly T[]> =>
    (await world.client.list(kind, { namespace, signal })).items as unknown as readonly T[]
  return {
    cachedNetConfigs: (namespace) => world.netConfigs.list(namespace),
    netConfigs: (namespace, signal) => list(netConfigs, namespace, signal),
    ipSets: (namespace, signal) => list(ipSets, namespace, signal),
    findHolder: (netConfig, network, subnet, address) => {
      const found = netConfig.spec.networks
        .find((one) => one.name === network)
        ?.subnets.find((one) => one.name === subnet)
      const pool = found && parsePool(netConfig, network, found)
      const read = parseAddress(address)
      const spot: SegmentAddress | undefined =
        pool && read?.family === pool.cidr.family ? segmentAddress(pool, read.value) : undefined
      const holder = spot && world.ledger.holder(spot)
      return holder && ownerKey(holder)
    },
    otherAllocators: async (namespace, signal) => {
      try {
        // Seldom asked, so listed when asked; a kind that nobody installed has no objects.
        const served = await Promise.all(
          [addressPools, attachments].map(async (kind) =>
            (await world.client.resource(kind)) ? (await world.client.list(kind, { signal })).items : [],
          ),
        )
        return findOtherAllocators(served.flat(), namespace)
      } catch (error) {
        return { problem: formatError(error) }
      }
    },
    hasServiceNetwork: async () => (await world.form()) === 'today',
  }
}
