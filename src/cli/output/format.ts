/** The options `-o` and `--events`, and the machine-readable formats. Every command offers json and yaml. */
import { Option } from 'commander'
import type { KubeObject } from '../../api/object.ts'
import type { Finding } from '../../errors/finding.ts'
import { codeScanningFormats } from './code-scanning-formats.ts'

const formats = ['table', 'wide', 'json', 'yaml', 'name', ...codeScanningFormats] as const
export type Format = (typeof formats)[number]

export function outputOption(supported: readonly Format[], defaultFormat: Format = 'table'): Option {
  return new Option('-o, --output <format>', 'print in this format').choices(supported).default(defaultFormat)
}

/** Everything but `json` is written as YAML; tables are formatted by the command. */
export async function serialise(value: unknown, format: Format): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`
  const { writeYaml } = await import('../../yaml/write.ts')
  return writeYaml(value)
}

/** The envelope of every command that prints a result of its own: its fields, then the findings, also if there are none. */
export function serialiseResult(result: object, format: Format, findings: readonly Finding[] = []): Promise<string> {
  return serialise({ ...result, findings }, format)
}

/** Kubernetes objects in the form that `kubectl apply -f -` reads. */
export function serialiseObjects(items: readonly KubeObject[]): Promise<string> {
  return serialise({ apiVersion: 'v1', kind: 'List', items }, 'json')
}

const eventFormats = ['auto', 'lines', 'jsonl'] as const
export type EventFormat = (typeof eventFormats)[number]

export function eventsOption(): Option {
  return new Option('--events <format>', 'print progress on stderr in this format')
    .choices(eventFormats)
    .default('auto')
}
