/** Renders named.conf and the forward and reverse zones of the lab's DNS server. */
import { networkNames } from '../api/lab.ts'
import { parseAddress } from '../net/address.ts'
import { parseCidr } from '../net/cidr.ts'
import { reverseName, reverseZones } from '../net/reverse-dns.ts'
import { addressOnNetwork, instanceNameserver, type Lab, nameserverAddress } from './lab.ts'
import type { TreeFile } from './tree.ts'

export interface HostRecord {
  /** Relative to the domain. */
  readonly name: string
  readonly address: string
  /** Whether the reverse zone maps the address to this name: it has one name per address. */
  readonly canonical: boolean
}

export function hostRecords(lab: Lab): readonly HostRecord[] {
  const host = (name: string, address: string, canonical = true): HostRecord => ({ name, address, canonical })
  const otherNetworks = networkNames.filter((network) => network !== 'management')
  return [
    host('ns1', nameserverAddress(lab), false),
    ...lab.nodes.map((node) => host(node.name, node.address)),
    ...lab.nodes.flatMap((node) =>
      otherNetworks.flatMap((network) => {
        const address = addressOnNetwork(node, network)
        return address === undefined ? [] : [host(`${node.name}.${network}`, address)]
      }),
    ),
    host('internal', lab.vips.internal),
    host('api', lab.vips.external),
    host('horizon', lab.vips.external, false),
    ...(lab.monitoring.grafana ? [host('grafana', lab.vips.internal, false)] : []),
  ]
}

export interface ReverseZone {
  readonly origin: string
  readonly pointers: readonly { readonly label: string; readonly name: string }[]
}

export function buildReverseZones(lab: Lab): readonly ReverseZone[] {
  const records = hostRecords(lab).filter((record) => record.canonical)
  const origins = networkNames.flatMap((name) => {
    const subnet = parseCidr(lab.networks[name].subnet)
    return subnet ? reverseZones(subnet) : []
  })
  return [...new Set(origins)].map((origin) => ({
    origin,
    pointers: records.flatMap((record) => {
      const address = parseAddress(record.address)
      const full = address ? reverseName(address) : ''
      if (!full.endsWith(`.${origin}`)) return []
      return [{ label: full.slice(0, -origin.length - 1), name: `${record.name}.${lab.dns.domain}.` }]
    }),
  }))
}

export interface Zone {
  readonly origin: string
  readonly path: string
  readonly lines: readonly string[]
}

export function buildZones(lab: Lab): readonly Zone[] {
  const { domain } = lab.dns
  const forward: Zone = {
    origin: domain,
    path: `bind/zones/db.${domain}`,
    lines: hostRecords(lab).map(({ name, address }) => `${name.padEnd(24)} IN A    ${address}`),
  }
  const reverse = buildReverseZones(lab).map(({ origin, pointers }) => ({
    origin,
    path: `bind/zones/db.${origin}`,
    lines: pointers.map(({ label, name }) => `${label.padEnd(24)} IN PTR  ${name}`),
  }))
  return [forward, ...reverse]
}

export function zoneFiles(lab: Lab, existing: (path: string) => string | undefined): readonly TreeFile[] {
  return buildZones(lab).map((zone) => ({ path: zone.path, text: renderZone(lab, zone, existing(zone.path)) }))
}

/** Raises the serial when a record changed, and only then. */
function renderZone(lab: Lab, zone: Zone, old: string | undefined): string {
  const text = (serial: number): string => `; Rendered by stackloom from the lab file; edit that one.
$TTL 300
$ORIGIN ${zone.origin}.
@ IN SOA ns1.${lab.dns.domain}. hostmaster.${lab.dns.domain}. (
    ${serial} ; serial
    3600 ; refresh
    600 ; retry
    604800 ; expire
    60 ) ; negative answers
@                        IN NS   ns1.${lab.dns.domain}.
${zone.lines.map((line) => `${line}\n`).join('')}`
  const serial = parseSerial(old)
  if (serial === undefined) return text(1)
  return text(serial) === old ? old : text(serial + 1)
}

export function parseSerial(zone: string | undefined): number | undefined {
  const serial = /^\s*(\d+) ; serial$/m.exec(zone ?? '')?.[1]
  return serial === undefined ? undefined : Number(serial)
}

/** Listens on the node's addresses only, the external one for instances: keepalived needs the VIPs, and systemd-resolved uses 127.0.0.53. */
export function namedConfFile(lab: Lab): TreeFile {
  const acl = Object.values(lab.networks).map((network) => `    ${network.subnet};`)
  const zones = buildZones(lab).map(
    ({ origin, path }) => `zone "${origin}" {
    type primary;
    file "/etc/bind/zones/${path.slice('bind/zones/'.length)}";
};
`,
  )
  return {
    path: 'bind/named.conf',
    text: `// Rendered by stackloom from the lab file; edit that one.
acl lab {
    127.0.0.0/8;
${acl.join('\n')}
};

options {
    directory "/var/cache/bind";
    listen-on { 127.0.0.1; ${listenAddresses(lab)} };
    listen-on-v6 { none; };
    allow-query { lab; };
    allow-recursion { lab; };
    allow-transfer { none; };
    recursion yes;
    forwarders { ${lab.dns.forwarders.map((address) => `${address}; `).join('')}};
    dnssec-validation no;
};

${zones.join('\n')}`,
  }
}

function listenAddresses(lab: Lab): string {
  return [...new Set([nameserverAddress(lab), instanceNameserver(lab)])].map((address) => `${address};`).join(' ')
}
