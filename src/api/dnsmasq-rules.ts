/**
 * What a DNSMasq must satisfy, beyond its schema: for webhook and controller alike.
 *
 * An option becomes one line of dnsmasq's configuration, `key=value,value`. Upstream writes values as they are: a
 * line break in one is a second directive, and a value that dnsmasq cannot read is a server that does not start.
 */
import { parseAddress } from '../net/address.ts'
import { parsePrefixed } from '../net/cidr.ts'
import type { DnsMasqSpec, DnsOption, OptionKey } from './dnsmasq.ts'
import type { Violation } from './violation.ts'

export function dnsMasqViolations(spec: DnsMasqSpec, namespace: string): readonly Violation[] {
  const violations = (spec.options ?? []).flatMap((option, index) =>
    optionProblems(option).map(
      ({ at, value, detail }): Violation => ({
        field: `spec.options[${index}].values${at === undefined ? '' : `[${at}]`}`,
        value,
        detail: `${option.key}: ${detail}`,
        rule: 'own',
      }),
    ),
  )
  const place = spec.topologyRef?.namespace
  if (place === undefined || place === '' || place === namespace) return violations
  const detail = 'customizing namespace field is not supported'
  return [...violations, { field: 'spec.topologyRef.namespace', value: place, detail, rule: 'upstream' }]
}

interface OptionProblem {
  /** Which value; the list itself when absent. */
  readonly at?: number
  readonly value: unknown
  readonly detail: string
}

function optionProblems({ key, values }: DnsOption): readonly OptionProblem[] {
  const each = values.flatMap((value, at): readonly OptionProblem[] => {
    const detail = textProblem(value)
    return detail === undefined ? [] : [{ at, value, detail }]
  })
  if (each.length > 0) return each
  const detail = optionChecks[key]?.(values)
  return detail === undefined ? [] : [{ value: values, detail }]
}

/** What no value of any option may be. */
function textProblem(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'a line break would begin another directive'
  if (/\p{Cc}/u.test(value)) return 'a control character has no meaning here'
  if ((value.match(/(?<!\\)"/g) ?? []).length % 2 === 1) return 'a quotation mark is not closed'
  if (/(^|\s)#/.test(value.replace(/"[^"]*"/g, '""'))) return 'a # begins a comment: what follows it is not read'
  return undefined
}

type OptionCheck = (values: readonly string[]) => string | undefined

const optionChecks: Readonly<Partial<Record<OptionKey, OptionCheck>>> = {
  server: (values) => onlyOne(values) ?? serverProblem(values[0] ?? ''),
  local: (values) => onlyOne(values) ?? serverProblem(values[0] ?? ''),
  'rev-server': ([subnet = '', server = '', ...rest]) => {
    if (rest.length > 0) return 'takes a subnet and a server'
    const [cidr = ''] = subnet.split(',')
    const given = server === '' ? subnet.split(',')[1] : server
    if (!parsePrefixed(cidr.includes('/') ? cidr : `${cidr}/24`)) return `${cidr} is not a subnet`
    return given ? serverProblem(given) : undefined
  },
  'local-ttl': seconds,
  'dhcp-ttl': seconds,
  'max-ttl': seconds,
  'no-negcache': (values) => (values.length > 0 ? 'takes no value' : undefined),
  cname: (values) => (splitValues(values).length < 2 ? 'needs a name and its target' : undefined),
  'host-record': (values) => (splitValues(values).length < 2 ? 'needs a name and an address' : undefined),
  'ptr-record': atLeastOne,
  'txt-record': atLeastOne,
  'srv-host': atLeastOne,
  'naptr-record': atLeastOne,
  'caa-record': atLeastOne,
  'dns-rr': atLeastOne,
  'auth-zone': atLeastOne,
  'synth-domain': atLeastOne,
  'rebind-domain-ok': atLeastOne,
}

/** People write `values: [a, b]` and `values: ["a,b"]`; the line is the same. */
function splitValues(values: readonly string[]): readonly string[] {
  return values.join(',').split(',').filter(Boolean)
}

function atLeastOne(values: readonly string[]): string | undefined {
  return splitValues(values).length === 0 ? 'needs a value' : undefined
}

function onlyOne(values: readonly string[]): string | undefined {
  if (values.length === 0) return 'needs a value'
  return values.length > 1 ? 'takes one value; repeat the option for another' : undefined
}

function seconds(values: readonly string[]): string | undefined {
  return values.length === 1 && /^\d+$/.test(values[0] ?? '') ? undefined : 'takes one number of seconds'
}

/** `[/domain/…/][address[#port][@from]]`; `#` alone is the default server. */
function serverProblem(value: string): string | undefined {
  const asked = value.startsWith('/') ? value.slice(value.lastIndexOf('/') + 1) : value
  if (value.startsWith('/')) {
    if (!value.slice(1).includes('/')) return `${value} is not closed: /domain/address`
    if (asked === '' || asked === '#') return undefined
  }
  const [address = ''] = asked.split('@')
  const [ip = '', port] = address.split('#')
  if (!parseAddress(ip.replace(/%.*$/, ''))) return `${asked} is not an address`
  if (port !== undefined && !(/^\d+$/.test(port) && Number(port) <= 65_535)) return `${port} is not a port`
  return undefined
}
