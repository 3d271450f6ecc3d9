/** A range of addresses as a plan writes it, and as one computes with it. */
import { address, formatValue } from '../net/address.ts'
import type { Range } from '../net/range.ts'

export interface AddressRange {
  readonly start: string
  readonly end: string
}

export function parseAddressRange({ start, end }: AddressRange): Range {
  const first = address(start)
  return { family: first.family, first: first.value, last: address(end).value }
}

export function formatAddressRange({ family, first, last }: Range): AddressRange {
  return { start: formatValue(family, first), end: formatValue(family, last) }
}
