/** Runs garbage collections, for tests of what a program keeps. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Whether nothing refers to the object any more. */
export async function isCollected(reference: WeakRef<object>): Promise<boolean> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let round = 0; round < 10 && reference.deref(); round += 1) {
    // A WeakRef keeps its object until the end of the turn in which it was read.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  return reference.deref() === undefined
}
