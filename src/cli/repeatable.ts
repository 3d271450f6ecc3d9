/** Parsers of options that may, or must not, be repeated; pass them to commander's `option`. */
import { InvalidArgumentError } from 'commander'

export function repeatable(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}

/** Commander keeps the last value; an option that names what to work on must not lose the others silently. */
export function once(value: string, previous: string | undefined): string {
  if (previous !== undefined) throw new InvalidArgumentError(`It is given twice: ${previous} and ${value}.`)
  return value
}
