/** dnsmasq's configuration of one DNSMasq: a line per option, as upstream writes them. Pure. */
import type { DnsMasq, DnsOption } from '../../api/dnsmasq.ts'

export function renderConfig({ metadata, spec }: DnsMasq): string {
  const options = addLocalOption(spec.options ?? [], metadata.namespace ?? '')
  return [...options.map(renderOption), ...authServerLines(options)].join('')
}

/** dnsmasq does not start with a zone of its own and without the name of its server, for which there is no option. */
function authServerLines(options: readonly DnsOption[]): readonly string[] {
  const zone = options.find((option) => option.key === 'auth-zone')?.values[0]?.split(',')[0]
  return zone === undefined ? [] : [`auth-server=${zone}\n`]
}

function renderOption({ key, values }: DnsOption): string {
  return values.length === 0 ? `${key}\n` : `${key}=${values.join(',')}\n`
}

/** The cluster's own names are never asked of others: those would answer late, or wrongly. */
function addLocalOption(options: readonly DnsOption[], namespace: string): readonly DnsOption[] {
  if (options.some((option) => option.key === 'local')) return options
  return [...options, { key: 'local', values: [`/${namespace}.svc/`] }]
}
