/**
 * First in, first out, in constant time: an array with a moving head.
 *
 * `Array.shift` moves every element, and a Set walks over its tombstones; both are quadratic when drained.
 */

export interface Fifo<T> {
  readonly push: (item: T) => void
  readonly shift: () => T | undefined
  readonly length: () => number
}

/** Below this the gap at the front is not worth closing. */
const smallGap = 64

export function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = []
  let head = 0
  return {
    push: (item) => {
      items.push(item)
    },
    shift: () => {
      if (head === items.length) return undefined
      const item = items[head]
      items[head] = undefined
      head += 1
      // Closing the gap when it is half of the array costs each item at most one move.
      if (head > smallGap && head * 2 > items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
    length: () => items.length - head,
  }
}
