/**
 * Checks that no variable or configuration file of the lab file makes Ansible run a program on this machine. Pure.
 *
 * Ansible evaluates them here, not on the nodes: a lookup can run any command, and connection variables name programs.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { Locator, ValuePath } from '../../yaml/locate.ts'
import { runsOnHost } from '../findings/kolla.ts'
import type { Lab } from '../lab.ts'

const PROGRAM_VARIABLE = /^ansible_.*(connection|args|executable|interpreter|exe|flags)$/

export function checkExecution(lab: Lab, { locate, locateKey }: Locator): readonly Finding[] {
  const { globals, hostVars, config } = lab.overrides
  const variables = [
    ...Object.entries(globals).map(([name, value]) => [['spec', 'openstack', 'globals', name], value] as const),
    ...Object.entries(hostVars).flatMap(([node, values]) =>
      Object.entries(values).map(([name, value]) => [['spec', 'openstack', 'hostVars', node, name], value] as const),
    ),
  ]
  const report = (path: ValuePath, why: string | undefined, where = locate(path)): readonly Finding[] =>
    why === undefined ? [] : [finding(runsOnHost, { field: String(path.at(-1)), why }, { where })]
  return [
    ...variables.flatMap(([path, value]) =>
      PROGRAM_VARIABLE.test(String(path.at(-1)))
        ? report(path, 'it selects a program that Ansible starts', locateKey(path))
        : report(
            path,
            listTexts(value)
              .map(findExecution)
              .find((why) => why !== undefined),
          ),
    ),
    ...Object.entries(config).flatMap(([name, text]) =>
      report(['spec', 'openstack', 'config', name], findExecution(text)),
    ),
  ]
}

/** All texts of a value, with the keys of mappings, which Ansible evaluates too. */
function listTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) => [key, ...listTexts(child)])
}

/** Filters may have arguments, as in `{{ x | default('y') }}`; any other call may be a lookup. */
function findExecution(text: string): string | undefined {
  if (/^#jinja2:/m.test(text)) return 'it changes the delimiters of its templates'
  for (const expression of templateParts(text)) {
    const calls = expression.replaceAll(/\|\s*[\w.]+\s*\(/g, '')
    if (calls.includes('(')) return `a template calls a function: ${expression.trim().slice(0, 60)}`
    if (/^%[-+]?\s*(include|import|from|extends)\b/.test(expression)) return 'a template reads another file'
    if (/__|\battr\b/.test(expression)) return 'a template reads an internal attribute'
  }
  return undefined
}

/**
 * What follows each `{{` and `{%` up to its end, or to the end of the text. An end inside quotes does not count, as in
 * Jinja: `{{ '}}' ~ lookup(…) }}` is one expression.
 */
function templateParts(text: string): readonly string[] {
  const starts = [...text.matchAll(/\{(?=[{%])/g)].map(({ index }) => index + 1)
  return starts.map((start) => {
    const rest = text.slice(start)
    return /^.(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"'}%]|[}%](?!\}))*/s.exec(rest)?.[0] ?? rest
  })
}
