/**
 * Plays the part of a kubelet that brings ConfigMaps into a pod: a folder per state, and a symbolic link that is swapped.
 *
 * The same steps in the same order as the kubelet's atomic writer; when a change arrives is the caller's to say.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
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
  let last: string | undefined
  return (files) => {
    const said = JSON.stringify(files)
    if (said === last) return
    last = said
    states += 1
    const state = `..state_${states}`
    const data = path.join(folder, '..data')
    mkdirSync(path.join(folder, state), { recursive: true, mode: 0o755 })
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, state, name), text)
    const before = existsSync(data) ? readlinkSync(data) : undefined
    symlinkSync(state, `${data}_tmp`)
    renameSync(`${data}_tmp`, data)
    const visible = new Set(readdirSync(folder).filter((name) => !name.startsWith('..')))
    for (const name of Object.keys(files)) {
      if (!visible.delete(name)) symlinkSync(path.join('..data', name), path.join(folder, name))
    }
    for (const name of visible) rmSync(path.join(folder, name))
    if (before !== undefined) rmSync(path.join(folder, before), { recursive: true })
  }
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
      bring: () =>
        write(Object.assign({}, ...names.map((name) => filesOf(cache.get(`${namespace}/${name}`))))),
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
  await cache.whenSynced()
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
