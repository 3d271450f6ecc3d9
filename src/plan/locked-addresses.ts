/** What the lock says of single addresses, by holder and family. */
import { type Family, parseAddress } from '../net/address.ts'
import type { Held } from './lock.ts'

export type ByFamily = Readonly<Record<Family, ReadonlyMap<string, bigint>>>

export function readHeld(held: Held | undefined): ByFamily {
  const read = { 4: new Map<string, bigint>(), 6: new Map<string, bigint>() }
  for (const name in held) {
    for (const text of held[name] ?? []) {
      const address = parseAddress(text)
      if (address) read[address.family].set(name, address.value)
    }
  }
  return read
}
