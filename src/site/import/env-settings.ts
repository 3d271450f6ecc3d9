/** The variables of one environment file as values: read, checked, with upstream's defaults behind them. */

import { closestMatch } from '../../errors/closest-match.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { parseRange } from '../../net/range.ts'
import type { EnvFile } from './env-file.ts'
import { envIgnored, envUnknown, envValue } from './findings/install-yamls.ts'
import { installYamlsDefaults, ownNetworkDefaults } from './install-yamls-defaults.ts'

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
  readonly at: (name: string) => { readonly where: Finding['where'] }
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
  const sets = (name: string): boolean => Boolean(values.get(name)?.value)
  const at = (name: string) => ({ where: values.get(name)?.where ?? { file, line: 1, column: 1 } })
  const text = (name: string): string => values.get(name)?.value || standard(name)

  /** A value that cannot be used is reported once, and the default goes on in its place. */
  const checked = (name: string, good: (value: string) => boolean, expected: string): string => {
    const value = text(name)
    if (good(value)) return value
    if (!reported.has(name)) findings.push(finding(envValue, { name, value, expected }, at(name)))
    reported.add(name)
    return standard(name)
  }

  return {
    file,
    text,
    sets,
    at,
    findings,
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
