/**
 * Simulates Multus and whereabouts: allocates an address for each requested network and writes it to the IPPool of whereabouts
 * and to the network-status of the pod. As with Multus, a missing network keeps the pod from starting. No interface is created.
 */

import { asList, asString, asStrings, isRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { NETWORK_STATUS, requestedNetworks } from '../../api/pod-networks.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Address, formatAddress, parseAddress, plus } from '../../net/address.ts'
import { parseRange, rangeContains } from '../../net/range.ts'

const ATTACHMENT = { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' }
const POOL = { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool', namespace: 'kube-system' }
const MANAGER = 'actor-multus'
/** Multus lists the network of all pods first, by the name in its configuration. */
const POD_NETWORK = 'pod-network'
/** Write attempts for one pool in case of conflicts. */
const TRIES = 20

/** One range of whereabouts and the IPPool that records its allocations. */
interface AllocationRange {
  readonly pool: string
  readonly range: string
  readonly first: Address
  readonly last: Address
  readonly exclude: readonly string[]
}

/** Attaches the requested networks of a pod; returns false while one of them does not exist. */
export async function attachNetworks(client: KubeClient, pod: KubeObject, podAddress: string): Promise<boolean> {
  const requests = requestedNetworks(pod)
  if (requests.length === 0 || pod.metadata.annotations?.[NETWORK_STATUS] !== undefined) return true
  if (!(await client.resource(ATTACHMENT))) return true
  const status: object[] = [{ name: POD_NETWORK, interface: 'eth0', ips: [podAddress], default: true, dns: {} }]
  for (const [index, { namespace, name, interface: requested }] of requests.entries()) {
    const interfaceName = requested ?? `net${index + 1}`
    const definition = await client.get({ ...ATTACHMENT, namespace, name })
    if (!definition) return false
    const ips: string[] = []
    for (const range of parseAllocationRanges(definition))
      ips.push(await allocateAddress(client, range, pod, interfaceName))
    status.push({ name: `${namespace}/${name}`, interface: interfaceName, ips, dns: {} })
  }
  const { namespace = '', name } = pod.metadata
  await client.patch(
    { apiVersion: 'v1', kind: 'Pod', namespace, name },
    { metadata: { annotations: { [NETWORK_STATUS]: JSON.stringify(status) } } },
    { type: 'merge', fieldManager: MANAGER },
  )
  return true
}

/** Releases the addresses of a pod, which may be gone already. */
export async function releaseAddresses(client: KubeClient, pod: Pick<KubeObject, 'metadata'>): Promise<void> {
  if (!(await client.resource(POOL))) return
  const { namespace, ...kind } = POOL
  const isHeldByOther = ([, { podref }]: readonly [string, { readonly podref: string }]): boolean =>
    podref !== podRef(pod)
  for (const { metadata } of (await client.list(kind, { namespace })).items) {
    await updatePool(client, metadata.name, undefined, (held) => {
      const kept = Object.entries(held).filter(isHeldByOther)
      return kept.length === Object.keys(held).length ? held : Object.fromEntries(kept)
    })
  }
}

function podRef({ metadata: { namespace = '', name } }: Pick<KubeObject, 'metadata'>): string {
  return `${namespace}/${name}`
}

function parseAllocationRanges(definition: KubeObject): readonly AllocationRange[] {
  const { config } = (definition['spec'] ?? {}) as { readonly config?: string }
  const parsed: unknown = JSON.parse(config ?? '{}')
  const ipam = isRecord(parsed) ? parsed['ipam'] : undefined
  if (!isRecord(ipam) || ipam['type'] !== 'whereabouts') return []
  const network = asString(ipam['network_name'])
  const ranges = asList(ipam['ipRanges'])
  return (ranges.length > 0 ? ranges : [ipam]).filter(isRecord).flatMap((settings) => {
    const range = asString(settings['range']) ?? ''
    const whole = parseRange(range)
    if (!whole) return []
    const { family } = whole
    return [
      {
        pool: [network, range.replaceAll(/[:/]/g, '-')].filter((part) => part !== undefined).join('-'),
        range,
        first: parseAddress(asString(settings['range_start']) ?? '') ?? { family, value: whole.first + 1n },
        last: parseAddress(asString(settings['range_end']) ?? '') ?? { family, value: whole.last - 1n },
        exclude: asStrings(settings['exclude']),
      },
    ]
  })
}

/** By offset from the range's first address. */
type Allocations = Readonly<Record<string, { readonly id: string; readonly podref: string }>>

async function allocateAddress(
  client: KubeClient,
  range: AllocationRange,
  pod: KubeObject,
  ifname: string,
): Promise<string> {
  const base = parseRange(range.range)?.first ?? 0n
  let assigned: Address | undefined
  await updatePool(client, range.pool, range.range, (held) => {
    const existing = Object.entries(held).find(([, { podref }]) => podref === podRef(pod))
    assigned = existing
      ? { family: range.first.family, value: base + BigInt(existing[0]) }
      : lowestFreeAddress(range, held, base)
    if (existing) return held
    const entry = { id: pod.metadata.uid ?? '', podref: podRef(pod), ifname }
    return { ...held, [String(assigned.value - base)]: entry }
  })
  return assigned ? formatAddress(assigned) : ''
}

function lowestFreeAddress({ first, last, exclude }: AllocationRange, held: Allocations, base: bigint): Address {
  const excluded = exclude.flatMap((text) => parseRange(text) ?? [])
  for (let address: Address | undefined = first; address && address.value <= last.value; address = plus(address, 1)) {
    const candidate = address
    const isFree =
      !(String(candidate.value - base) in held) && !excluded.some((range) => rangeContains(range, candidate))
    if (isFree) return candidate
  }
  throw new Error(`Could not allocate IP in range: ip: ${formatAddress(first)} / - ${formatAddress(last)}`)
}

/** Updates the allocations of a pool and retries on conflicts. */
async function updatePool(
  client: KubeClient,
  name: string,
  range: string | undefined,
  next: (held: Allocations) => Allocations,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const live = await client.get({ ...POOL, name })
    if (!live && range === undefined) return
    const { allocations = {}, ...spec } = (live?.['spec'] ?? { range }) as { allocations?: Allocations }
    const updated = next(allocations)
    if (live && updated === allocations) return
    const { namespace, ...kind } = POOL
    const object = { ...kind, metadata: live?.metadata ?? { name, namespace }, spec: { ...spec, allocations: updated } }
    try {
      await (live ? client.update(object, { fieldManager: MANAGER }) : client.create(object, { fieldManager: MANAGER }))
      return
    } catch (thrown) {
      if (!isApiError(thrown, 'conflict', 'already-exists')) throw thrown
    }
  }
  throw new Error(`IPPool ${name} has too many write conflicts`)
}
