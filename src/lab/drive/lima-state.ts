/** Reads which VMs and data disks Lima has, from `limactl`. It changes nothing. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { describeExit, lastLines, succeeded } from '../../exec/process.ts'
import { readYaml } from '../../yaml/read.ts'
import { limaQueryFailed, vmsNeedMacos } from '../findings/lab-run.ts'
import { missingTool, type Tools } from './tools.ts'

export interface LimaInstance {
  readonly name: string
  /** Running, Stopped, Broken, Uninitialized. */
  readonly status: string
  readonly dir: string
  /** Lima's copy of the definition. */
  readonly definition: unknown
}

export interface LimaDisk {
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly dir: string
  /** The VM that locks the disk; empty when it is not locked. */
  readonly instance: string
}

export interface LimaState {
  readonly instances: ReadonlyMap<string, LimaInstance>
  readonly disks: ReadonlyMap<string, LimaDisk>
}

export const emptyLimaState: LimaState = { instances: new Map(), disks: new Map() }

export function isRunning({ instances }: LimaState, instance: string): boolean {
  return instances.get(instance)?.status === 'Running'
}

/** A lab has VMs on macOS only. */
export function requireMacos({ system }: { readonly system: string }): void {
  if (system !== 'darwin') throw failure(vmsNeedMacos, { system }, { exitCode: 1 })
}

export async function readLimaState(tools: Tools): Promise<LimaState> {
  const listed = await queryJsonLines<Omit<LimaInstance, 'definition'>>(tools, ['list', '--json'])
  const disks = await queryJsonLines<LimaDisk>(tools, ['disk', 'ls', '--json'])
  const instances = await Promise.all(
    listed.map(async ({ name, status, dir }): Promise<LimaInstance> => {
      const text = await readFile(path.join(dir, 'lima.yaml'), 'utf8').catch(() => '')
      return { name, status, dir, definition: readYaml(text, 'lima.yaml').value }
    }),
  )
  return {
    instances: new Map(instances.map((instance) => [instance.name, instance])),
    disks: new Map(disks.map((disk) => [disk.name, { ...disk, instance: disk.instance ?? '' }])),
  }
}

/** Throws when limactl fails: an empty list would mean that all VMs are missing. Warnings between the lines are ignored. */
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
