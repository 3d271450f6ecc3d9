/**
 * Multus and whereabouts, as a kubelet meets them when it starts a pod: each network that the pod asks for gives it an
 * address, which is written into whereabouts' IPPool and into the pod's network-status. No interface is made.
 *
 * Follows Multus (`k8s.v1.cni.cncf.io/networks`, long and short form) and whereabouts (lowest free address of the range,
 * IPPools named by network and range). A network that does not exist keeps the pod from starting, as it does there.
 */

import { asList, asString, asStrings, isRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Address, formatAddress, parseAddress, plus } from '../../net/address.ts'
import { parseRange, rangeContains } from '../../net/range.ts'

const ATTACHMENT = { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' }
const POOL = { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool', namespace: 'kube-system' }
const NETWORKS = 'k8s.v1.cni.cncf.io/networks'
const STATUS = 'k8s.v1.cni.cncf.io/network-status'
const MANAGER = 'actor-multus'
/** How often a pool is written anew after somebody else was faster. */
const TRIES = 20

interface AttachmentRequest {
  readonly namespace: string
  readonly name: string
  readonly interface: string
}

/** One range of whereabouts, and the book in which it counts. */
interface AllocationRange {
  readonly pool: string
  readonly range: string
  readonly first: Address
  readonly last: Address
  readonly exclude: readonly string[]
}

/** Attaches a pod that asks for networks; false while one of them is not there. */
export async function attachNetworks(client: KubeClient, pod: KubeObject): Promise<boolean> {
  const wishes = parseAttachmentRequests(pod)
  if (wishes.length === 0 || pod.metadata.annotations?.[STATUS] !== undefined) return true
  if (!(await client.resource(ATTACHMENT))) return true
  const status: object[] = []
  for (const wish of wishes) {
    const { namespace, name } = wish
    const definition = await client.get({ ...ATTACHMENT, namespace, name })
    if (!definition) return false
    const ips: string[] = []
    for (const book of parseAllocationRanges(definition))
      ips.push(await allocateAddress(client, book, pod, wish.interface))
    status.push({ name: `${namespace}/${name}`, interface: wish.interface, ips })
  }
  const { namespace = '', name } = pod.metadata
  await client.patch(
    { apiVersion: 'v1', kind: 'Pod', namespace, name },
    { metadata: { annotations: { [STATUS]: JSON.stringify(status) } } },
    { type: 'merge', fieldManager: MANAGER },
  )
  return true
}

/** Gives back what a pod had. */
export async function detachNetworks(client: KubeClient, pod: KubeObject): Promise<void> {
  if (pod.metadata.annotations?.[STATUS] === undefined) return
  for (const { namespace, name } of parseAttachmentRequests(pod)) {
    const definition = await client.get({ ...ATTACHMENT, namespace, name })
    for (const { pool } of definition ? parseAllocationRanges(definition) : []) {
      await updatePool(client, pool, undefined, (held) =>
        Object.fromEntries(Object.entries(held).filter(([, { podref }]) => podref !== podRef(pod))),
      )
    }
  }
}

function podRef({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${namespace}/${name}`
}

function parseAttachmentRequests({ metadata }: KubeObject): readonly AttachmentRequest[] {
  const text = metadata.annotations?.[NETWORKS] ?? ''
  const long: unknown = text.trimStart().startsWith('[') ? JSON.parse(text) : undefined
  const named = Array.isArray(long)
    ? long.filter(isRecord).map((one) => ({
        namespace: asString(one['namespace']),
        name: asString(one['name']) ?? '',
        interface: asString(one['interface']),
      }))
    : text.split(',').flatMap((word) => {
        const [, namespace, name, face] = /^(?:([^/@]+)\/)?([^@]+)(?:@(.+))?$/.exec(word.trim()) ?? []
        return name === undefined ? [] : [{ namespace, name, interface: face }]
      })
  return named.map((one, at) => ({
    namespace: one.namespace ?? metadata.namespace ?? '',
    name: one.name,
    interface: one.interface ?? `net${at + 1}`,
  }))
}

function parseAllocationRanges(definition: KubeObject): readonly AllocationRange[] {
  const { config } = (definition['spec'] ?? {}) as { readonly config?: string }
  const parsed: unknown = JSON.parse(config ?? '{}')
  const ipam = isRecord(parsed) ? parsed['ipam'] : undefined
  if (!isRecord(ipam) || ipam['type'] !== 'whereabouts') return []
  const network = asString(ipam['network_name'])
  const ranges = asList(ipam['ipRanges'])
  return (ranges.length > 0 ? ranges : [ipam]).filter(isRecord).flatMap((one) => {
    const range = asString(one['range']) ?? ''
    const whole = parseRange(range)
    if (!whole) return []
    const { family } = whole
    return [
      {
        pool: [network, range.replaceAll(/[:/]/g, '-')].filter((part) => part !== undefined).join('-'),
        range,
        first: parseAddress(asString(one['range_start']) ?? '') ?? { family, value: whole.first + 1n },
        last: parseAddress(asString(one['range_end']) ?? '') ?? { family, value: whole.last - 1n },
        exclude: asStrings(one['exclude']),
      },
    ]
  })
}

/** By offset from the range's first address. */
type Allocations = Readonly<Record<string, { readonly id: string; readonly podref: string }>>

async function allocateAddress(
  client: KubeClient,
  book: AllocationRange,
  pod: KubeObject,
  ifname: string,
): Promise<string> {
  const base = parseRange(book.range)?.first ?? 0n
  let given: Address | undefined
  await updatePool(client, book.pool, book.range, (held) => {
    const own = Object.entries(held).find(([, { podref }]) => podref === podRef(pod))
    given = own ? { family: book.first.family, value: base + BigInt(own[0]) } : lowestFreeAddress(book, held, base)
    if (own) return held
    const entry = { id: pod.metadata.uid ?? '', podref: podRef(pod), ifname }
    return { ...held, [String(given.value - base)]: entry }
  })
  return given ? formatAddress(given) : ''
}

function lowestFreeAddress({ first, last, exclude }: AllocationRange, held: Allocations, base: bigint): Address {
  const excluded = exclude.flatMap((text) => parseRange(text) ?? [])
  for (let at: Address | undefined = first; at && at.value <= last.value; at = plus(at, 1)) {
    const one = at
    const isFree = !(String(one.value - base) in held) && !excluded.some((range) => rangeContains(range, one))
    if (isFree) return one
  }
  throw new Error(`Could not allocate IP in range: ip: ${formatAddress(first)} / - ${formatAddress(last)}`)
}

/** Changes a pool's allocations; whoever was faster is read again. */
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
    const wanted = next(allocations)
    if (live && wanted === allocations) return
    const { namespace, ...kind } = POOL
    const object = {
      ...kind,
      metadata: live?.metadata ?? { name, namespace },
      spec: { ...spec, allocations: wanted },
    }
    try {
      await (live ? client.update(object, { fieldManager: MANAGER }) : client.create(object, { fieldManager: MANAGER }))
      return
    } catch (thrown) {
      if (!isApiError(thrown, 'conflict', 'already-exists')) throw thrown
    }
  }
  throw new Error(`IPPool ${name} is written by too many at once`)
}
