/** The folder of one sandbox: which file is where. Knows names only; who writes them is said beside each. */
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface SandboxFolder {
  readonly root: string
  /** What was decided at the first start: `settings.ts`. */
  readonly settings: string
  /** What the supervisor is to do: `mission.ts`. */
  readonly supervisorSpec: string
  /** Why the last start failed: written by the supervisor. */
  readonly failure: string
  readonly etcd: string
  readonly pki: string
  readonly logs: string
  /** For people and for us: the server as this machine reaches it. */
  readonly kubeconfig: string
  readonly control: string
}

export function sandboxFolder(root: string): SandboxFolder {
  const inside = (name: string): string => path.join(root, name)
  return {
    root,
    settings: inside('sandbox.json'),
    supervisorSpec: inside('mission.json'),
    failure: inside('failure.json'),
    etcd: inside('etcd'),
    pki: inside('pki'),
    logs: inside('logs'),
    kubeconfig: inside('kubeconfig'),
    control: socketPath(inside('control.sock')),
  }
}

/** The kernel's limit for the path of a socket is 107 bytes; a deep folder gets a short name elsewhere. */
export function socketPath(wanted: string): string {
  if (Buffer.byteLength(wanted) < 100) return wanted
  const id = createHash('sha256').update(wanted).digest('hex').slice(0, 20)
  return path.join(tmpdir(), `stackloom-${id}.sock`)
}

export function logFile(folder: SandboxFolder, program: string): string {
  return path.join(folder.logs, `${program}.log`)
}
