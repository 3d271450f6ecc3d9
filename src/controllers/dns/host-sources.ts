/**
 * Where the hosts of one DNSMasq come from: DNSData, and ConfigMaps with the label that nobody of ours has made.
 *
 * Pure. A DNSData counts by itself and not by its ConfigMap, so that a change of it is one write away from the server,
 * and a deleted one is gone at once.
 */
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import { findController, HOSTS_LABEL, selectorValue } from './dns-kinds.ts'
import { formatHosts } from './hosts-file.ts'
import type { HostSource } from './shards.ts'

export interface NamespaceHosts {
  readonly dnsDatas: readonly DnsData[]
  /** Those with the label. */
  readonly configMaps: readonly KubeObject[]
}

export function collectHostSources(
  { spec }: Pick<DnsMasq, 'spec'>,
  { dnsDatas, configMaps }: NamespaceHosts,
  text: (dnsData: DnsData) => string = formatHosts,
): readonly HostSource[] {
  const value = selectorValue(spec)
  const datas = dnsDatas.filter(
    (dnsData) => selectorValue(dnsData.spec) === value && !dnsData.metadata.deletionTimestamp,
  )
  const maps = configMaps.filter(
    (configMap) => configMap.metadata.labels?.[HOSTS_LABEL] === value && findController(configMap)?.kind !== 'DNSData',
  )
  return [
    ...datas.map((data) => ({ name: `DNSData ${data.metadata.name}`, text: text(data) })),
    ...maps.map((map) => ({ name: `ConfigMap ${map.metadata.name}`, text: configMapText(map) })),
  ]
}

/** Every key of a ConfigMap is a hosts file; upstream reads the one that is named like it. */
function configMapText(configMap: KubeObject): string {
  const data = (configMap['data'] ?? {}) as Readonly<Record<string, string>>
  const binary = (configMap['binaryData'] ?? {}) as Readonly<Record<string, string>>
  return [
    ...Object.entries(data),
    ...Object.entries(binary).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')] as const),
  ]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => (text.endsWith('\n') ? text : `${text}\n`))
    .join('')
}
