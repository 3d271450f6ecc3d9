/** Runs a command as a client of a cloud: on its networks, with OpenStack's client programs and the folder of the caller. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { toProgram } from '../../exec/process.ts'
import { noSuchCloud } from '../hosts/findings.ts'
import { startHost } from '../hosts/host.ts'
import type { CloudRecord } from './clouds.ts'

export interface ClientRequest {
  readonly clouds: readonly CloudRecord[]
  /** By its name in the site file or its namespace. */
  readonly cloud: string
  readonly sandbox: string
  readonly root: string
  readonly cwd: string
  readonly command: readonly string[]
}

/** Returns the exit code of the command, which has the streams of this process. */
export async function runAsClient({ clouds, cloud, sandbox, root, cwd, command }: ClientRequest): Promise<number> {
  const found = clouds.find((record) => record.cloud === cloud || record.namespace === cloud)
  const client = found?.hosts['client']
  if (!found || client === undefined) {
    throw failure(noSuchCloud, { cloud, sandbox, known: clouds.map((record) => record.cloud) })
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-client-'))
  // The names and the authority of the cloud, as its client host knows them.
  const files = `/proc/${client}/root`
  const setup = [
    `cat ${files}/etc/hosts >etc/hosts`,
    `cat ${files}/usr/local/share/ca-certificates/cloud.crt >>etc/ssl/certs/ca-certificates.crt`,
  ]
  const host = await startHost({ name: `${cloud}-client`, root, folder, networkOf: client, binds: [cwd], setup })
  try {
    const script = 'cd "$1" && shift && exec "$@"'
    const { file, args } = toProgram(host.enter(['sh', '-c', script, 'sh', cwd, ...command]))
    const child = spawn(file, [...args], { stdio: 'inherit', env: { ...process.env, ...clientEnvironment } })
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 9)))
    })
  } finally {
    await host.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const clientEnvironment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' }
