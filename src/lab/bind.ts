/** Zone files. The serial grows when a zone's records change, and only then. */

import { buildReverseZones, hostRecords } from './bind/records.ts'
import type { Lab } from './lab.ts'
import { nameserverAddress } from './lima/netplan.ts'
import type { TreeFile } from './tree.ts'

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
  const found = /^\s*(\d+) ; serial$/m.exec(zone ?? '')?.[1]
  return found === undefined ? undefined : Number(found)
}

/** Listens on its own address only: the VIPs stay free for keepalived, and 127.0.0.53 is systemd-resolved's. */
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
    listen-on { 127.0.0.1; ${nameserverAddress(lab)}; };
    listen-on-v6 { none; };
    allow-query { lab; };
    allow-recursion { lab; };
    allow-transfer { none; };
    recursion yes;
    forwarders { ${lab.dns.forwarders.map((forwarder) => `${forwarder}; `).join('')}};
    dnssec-validation no;
};

${zones.join('\n')}`,
  }
}
