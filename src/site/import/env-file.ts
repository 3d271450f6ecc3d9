/**
 * Reads the environment files of install_yamls: assignments, quotes, comments, references to earlier names.
 *
 * Never runs anything: a line that is not an assignment is reported and skipped.
 */
import type { SiteFileCloud } from '../../api/site.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { type FileLocation, type Finding, finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { parseRange } from '../../net/range.ts'
import { envIgnored, envLine, envUnknown, envValue } from './findings/install-yamls.ts'
import type { ImportSource } from './imported-site.ts'
import { installYamlsDefaults, multiCloudNames, ownNetworkDefaults } from './install-yamls-defaults.ts'

export interface EnvValue {
  readonly value: string
  readonly where: FileLocation
}

export interface EnvFile {
  readonly file: string
  readonly values: ReadonlyMap<string, EnvValue>
  readonly findings: readonly Finding[]
}

const ASSIGNMENT = /^(\s*(?:export\s+)?)([A-Za-z_][A-Za-z0-9_]*)(\s*\??:?=\s*|=)(.*)$/

export function readEnvFile({ file, text }: ImportSource): EnvFile {
  const values = new Map<string, EnvValue>()
  const findings: Finding[] = []
  text.split(/\r?\n/).forEach((line, index) => {
    if (/^\s*(?:#|$)/.test(line)) return
    const [, before = '', name = '', sign = '', rest = ''] = ASSIGNMENT.exec(line) ?? []
    const column = before.length + name.length + sign.length + 1
    const where = { file, line: index + 1, column: name ? column : line.search(/\S/) + 1 }
    const value = name ? valueOf(rest, values) : undefined
    if (value === undefined) findings.push(finding(envLine, { line: line.trim().slice(0, 60) }, { where }))
    else values.set(name, { value, where })
  })
  return { file, values, findings }
}

/** Undefined when the shell would have to run a command for it. */
function valueOf(rest: string, known: ReadonlyMap<string, EnvValue>): string | undefined {
  const single = /^'([^']*)'\s*(?:#.*)?$/.exec(rest)
  if (single) return single[1]
  const double = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(rest)
  const bare = /^([^\s#"'`;&|<>()]*)\s*(?:\s#.*)?$/.exec(rest)
  const text = double?.[1]?.replace(/\\(["\\$`])/g, '$1') ?? bare?.[1]
  if (text === undefined || /`|\$\(/.test(text)) return undefined
  const lookup = (name: string): string => known.get(name)?.value ?? ''
  const expanded = text.replace(
    /\$(?:\{([A-Za-z_]\w*)(?:(:?-)([^${}]*))?\}|([A-Za-z_]\w*))/g,
    (_, braced?: string, sign?: string, standard?: string, plain?: string) => {
      const name = braced ?? plain ?? ''
      const isSet = sign === '-' ? known.has(name) : lookup(name) !== ''
      return sign === undefined || isSet ? lookup(name) : (standard ?? '')
    },
  )
  // Another form of expansion would become text of the value.
  return expanded.includes('${') ? undefined : expanded
}

/** The variables of one file, parsed and checked, with upstream's defaults. */
export interface EnvSettings {
  readonly file: string
  readonly text: (name: string) => string
  readonly flag: (name: string) => boolean
  readonly number: (name: string) => number
  /** `172.17.0`: the first three numbers of a network. */
  readonly prefix: (name: string) => string
  readonly address: (name: string) => string
  readonly range: (name: string) => string
  /** Whether the file itself sets it. */
  readonly sets: (name: string) => boolean
  /** Where it is set; the top of the file for a default. */
  readonly locate: (name: string) => { readonly where: Finding['where'] }
  /** The known variables that the file sets and that nothing has read so far. */
  readonly unread: () => readonly string[]
  /** Grows while values are read. */
  readonly findings: Finding[]
}

export function envSettings({ file, values, findings: unreadable }: EnvFile): EnvSettings {
  const findings: Finding[] = [...unreadable, ...unknownNames({ file, values, findings: unreadable })]
  const reported = new Set<string>()
  const defaults =
    values.get('NETWORK_ISOLATION_USE_DEFAULT_NETWORK')?.value === 'false'
      ? { ...installYamlsDefaults, ...ownNetworkDefaults }
      : installYamlsDefaults
  const standard = (name: string): string => defaults[name] ?? ''
  const read = new Set<string>()
  const get = (name: string): EnvValue | undefined => {
    const other = multiCloudNames[name]
    const used = other !== undefined && values.get(other)?.value ? other : name
    read.add(name).add(used)
    return values.get(used)
  }
  const sets = (name: string): boolean => Boolean(get(name)?.value)
  const locate = (name: string) => ({ where: get(name)?.where ?? { file, line: 1, column: 1 } })
  const text = (name: string): string => get(name)?.value || standard(name)

  /** An invalid value is reported once and replaced by the default. */
  const checked = (name: string, good: (value: string) => boolean, expected: string): string => {
    const value = text(name)
    if (good(value)) return value
    if (!reported.has(name)) findings.push(finding(envValue, { name, value, expected }, locate(name)))
    reported.add(name)
    return standard(name)
  }

  return {
    file,
    text,
    sets,
    locate,
    findings,
    unread: () =>
      [...values].filter(([name, { value }]) => value !== '' && isKnown(name) && !read.has(name)).map(([name]) => name),
    flag: (name) => checked(name, (value) => /^(?:true|false)$/i.test(value), 'true or false').toLowerCase() === 'true',
    number: (name) => Number(checked(name, (value) => /^\d{1,5}$/.test(value), 'a number')),
    prefix: (name) =>
      checked(
        name,
        (value) => /^\d+\.\d+\.\d+$/.test(value) && parseAddress(`${value}.0`) !== undefined,
        `the first three numbers of a network, such as ${standard(name)}`,
      ),
    address: (name) => checked(name, (value) => parseAddress(value) !== undefined, 'an IP address'),
    range: (name) => checked(name, (value) => parseRange(value) !== undefined, `a range such as ${standard(name)}`),
  }
}

function isKnown(name: string): boolean {
  return Object.hasOwn(installYamlsDefaults, name)
}

function unknownNames({ file, values }: EnvFile): readonly Finding[] {
  const known = Object.keys(installYamlsDefaults)
  const findings: Finding[] = []
  const ignored: string[] = []
  for (const [name, { where }] of values) {
    if (known.includes(name)) continue
    const meant = closestMatch(name, known)
    if (meant && /^(?:NETWORK|NNCP|METALLB|RHOSO|NAMESPACE)/.test(name)) {
      findings.push(finding(envUnknown, { name, nearest: meant }, { where }))
    } else ignored.push(name)
  }
  if (ignored.length > 0) {
    findings.push(finding(envIgnored, { names: ignored }, { where: { file, line: 1, column: 1 } }))
  }
  return findings
}

/** One environment file as a cloud. */
export interface EnvCloud {
  readonly env: EnvSettings
  readonly name: string
  readonly namespace: string
  readonly nic: string
  readonly families: (4 | 6)[]
  readonly vlanOf: (step: number) => number
  readonly mtu: number
}

export function envCloud(env: EnvSettings): EnvCloud {
  const namespace = env.text('NAMESPACE')
  const start = env.number('NETWORK_VLAN_START')
  const step = env.number('NETWORK_VLAN_STEP')
  const both = [
    ...(env.flag('NETWORK_ISOLATION_IPV4') ? [4 as const] : []),
    ...(env.flag('NETWORK_ISOLATION_IPV6') ? [6 as const] : []),
  ]
  return {
    env,
    name: env.text('RHOSO_INSTANCE_NAME') || namespace,
    namespace,
    nic: env.text('NNCP_INTERFACE'),
    families: both.length > 0 ? both : [4],
    vlanOf: (k) => start + k * step,
    mtu: env.number('NETWORK_MTU'),
  }
}

/** The clouds that have numbers already: of earlier files, and of the site file that the import is added to. */
export interface EarlierClouds {
  readonly files: readonly EnvCloud[]
  readonly site: readonly SiteFileCloud[]
}

/** The name of the first cloud that has numbers already. */
export function firstEarlier({ files, site }: EarlierClouds): string | undefined {
  return site[0]?.name ?? files[0]?.name
}

/** Whether the file leaves the network to a default that an earlier cloud has already. */
export function isDefaultTwice({ env }: EnvCloud, prefix: string, { files, site }: EarlierClouds): boolean {
  if (env.sets(prefix)) return false
  const text = `${env.prefix(prefix)}.0/24`
  return files.some((other) => other.env.prefix(prefix) === env.prefix(prefix)) || hasSubnet(site, text)
}

export function hasSubnet(clouds: readonly SiteFileCloud[], cidr: string): boolean {
  return clouds.some(({ networks }) =>
    Object.values(networks ?? {}).some((network) => network && network.subnets?.some((subnet) => subnet.cidr === cidr)),
  )
}

/** `5-29` below `172.17.0.` or `fd00:bbbb::` as a range. */
export function formatSpan(base: string, offsets: string): string {
  const [first = '', last = first] = offsets.split('-')
  return `${base}${first}-${base}${last}`
}

/** The first cloud has fd00:bbbb::/64, the next fd00:bbbb:0:1::/64. */
export function ipv6Base(prefix: string, index: number): string {
  return index === 0 ? prefix : `${prefix.replace(/::$/, '')}:0:${index.toString(16)}::`
}
