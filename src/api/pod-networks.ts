/** Parses the networks of pods: the annotations of Multus and the allocations of whereabouts. Pure. */

import { formatAddress, parseAddress } from '../net/address.ts'
import { asRecord } from './json.ts'
import type { KubeObject } from './object.ts'
import { getField, getList, getString } from './raw-object.ts'

export const NETWORKS = 'k8s.v1.cni.cncf.io/networks'
export const NETWORK_STATUS = 'k8s.v1.cni.cncf.io/network-status'

export interface RequestedNetwork {
  readonly namespace: string
  readonly name: string
  readonly interface: string | undefined
}

/** Multus accepts a JSON list and the short form `namespace/name@interface, …`. */
export function requestedNetworks({ metadata }: KubeObject): readonly RequestedNetwork[] {
  const { namespace: podNamespace = '', annotations } = metadata
  const text = annotations?.[NETWORKS] ?? ''
  if (text.trimStart().startsWith('['))
    return parseJsonList(text).flatMap((entry) => {
      const name = getString(entry, 'name')
      const namespace = getString(entry, 'namespace') ?? podNamespace
      return name === undefined ? [] : [{ namespace, name, interface: getString(entry, 'interface') }]
    })
  return text.split(',').flatMap((part) => {
    const [, namespace = podNamespace, name, interfaceName] =
      /^(?:([^/@]+)\/)?([^@]+)(?:@(.+))?$/.exec(part.trim()) ?? []
    return name === undefined ? [] : [{ namespace, name, interface: interfaceName }]
  })
}

export interface AttachedNetwork {
  /** `namespace/name`. */
  readonly name: string
  readonly ips: readonly string[]
}

/** Undefined when Multus has not written a status. */
export function attachedNetworks({ metadata }: KubeObject): readonly AttachedNetwork[] | undefined {
  const text = metadata.annotations?.[NETWORK_STATUS]
  if (text === undefined) return undefined
  return parseJsonList(text).map((entry) => ({
    name: getString(entry, 'name') ?? '',
    ips: getList(entry, 'ips').map(String),
  }))
}

function parseJsonList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

export interface PodAddress {
  readonly pool: KubeObject
  /** `namespace/name`. */
  readonly pod: string
  readonly address: string
  /** The key of the entry. */
  readonly offset: string
}

/** whereabouts records an allocation by its offset from the first address of the range. */
export function allocatedPodAddresses(pool: KubeObject): readonly PodAddress[] {
  const [base = ''] = (getString(pool, 'spec', 'range') ?? '').split('/')
  const first = parseAddress(base)
  if (!first) return []
  return Object.entries(asRecord(getField(pool, 'spec', 'allocations'))).flatMap(([offset, allocation]) => {
    if (!/^\d{1,38}$/.test(offset)) return []
    const address = formatAddress({ family: first.family, value: first.value + BigInt(offset) })
    return [{ pool, pod: getString(allocation, 'podref') ?? '', address, offset }]
  })
}
