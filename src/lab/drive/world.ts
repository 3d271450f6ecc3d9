/** What Lima has: its VMs and data disks, as `limactl` tells. Read only. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { readYaml } from '../../yaml/read.ts'
import type { Tools } from './tools.ts'

export interface Instance {
  readonly name: string
  /** Running, Stopped, Broken, Uninitialized. */
  readonly status: string
  readonly dir: string
  /** Lima's own copy of the definition. */
  readonly definition: unknown
}

export interface LimaDisk {
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly dir: string
  /** The VM that has locked it; empty when nobody has. */
  readonly instance: string
}

export interface World {
  readonly instances: ReadonlyMap<string, Instance>
  readonly disks: ReadonlyMap<string, LimaDisk>
}

export const emptyWorld: World = { instances: new Map(), disks: new Map() }

interface ListedInstance {
  readonly name: string
  readonly status: string
  readonly dir: string
}

export async function observe(tools: Tools): Promise<World> {
  const instances = await rows<ListedInstance>(tools, ['list', '--json'])
  const disks = await rows<LimaDisk>(tools, ['disk', 'ls', '--json'])
  const known = await Promise.all(
    instances.map(async ({ name, status, dir }): Promise<Instance> => {
      const text = await readFile(path.join(dir, 'lima.yaml'), 'utf8').catch(() => '')
      return { name, status, dir, definition: readYaml(text, 'lima.yaml').value }
    }),
  )
  return {
    instances: new Map(known.map((one) => [one.name, one])),
    disks: new Map(disks.map((one) => [one.name, { ...one, instance: one.instance ?? '' }])),
  }
}

/** JSON, one object per line; whatever else it prints (warnings) is not ours. */
async function rows<T>(tools: Tools, args: readonly string[]): Promise<readonly T[]> {
  const { stdout } = await tools.ask(['limactl', ...args])
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as T)
}
