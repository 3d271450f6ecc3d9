/** Starts the DNS controllers: creates the caches they share and connects them. */
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import { type IpSet, ipSets as ipSetKind } from '../../api/ipset.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime } from '../../kube/runtime.ts'
import { createContents } from '../kit/contents.ts'
import { createWriter } from '../kit/writes.ts'
import {
  configMaps as configMapKind,
  dnsDatas as dnsDataKind,
  dnsMasqs as dnsMasqKind,
  FIELD_MANAGER,
  services as serviceKind,
  sources,
} from './dns-kinds.ts'
import { dnsDataController } from './dnsdata-controller.ts'
import { dnsMasqController } from './dnsmasq-controller.ts'
import { hostsController, type PublishedHosts } from './hosts-controller.ts'
import { formatHosts } from './hosts-file.ts'
import { ipSetDnsController } from './ipset-dns-controller.ts'
import { createSequencer } from './sequencer.ts'
import { createServedFields, type ServedFields } from './served-fields.ts'
import { serviceDnsController } from './service-dns-controller.ts'

export interface DnsControllersOptions {
  readonly runtime: Pick<Runtime, 'client' | 'cache' | 'add'>
  readonly record: (event: EventRecord) => void
}

export function startDnsControllers({ runtime, record }: DnsControllersOptions): Pick<ServedFields, 'hasOption'> {
  const { client, cache } = runtime
  const dnsMasqs = cache<DnsMasq>({ kind: dnsMasqKind })
  const dnsDatas = cache<DnsData>({ kind: dnsDataKind })
  const ipSets = cache<IpSet>({ kind: ipSetKind })
  const services = cache({ kind: serviceKind })
  const hostMaps = cache(sources.hostMaps)
  const ownMaps = cache(sources.ownMaps)
  const ownContents = createContents({ kind: configMapKind, client, metadata: ownMaps })
  const writer = createWriter({ client, fieldManager: FIELD_MANAGER })
  const servedFields = createServedFields(client)
  const sequencer = createSequencer()
  const published = new Map<string, PublishedHosts>()
  const hostsText = memoizeHostsText()
  const servers = runtime.add(
    dnsMasqController({
      client,
      writer,
      dnsMasqs,
      dnsDatas,
      ownMaps,
      ownContents,
      services,
      deployments: cache(sources.deployments),
      accounts: cache(sources.accounts),
      published,
      servedFields,
    }),
  )
  runtime.add(
    hostsController({
      client,
      writer,
      dnsMasqs,
      dnsDatas,
      hostMaps,
      hostContents: createContents({ kind: configMapKind, client, metadata: hostMaps }),
      ownContents,
      pods: cache(sources.pods),
      hostsText,
      sequencer,
      published,
      onPublished: servers.enqueue,
    }),
  )
  runtime.add(
    dnsDataController({
      client,
      writer,
      dnsMasqs,
      dnsDatas,
      hostMaps,
      ownMaps,
      ownContents,
      hostsText,
      sequencer,
      servedFields,
    }),
  )
  runtime.add(serviceDnsController({ writer, dnsMasqs, dnsDatas, services, record }))
  runtime.add(ipSetDnsController({ writer, dnsDatas, ipSets, record }))
  return servedFields
}

/** Formats the hosts of each version of a DNSData once. */
function memoizeHostsText(): (dnsData: DnsData) => string {
  const texts = new WeakMap<DnsData, string>()
  return (dnsData) => {
    const text = texts.get(dnsData) ?? formatHosts(dnsData)
    texts.set(dnsData, text)
    return text
  }
}
