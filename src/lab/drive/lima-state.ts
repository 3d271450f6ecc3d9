/** What Lima has: its VMs and data disks, as `limactl` tells. Read only. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { describeExit, lastLines, succeeded } from '../../exec/process.ts'
import { readYaml } from '../../yaml/read.ts'
import { limaQueryFailed, vmsNeedMacos } from '../findings/lab-run.ts'
import { missingTool } from './missing-tool.ts'
import type { Tools } from './tools.ts'

export interface LimaInstance {
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
  readonly instances: ReadonlyMap<string, LimaInstance>
  readonly disks: ReadonlyMap<string, LimaDisk>
}

export const emptyWorld: World = { instances: new Map(), disks: new Map() }

/** Elsewhere the lab has no VMs of ours: nothing could be asked of them, or done to them. */
export function requireMacos({ system }: { readonly system: string }): void {
  if (system !== 'darwin') throw failure(vmsNeedMacos, { system }, { exitCode: 1 })
}

interface ListedInstance {
  readonly name: string
  readonly status: string
  readonly dir: string
}

export async function readLimaState(tools: Tools): Promise<World> {
  const instances = await queryJsonLines<ListedInstance>(tools, ['list', '--json'])
  const disks = await queryJsonLines<LimaDisk>(tools, ['disk', 'ls', '--json'])
  const known = await Promise.all(
    instances.map(async ({ name, status, dir }): Promise<LimaInstance> => {
      const text = await readFile(path.join(dir, 'lima.yaml'), 'utf8').catch(() => '')
      return { name, status, dir, definition: readYaml(text, 'lima.yaml').value }
    }),
  )
  return {
    instances: new Map(known.map((instance) => [instance.name, instance])),
    disks: new Map(disks.map((disk) => [disk.name, { ...disk, instance: disk.instance ?? '' }])),
  }
}

/**
 * JSON, one object per line; whatever else it prints (warnings) is not ours. Without an answer nothing is known: an
 * empty world would be told as VMs that were never created, or that are deleted.
 */
async function queryJsonLines<T>(tools: Tools, args: readonly string[]): Promise<readonly T[]> {
  const { exit, stdout, stderr } = await tools.query(['limactl', ...args])
  if (exit.kind === 'not-started') throw missingTool('limactl', exit.reason)
  if (!succeeded(exit)) {
    const command = `limactl ${args.join(' ')}`
    const why = lastLines(stderr, 1) || describeExit(exit)
    throw failure(limaQueryFailed, { command, why }, { exitCode: 1 })
  }
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as T)
}
