/**
 * What the operator runs, as data: each part has the kinds that it needs, its controllers, and its webhooks.
 *
 * A further part is one more entry of the list.
 */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { addressBlocks, type Spot } from '../../controllers/ipam/block.ts'
import { spotIn } from '../../controllers/ipam/decide.ts'
import { addressFigures } from '../../controllers/ipam/figures.ts'
import { ipSetController } from '../../controllers/ipam/ipset-controller.ts'
import { ownerOf } from '../../controllers/ipam/ledger.ts'
import { poolOf } from '../../controllers/ipam/pool.ts'
import { FINALIZERS, ipSets, netConfigs, reservations } from '../../controllers/ipam/reservation.ts'
import { type StatusForm, statusFormOf } from '../../controllers/ipam/status.ts'
import { createWorld, type World } from '../../controllers/ipam/world.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import type { KubeReader } from '../../kube/client.ts'
import type { Happening } from '../../kube/events.ts'
import type { Metrics } from '../../kube/metrics.ts'
import type { Runtime } from '../../kube/runtime.ts'
import { parseAddress } from '../../net/address.ts'
import type { NetworkView } from '../../webhooks/network-view.ts'
import { networkHandlers, type WebhookPlace, webhookConfigurations } from '../../webhooks/registration.ts'

export interface PartContext {
  readonly runtime: Runtime
  readonly metrics: Metrics
  readonly record: (happening: Happening) => void
}

export interface OperatorPart {
  readonly name: string
  /** Without these it cannot work. */
  readonly kinds: readonly GroupVersionKind[]
  /** Adds its controllers to the runtime; answers its webhooks, by path. */
  readonly start: (context: PartContext) => Readonly<Record<string, AdmissionHandler>>
  /** How the API server is told of its webhooks. */
  readonly registrations: (place: WebhookPlace, authority: string) => readonly KubeObject[]
}

export const parts: readonly OperatorPart[] = [
  {
    name: 'ipam',
    kinds: [netConfigs, ipSets, reservations, addressBlocks],
    start: startIpam,
    registrations: webhookConfigurations,
  },
]

function startIpam({ runtime, metrics, record }: PartContext): Readonly<Record<string, AdmissionHandler>> {
  const form = servedForm(runtime.client)
  const world = createWorld({ runtime, form, record })
  const controller = runtime.add(ipSetController(world))
  world.wake.enqueue = controller.enqueue
  addressFigures(metrics.registry, () => ({
    netConfigs: world.netConfigs.list(),
    ipSets: world.ipSets.list(),
    held: [...world.ledger.all()],
  }))
  return networkHandlers(networkView(world), FINALIZERS)
}

/** Which form of IPSets is served: asked once, and again while nobody answers. */
function servedForm(client: Pick<KubeReader, 'get'>): () => Promise<StatusForm> {
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
  let asked: Promise<StatusForm> | undefined
  return () => {
    asked ??= client
      .get({ ...crd, name: 'ipsets.network.openstack.org' })
      .then(statusFormOf)
      .catch((error: unknown) => {
        asked = undefined
        throw error
      })
    return asked
  }
}

function networkView(world: World): NetworkView {
  const list = async <T>(
    kind: GroupVersionKind,
    namespace: string,
    signal: AbortSignal,
  ): Promise<readonly T[]> =>
    (await world.client.list(kind, { namespace, signal })).items as unknown as readonly T[]
  return {
    knownNetConfigs: (namespace) => world.netConfigs.list(namespace),
    netConfigs: (namespace, signal) => list(netConfigs, namespace, signal),
    ipSets: (namespace, signal) => list(ipSets, namespace, signal),
    holderOf: (netConfig, network, subnet, address) => {
      const found = netConfig.spec.networks
        .find((one) => one.name === network)
        ?.subnets.find((one) => one.name === subnet)
      const pool = found && poolOf(netConfig, network, found)
      const read = parseAddress(address)
      const spot: Spot | undefined =
        pool && read?.family === pool.cidr.family ? spotIn(pool, read.value) : undefined
      const holder = spot && world.ledger.holder(spot)
      return holder && ownerOf(holder)
    },
    hasServiceNetwork: async () => (await world.form()) === 'today',
  }
}
