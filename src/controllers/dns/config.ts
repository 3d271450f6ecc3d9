/** dnsmasq's configuration of one DNSMasq: a line per option, as upstream writes them. Pure. */
import type { DnsMasq, DnsOption } from '../../api/dnsmasq.ts'

export function configOf({ metadata, spec }: DnsMasq): string {
  const options = withLocal(spec.options ?? [], metadata.namespace ?? '')
  return [...options.map(lineOf), ...authServer(options)].join('')
}

/** dnsmasq does not start with a zone of its own and without the name of its server, for which there is no option. */
function authServer(options: readonly DnsOption[]): readonly string[] {
  const zone = options.find((one) => one.key === 'auth-zone')?.values[0]?.split(',')[0]
  return zone === undefined ? [] : [`auth-server=${zone}\n`]
}

function lineOf({ key, values }: DnsOption): string {
  return values.length === 0 ? `${key}\n` : `${key}=${values.join(',')}\n`
}

/** The cluster's own names are never asked of others: those would answer late, or wrongly. */
function withLocal(options: readonly DnsOption[], namespace: string): readonly DnsOption[] {
  if (options.some((one) => one.key === 'local')) return options
  return [...options, { key: 'local', values: [`/${namespace}.svc/`] }]
}
