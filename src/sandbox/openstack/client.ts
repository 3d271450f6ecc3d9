/**
 * Runs a command as a client of a cloud, on its networks and with its names: with OpenStack's client programs and the folder of
 * the caller, or with all that this machine has.
 */
import { spawn } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { toProgram } from '../../exec/process.ts'
import { forward } from '../forward.ts'
import { noSuchCloud } from '../hosts/findings.ts'
import { endWithParent, startHost } from '../hosts/host.ts'
import type { CloudRecord } from './clouds.ts'

export interface ClientRequest {
  readonly clouds: readonly CloudRecord[]
  /** By its name in the site file or its namespace. */
  readonly cloud: string
  readonly sandbox: string
  readonly command: readonly string[]
}

export interface RootedRequest extends ClientRequest {
  readonly root: string
  readonly cwd: string
}

export interface LocalRequest extends ClientRequest {
  /** This program. */
  readonly self: readonly string[]
  /** The port of the API server on the loopback of this machine. */
  readonly apiPort: number
}

/** Returns the exit code of the command, which has the streams of this process. */
export async function runAsClient({ root, cwd, command, ...request }: RootedRequest): Promise<number> {
  const client = findClient(request)
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-client-'))
  // The names and the authority of the cloud, as its client host knows them.
  const files = `/proc/${client}/root`
  const setup = [
    `cat ${files}/etc/hosts >etc/hosts`,
    `cat ${files}/usr/local/share/ca-certificates/cloud.crt >>etc/ssl/certs/ca-certificates.crt`,
  ]
  const name = `${request.cloud}-client`
  const host = await startHost({ name, root, folder, networkOf: client, binds: [cwd], setup })
  try {
    const script = 'cd "$1" && shift && exec "$@"'
    return await runInForeground(host.enter(['sh', '-c', script, 'sh', cwd, ...command]), clientEnvironment)
  } finally {
    await host.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The networks of a cloud lead to no API server: connections to it are forwarded through a socket with a path. */
export async function runLocally({ self, apiPort, command, ...request }: LocalRequest): Promise<number> {
  const client = findClient(request)
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-client-'))
  const [socket, names] = [path.join(folder, 'api'), path.join(folder, 'hosts')]
  try {
    await copyFile(`/proc/${client}/root/etc/hosts`, names)
    const api = await forward({ path: socket }, { port: apiPort, host: '127.0.0.1' })
    const script = 'mount --bind "$1" /etc/hosts && shift && exec "$@"'
    const enter = [
      'nsenter',
      `--target=${client}`,
      '--net',
      '--',
      'unshare',
      '--mount',
      'sh',
      '-c',
      script,
      'sh',
      names,
    ]
    const inside = [...self, 'sandbox', 'inside', String(apiPort), socket, '--', ...command]
    try {
      return await runInForeground([...endWithParent, ...enter, ...inside], {})
    } finally {
      api.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The other end of `runLocally`, in the network of the client: the API server answers where the kubeconfig says. */
export async function runInside(apiPort: number, socket: string, command: readonly string[]): Promise<number> {
  const api = await forward({ port: apiPort, host: '127.0.0.1' }, { path: socket })
  try {
    return await runInForeground([...endWithParent, ...command], {})
  } finally {
    api.close()
  }
}

/** A process that has the network of the client of a cloud. */
function findClient({ clouds, cloud, sandbox }: Omit<ClientRequest, 'command'>): number {
  const client = clouds.find((record) => record.cloud === cloud || record.namespace === cloud)?.hosts['client']
  if (client !== undefined) return client
  throw failure(noSuchCloud, { cloud, sandbox, known: clouds.map((record) => record.cloud) })
}

function runInForeground(commandLine: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const { file, args } = toProgram(commandLine)
  const child = spawn(file, [...args], { stdio: 'inherit', env: { ...process.env, ...env } })
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 9)))
  })
}

const clientEnvironment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' }
