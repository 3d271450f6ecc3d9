/** What the lock says of single addresses, by holder and family. */
import { createNeighbourParser, type Family } from '../../net/address.ts'
import type { HeldAddresses } from '../lock.ts'

export type ByFamily = Readonly<Record<Family, ReadonlyMap<string, bigint>>>

/** Who is in both has what comes last. */
export function parseHeldAddresses(...all: readonly (HeldAddresses | undefined)[]): ByFamily {
  const read = { 4: new Map<string, bigint>(), 6: new Map<string, bigint>() }
  const parse = createNeighbourParser()
  for (const held of all) {
    for (const name in held) {
      for (const text of held[name] ?? []) {
        const address = parse(text)
        if (address) read[address.family].set(name, address.value)
      }
    }
  }
  return read
}
