/** `-o`: one value, printed the way that was asked for. Every command offers json and yaml; a table is its own. */
import { Option } from 'commander'

const formats = ['table', 'wide', 'json', 'yaml', 'name'] as const
export type Format = (typeof formats)[number]

export function outputOption(supported: readonly Format[], standard: Format = 'table'): Option {
  return new Option('-o, --output <format>', 'how to print it').choices(supported).default(standard)
}

/** The machine-readable forms; anything else is the command's own table. */
export async function serialise(value: unknown, format: Format): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`
  const { writeYaml } = await import('../../yaml/write.ts')
  return writeYaml(value)
}
