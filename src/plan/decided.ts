/**
 * Who decided that somebody has an address: a pin of the site file, the lock, or the planner just now.
 *
 * Pure, over a plan and the lock that it was planned with.
 */
import { formatAddress, parseAddress } from '../net/address.ts'
import { type Path, settingPath } from '../site/site.ts'
import { holderKinds, type Lock, lockedNetwork } from './lock.ts'
import { type AddressAnswer, type Holder, listHolders } from './lookup.ts'
import { getOwn } from './own.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from './plan.ts'

export type AddressOrigin =
  | { readonly kind: 'pinned'; readonly path: Path | undefined }
  | { readonly kind: 'locked' }
  /** The lowest that was free; the next lock has it. */
  | { readonly kind: 'chosen' }

/** Undefined for an address that nobody has. */
export function findAddressOrigin(plan: Plan, before: Lock, answer: AddressAnswer): AddressOrigin | undefined {
  const { address } = answer
  const cloud = plan.clouds.find(({ name }) => name === answer.cloud)
  const network = cloud?.networks.find(({ name }) => name === answer.network)
  const holders = network ? listHolders(network).filter((holder) => holder.address === address) : []
  if (!cloud || !network || holders.length === 0) return undefined
  const pin = holders
    .map((holder) => pinOf(holder, cloud, network))
    .find((one) => one && canonical(one.written).includes(address))
  if (pin) return { kind: 'pinned', path: pin.path }
  return lockHas(before, answer) ? { kind: 'locked' } : { kind: 'chosen' }
}

interface WrittenPin {
  readonly written: string | readonly string[] | undefined
  readonly path: Path | undefined
}

/** What the site file says of this holder on this network. */
function pinOf({ role, name }: Holder, { from }: PlannedCloud, network: PlannedNetwork): WrittenPin | undefined {
  const { file, path } = from
  if (role === 'vip') return { written: getOwn(file.vips, name), path: [...path, 'vips', name] }
  if (role === 'host') {
    const at = file.hosts?.findIndex((host) => host.name === name) ?? -1
    const written = getOwn(file.hosts?.[at]?.addresses, network.name)
    return { written, path: [...path, 'hosts', at, 'addresses', network.name] }
  }
  const settings = from.networks.find((cloudNetwork) => cloudNetwork.name === network.name)
  if (!settings) return undefined
  if (role === 'node')
    return { written: getOwn(settings.settings.nodes, name), path: settingPath(settings, 'nodes', name) }
  const at = settings.settings.endpoints?.findIndex((endpoint) => endpoint.name === name) ?? -1
  return { written: settings.settings.endpoints?.[at]?.address, path: settingPath(settings, 'endpoints', at) }
}

/** People write IPv6 in many ways. */
function canonical(written: WrittenPin['written']): readonly string[] {
  return [written ?? []].flat().flatMap((text) => {
    const address = parseAddress(text)
    return address ? [formatAddress(address)] : []
  })
}

function lockHas(before: Lock, { cloud, network, address }: AddressAnswer): boolean {
  const locked = lockedNetwork(before, cloud, network)
  return holderKinds.some((kind) => Object.values(locked?.[kind] ?? {}).some((own) => own.includes(address)))
}
