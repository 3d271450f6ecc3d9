/** dnsmasq's configuration of one DNSMasq: a line per option, as upstream writes them. Pure. */
import type { DnsMasq, DnsOption } from '../../api/dnsmasq.ts'

export function configOf({ metadata, spec }: DnsMasq): string {
  return withLocal(spec.options ?? [], metadata.namespace ?? '')
    .map(lineOf)
    .join('')
}

function lineOf({ key, values }: DnsOption): string {
  return values.length === 0 ? `${key}\n` : `${key}=${values.join(',')}\n`
}

/** The cluster's own names are never asked of others: those would answer late, or wrongly. */
export function withLocal(options: readonly DnsOption[], namespace: string): readonly DnsOption[] {
  if (options.some((one) => one.key === 'local')) return options
  return [...options, { key: 'local', values: [`/${namespace}.svc/`] }]
}
