/** The webhooks of NetConfig: what is refused, what is warned of, what is filled in. */
import type { IpSet } from '../api/ipset.ts'
import type { NetConfig, NetConfigNetwork, NetConfigSpec } from '../api/netconfig.ts'
import { netConfigChangeViolations, netConfigViolations } from '../api/netconfig-rules.ts'
import { judgeViolations } from '../api/violation.ts'
import type { AdmissionHandler, JsonPatchOperation } from '../kube/admission.ts'
import { type Address, parseAddress } from '../net/address.ts'
import { allowed, buildAnswer, denied } from './admission-answer.ts'
import type { NetworkView } from './network-view.ts'
import { overlapWarnings } from './other-allocators.ts'

export function validateNetConfig(view: NetworkView): AdmissionHandler {
  return async (request, { signal }) => {
    const namespace = request.namespace ?? ''
    if (request.operation === 'DELETE') {
      const users = await view.ipSets(namespace, signal)
      if (users.length === 0) return allowed
      return denied(`unable to delete NetConfig while there are still ${users.length} IPSets in the namespace`)
    }
    const { spec, metadata } = request.object as NetConfig
    if (request.operation === 'CREATE') {
      const others = await view.netConfigs(namespace, signal)
      const other = others.find((other) => other.metadata.name !== request.name)
      if (other) {
        const { name } = other.metadata
        return denied(`there is already NetConfig ${name} in namespace ${namespace}, there can only be one`)
      }
      return buildAnswer(
        request,
        judgeViolations(netConfigViolations(spec)),
        await sharedRangeWarnings(view, namespace, spec, signal),
      )
    }
    // One that is going away must be let go, whatever is wrong with it.
    if (metadata.deletionTimestamp) return allowed
    const { spec: old } = request.oldObject as NetConfig
    const users = await view.ipSets(namespace, signal)
    const verdict = judgeViolations(netConfigViolations(spec), netConfigViolations(old))
    const changes = users.length > 0 ? netConfigChangeViolations(spec, old) : []
    const refusals = [...verdict.refusals, ...changes]
    return buildAnswer(request, { ...verdict, refusals }, [
      ...uncoveredAddressWarnings(spec.networks, old.networks, users),
      ...(await sharedRangeWarnings(view, namespace, spec, signal)),
    ])
  }
}

/** Ranges that somebody else hands out, too. That they could not be read keeps nobody from writing a NetConfig. */
async function sharedRangeWarnings(
  view: NetworkView,
  namespace: string,
  { networks }: NetConfigSpec,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const neighbours = await view.otherAllocators(namespace, signal)
  return 'problem' in neighbours
    ? [`overlaps with MetalLB and network attachments were not looked for: ${neighbours.problem}`]
    : overlapWarnings(networks, neighbours)
}

/** Addresses in use that a range covered before and none covers now: they stay, and nobody may be surprised. */
function uncoveredAddressWarnings(
  networks: readonly NetConfigNetwork[],
  old: readonly NetConfigNetwork[],
  users: readonly IpSet[],
): readonly string[] {
  const given = users.flatMap(({ metadata, status }) =>
    (status?.reservations ?? []).map((reservation) => ({ ...reservation, by: metadata.name })),
  )
  return networks.flatMap((network) =>
    network.subnets.flatMap((subnet) => {
      const before = old.find((one) => one.name === network.name)?.subnets.find((one) => one.name === subnet.name)
      if (!before) return []
      const outside = given.filter(
        (one) =>
          one.network === network.name &&
          one.subnet === subnet.name &&
          rangesContain(before.allocationRanges, one.address) &&
          !rangesContain(subnet.allocationRanges, one.address),
      )
      if (outside.length === 0) return []
      const named = outside.slice(0, 10).map(({ address, by }) => `${address} (${by})`)
      const rest = outside.length > 10 ? ` and ${outside.length - 10} more` : ''
      return [
        `${network.name}/${subnet.name}: no allocationRange covers these addresses in use any more; they stay as they are: ${named.join(', ')}${rest}`,
      ]
    }),
  )
}

function rangesContain(ranges: readonly { readonly start: string; readonly end: string }[], text: string): boolean {
  const address = parseAddress(text)
  if (!address) return false
  const atMost = (a: Address | undefined, b: Address | undefined): boolean =>
    a !== undefined && b !== undefined && a.family === b.family && a.value <= b.value
  return ranges.some(({ start, end }) => atMost(parseAddress(start), address) && atMost(address, parseAddress(end)))
}

export function defaultNetConfig(view: NetworkView): AdmissionHandler {
  return async (request) => {
    if (!request.object || !(await view.hasServiceNetwork())) return allowed
    const { networks } = (request.object as NetConfig).spec
    const patch = networks.flatMap(({ name, serviceNetwork }, index): readonly JsonPatchOperation[] =>
      serviceNetwork ? [] : [{ op: 'add', path: `/spec/networks/${index}/serviceNetwork`, value: name.toLowerCase() }],
    )
    return { allowed: true, ...(patch.length > 0 && { patch }) }
  }
}
