/**
 * Where the hosts of one DNSMasq come from: DNSData, and ConfigMaps with the label that nobody of ours has made.
 *
 * Pure. A DNSData counts by itself and not by its ConfigMap, so that a change of it is one write away from the server,
 * and a deleted one is gone at once.
 */
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import { textOf } from './hosts.ts'
import { controllerOf, HOSTS_LABEL, selectorOf } from './kinds.ts'
import type { HostSource } from './shards.ts'

export interface NamespaceHosts {
  readonly dnsDatas: readonly DnsData[]
  /** Those with the label. */
  readonly configMaps: readonly KubeObject[]
}

export function sourcesOf(
  { spec }: Pick<DnsMasq, 'spec'>,
  { dnsDatas, configMaps }: NamespaceHosts,
  text: (dnsData: DnsData) => string = textOf,
): readonly HostSource[] {
  const value = selectorOf(spec)
  const datas = dnsDatas.filter((one) => selectorOf(one.spec) === value && !one.metadata.deletionTimestamp)
  const maps = configMaps.filter(
    (one) => one.metadata.labels?.[HOSTS_LABEL] === value && controllerOf(one)?.kind !== 'DNSData',
  )
  return [
    ...datas.map((one) => ({ name: `DNSData ${one.metadata.name}`, text: text(one) })),
    ...maps.map((one) => ({ name: `ConfigMap ${one.metadata.name}`, text: dataOf(one) })),
  ]
}

/** Every key of a ConfigMap is a hosts file; upstream reads the one that is named like it. */
function dataOf(configMap: KubeObject): string {
  const data = (configMap['data'] ?? {}) as Readonly<Record<string, string>>
  const binary = (configMap['binaryData'] ?? {}) as Readonly<Record<string, string>>
  return [
    ...Object.entries(data),
    ...Object.entries(binary).map(
      ([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')] as const,
    ),
  ]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => (text.endsWith('\n') ? text : `${text}\n`))
    .join('')
}
