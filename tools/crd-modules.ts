/** Where the pinned modules with upstream CRDs are on this machine: unpacked by Go, checked by their sums. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

interface CrdModule {
  readonly module: string
  readonly version: string
  readonly sum: string
  readonly files: string
  readonly sets: readonly string[]
}

/** The folder of one pinned module; `set` decides where a name exists in two versions. */
export function moduleFolder(name: string, set: string): string {
  const { modules } = JSON.parse(readFileSync('sandbox/crds.json', 'utf8')) as {
    modules: readonly CrdModule[]
  }
  const pin = modules.find((one) => one.module === name && one.sets.includes(set))
  if (!pin) throw new Error(`sandbox/crds.json has no ${name} in the set ${set}`)
  const answer = execFileSync('go', ['mod', 'download', '-json', `${pin.module}@${pin.version}`], {
    cwd: '/',
    encoding: 'utf8',
  })
  const { Dir, Sum } = JSON.parse(answer) as { Dir: string; Sum: string }
  if (Sum !== pin.sum) throw new Error(`${pin.module}@${pin.version} has the sum ${Sum}, not ${pin.sum}`)
  return Dir
}
