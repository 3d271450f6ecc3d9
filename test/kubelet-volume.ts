/**
 * Plays the part of a kubelet that brings ConfigMaps into a pod: a folder per state, and a symbolic link that is swapped.
 *
 * The same steps in the same order as the kubelet's atomic writer; when a change arrives is the caller's to say.
 */
import {
  existsSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import type { KubeObject } from '../src/api/object.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { createRuntime } from '../src/kube/runtime.ts'

export type VolumeFiles = Readonly<Record<string, string>>

/** Writes a state of the volume; one that says the same is not written. In one go, as a quick kubelet would. */
export function kubeletVolume(folder: string): (files: VolumeFiles) => void {
  let states = 0
  let last: VolumeFiles = {}
  const data = path.join(folder, '..data')
  return (files) => {
    const names = Object.keys(files)
    if (existsSync(data) && sameFiles(files, last)) return
    states += 1
    const state = `..state_${states}`
    const before = existsSync(data) ? readlinkSync(data) : undefined
    mkdirSync(path.join(folder, state), { recursive: true, mode: 0o755 })
    for (const name of names) writeFileSync(path.join(folder, state, name), files[name] ?? '')
    symlinkSync(state, `${data}_tmp`)
    renameSync(`${data}_tmp`, data)
    for (const name of names) {
      if (!(name in last)) symlinkSync(path.join('..data', name), path.join(folder, name))
    }
    const gone = Object.keys(last).filter((name) => !(name in files))
    for (const name of gone) unlinkSync(path.join(folder, name))
    if (before !== undefined) {
      for (const name of Object.keys(last)) unlinkSync(path.join(folder, before, name))
      rmdirSync(path.join(folder, before))
    }
    last = files
  }
}

function sameFiles(a: VolumeFiles, b: VolumeFiles): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

export interface Following {
  readonly stop: () => Promise<void>
}

/** Follows the named ConfigMaps of a cluster into volumes, each change after its delay, until stopped. */
export async function followConfigMaps(options: {
  readonly client: KubeClient
  readonly namespace: string
  readonly volumes: readonly { readonly names: readonly string[]; readonly folder: string }[]
  /** How long this kubelet takes for a change. */
  readonly delayMs?: () => number
}): Promise<Following> {
  const { client, namespace, volumes, delayMs = () => 0 } = options
  const runtime = createRuntime({ client })
  const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const cache = runtime.cache({ kind, namespace })
  const timers = new Set<NodeJS.Timeout>()
  const due = new Set<() => void>()
  const writers = volumes.map(({ names, folder }) => {
    const write = kubeletVolume(folder)
    return {
      names,
      bring: () => write(Object.assign({}, ...names.map((name) => filesOf(cache.get(`${namespace}/${name}`))))),
    }
  })
  /** As a kubelet does: it brings what is true when it gets to it, not every state in between. */
  const bringSoon = (bring: () => void): void => {
    if (due.has(bring)) return
    due.add(bring)
    setImmediate(() => {
      due.delete(bring)
      if (!control.signal.aborted) bring()
    })
  }
  const control = new AbortController()
  const running = runtime.run(control.signal)
  await cache.waitForSync()
  for (const { bring } of writers) bring()
  const unsubscribe = cache.subscribe(({ object }) => {
    for (const { names, bring } of writers) {
      if (!names.includes(object.metadata.name)) continue
      const ms = delayMs()
      if (ms === 0) bringSoon(bring)
      else {
        const timer = setTimeout(() => {
          timers.delete(timer)
          bringSoon(bring)
        }, ms)
        timers.add(timer)
      }
    }
  })
  return {
    stop: async () => {
      unsubscribe()
      for (const timer of timers) clearTimeout(timer)
      control.abort()
      await running
    },
  }
}

function filesOf(configMap: KubeObject | undefined): VolumeFiles {
  return (configMap?.['data'] ?? {}) as VolumeFiles
}
