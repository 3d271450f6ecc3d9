/**
 * Runs the pod of a DNSMasq's Deployment on this machine: its commands, arguments, environment and volumes, with the
 * real dnsmasq and without root. Loopback replaces the pod's network, and a folder its root. Servers that are not on
 * loopback are removed from the configuration, because tests use no other network.
 */
import { spawn, spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { KubeObject } from '../src/api/object.ts'

interface Mount {
  readonly name: string
  readonly mountPath: string
  readonly subPath?: string
}

interface Container {
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[]
  readonly volumeMounts: readonly Mount[]
}

export interface PodVolume {
  readonly name: string
  readonly configMap?: { readonly name: string }
  readonly projected?: { readonly sources: readonly { readonly configMap: { readonly name: string } }[] }
  readonly emptyDir?: object
}

export interface PodSpec {
  readonly initContainers: readonly Container[]
  readonly containers: readonly Container[]
  readonly volumes: readonly PodVolume[]
}

export function podSpec(deployment: KubeObject): PodSpec {
  return (deployment['spec'] as { readonly template: { readonly spec: PodSpec } }).template.spec
}

/** The ConfigMaps of a volume. */
export function volumeConfigMaps({ configMap, projected }: PodVolume): readonly string[] {
  return configMap ? [configMap.name] : (projected?.sources.map((source) => source.configMap.name) ?? [])
}

const UNPRIVILEGED_UID = 65_534

export interface PodFolder {
  readonly root: string
  /** The folder of a volume. */
  readonly volume: (name: string) => string
  readonly remove: () => Promise<void>
}

export async function podFolder(): Promise<PodFolder> {
  const root = await mkdtemp(path.join(tmpdir(), 'stackloom-dns-'))
  await chmod(root, 0o755)
  return {
    root,
    volume: (name) => path.join(root, 'volumes', name),
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

export interface RunningPod {
  readonly address: string
  readonly port: number
  readonly pid: number
  /** The log so far. */
  readonly log: () => string
  readonly ended: Promise<number | null>
  readonly stop: () => Promise<void>
}

export interface PodOptions {
  readonly deployment: KubeObject
  readonly folder: PodFolder
  readonly address: string
  /** Instead of the Deployment's: `HOSTS_RELOAD=signal`. */
  readonly env?: Readonly<Record<string, string>>
  readonly changeArgument?: (argument: string) => string
}

/** Its volumes must be written. Resolves when the server has read its hosts. */
export async function startPod(options: PodOptions): Promise<RunningPod> {
  const { deployment, folder, address, env = {}, changeArgument = (argument) => argument } = options
  const spec = podSpec(deployment)
  await mountAll(spec, folder)
  const run = (container: Container): { readonly words: readonly string[]; readonly env: NodeJS.ProcessEnv } => {
    const placed = (text: string): string =>
      text.replaceAll('$(POD_IP)', address).replace(/(?<=^|=)\/[^\s]+/, (at) => inside(at, container, folder))
    const set = container.env.map(({ name, value = '' }) => [name, placed(value)])
    const words = [...container.command, ...container.args].map((word) => changeArgument(placed(word)))
    return {
      words: process.getuid?.() === 0 ? ['setpriv', `--reuid=${UNPRIVILEGED_UID}`, '--clear-groups', ...words] : words,
      env: { PATH: process.env['PATH'], ...Object.fromEntries(set), POD_IP: address, ...env },
    }
  }
  for (const container of spec.initContainers) {
    const { words, env: environment } = run(container)
    const { status, stderr } = spawnSync(words[0] ?? '', words.slice(1), {
      env: environment,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`the init container ended with ${status}: ${stderr}`)
  }
  const [container] = spec.containers
  if (!container) throw new Error('the pod has no container')
  const { words, env: environment } = run(container)
  const child = spawn(words[0] ?? '', words.slice(1), {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  let over = false
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (log += text))
  const ended = new Promise<number | null>((resolve) =>
    child.on('exit', (code) => {
      over = true
      resolve(code)
    }),
  )
  while (!log.includes(': started, version')) {
    if (over) throw new Error(`the server ended: ${log}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return {
    address,
    port: 5353,
    pid: child.pid ?? 0,
    log: () => log,
    ended,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** A path in or above a mounted folder is in the pod's root; any other is on this machine. */
function inside(at: string, { volumeMounts }: Container, { root }: PodFolder): string {
  const isMounted = volumeMounts.some(({ mountPath }) => mountPath.startsWith(at) || at.startsWith(mountPath))
  return isMounted ? `${root}${at}` : at
}

async function mountAll({ containers, volumes }: PodSpec, folder: PodFolder): Promise<void> {
  for (const { name, mountPath, subPath } of containers.flatMap((container) => container.volumeMounts)) {
    const volume = volumes.find((volume) => volume.name === name)
    const target = `${folder.root}${mountPath}`
    await mkdir(path.dirname(target), { recursive: true, mode: 0o755 })
    if (volume?.emptyDir) {
      await mkdir(target, { recursive: true })
      if (process.getuid?.() === 0) await chown(target, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
    } else if (subPath !== undefined) {
      // Like the kubelet: a subPath mount has the content of the start.
      const text = await readFile(path.join(folder.volume(name), '..data', subPath), 'utf8')
      await writeFile(target, withoutFarServers(text))
    } else {
      await rm(target, { recursive: true, force: true })
      await symlink(folder.volume(name), target)
    }
  }
}

function withoutFarServers(config: string): string {
  const isFar = (line: string): boolean => {
    const [, address] = /^(?:server=(?:\/.*\/)?|rev-server=[^,]*,)([0-9a-fA-F.:]+)/.exec(line) ?? []
    return address !== undefined && !address.startsWith('127.') && address !== '::1'
  }
  return config
    .split('\n')
    .filter((line) => !isFar(line))
    .join('\n')
}
