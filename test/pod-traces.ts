/** Finds what a sandbox with nodes has, or left, on this machine. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import type { NodeLayout } from '../src/sandbox/nodes/node-layout.ts'
import { descendants, readProcesses } from './process-tree.ts'

const NAMESPACE_KINDS = ['mnt', 'net', 'pid'] as const

/** The namespaces of a process, empty when it has ended. */
function namespacesOf(pid: number | string): readonly string[] {
  try {
    return NAMESPACE_KINDS.map((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`))
  } catch {
    return []
  }
}

export interface SandboxNamespaces {
  readonly ids: ReadonlySet<string>
  /** When the last process started that was there then. The kernel gives the ids of ended namespaces to those of later processes. */
  readonly readAt: number
}

export const noNamespaces: SandboxNamespaces = { ids: new Set(), readAt: 0 }

/** The namespaces that a running sandbox made: of its nodes, its switches and its pods. */
export function readNamespaces(pid: number): SandboxNamespaces {
  const elsewhere = new Set(namespacesOf('self'))
  const processes = readProcesses()
  const all = descendants(pid, processes).flatMap(namespacesOf)
  return {
    ids: new Set(all.filter((found) => !elsewhere.has(found))),
    readAt: Math.max(...[...processes.values()].map(({ startedAt }) => startedAt)),
  }
}

/** What it runs since when, and its namespaces. */
function describeProcess(pid: number): string {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,stat=,etimes=,args=', '-p', String(pid)], { encoding: 'utf8' })
  return `${stdout.trim() || 'it has ended since'} (${namespacesOf(pid).join(' ')})`
}

/** What a sandbox has on this machine: processes, mounts, cgroups, interfaces, and network namespaces with names. */
export function findTraces(layout: NodeLayout, { ids, readAt }: SandboxNamespaces): readonly string[] {
  const root = path.dirname(path.dirname(layout.nodes[0]?.folder ?? ''))
  const list = (...words: readonly string[]): readonly string[] =>
    spawnSync(words[0] ?? '', words.slice(1), { encoding: 'utf8' }).stdout.split('\n')
  const hierarchies = readdirSync('/sys/fs/cgroup', { withFileTypes: true })
  const cgroups = ['', ...hierarchies.filter((entry) => entry.isDirectory()).map(({ name }) => name)]
  return [
    ...list('ps', '-eo', 'args=').filter((line) => line.includes(root)),
    ...[...readProcesses()]
      .filter(([pid, { startedAt }]) => startedAt <= readAt && namespacesOf(pid).some((found) => ids.has(found)))
      .map(([pid]) => `process ${pid} in a namespace of the sandbox: ${describeProcess(pid)}`),
    ...readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(root)),
    ...cgroups.flatMap((name) =>
      readdirSync(path.join('/sys/fs/cgroup', name)).filter((entry) => `/${entry}` === layout.cgroup),
    ),
    ...list('ip', 'netns', 'list').filter((line) => line.startsWith('cni-')),
    ...list('ip', '-o', 'link').filter((line) => / (node\d|p\d-|seg\d|cni0)/.test(line)),
  ]
}
