/**
 * Environment files as people source them: `export NAME=value`, quotes, comments, references to earlier names.
 *
 * Reads, never runs: whatever is not an assignment is reported and passed by.
 */
import { type FileLocation, type Finding, finding } from '../../errors/finding.ts'
import { envLine } from './findings/install-yamls.ts'
import type { ImportSource } from './imported-site.ts'

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

/** Undefined when the shell would have to run something to know. */
function valueOf(rest: string, known: ReadonlyMap<string, EnvValue>): string | undefined {
  const single = /^'([^']*)'\s*(?:#.*)?$/.exec(rest)
  if (single) return single[1]
  const double = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(rest)
  const bare = /^([^\s#"'`;&|<>()]*)\s*(?:\s#.*)?$/.exec(rest)
  const text = double?.[1]?.replace(/\\(["\\$`])/g, '$1') ?? bare?.[1]
  if (text === undefined || /`|\$\(/.test(text)) return undefined
  return text.replace(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (_, braced, plain) => {
    return known.get((braced ?? plain) as string)?.value ?? ''
  })
}
