/** Names the files in the folder of one sandbox. */
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface SandboxFolder {
  readonly root: string
  /** Written by `settings.ts` at the first start. */
  readonly settings: string
  /** The programs that the supervisor runs: `supervisor-spec.ts`. */
  readonly supervisorSpec: string
  /** Why the last start failed, written by the supervisor. */
  readonly failure: string
  readonly etcd: string
  readonly pki: string
  readonly logs: string
  /** Admin access from this machine. */
  readonly kubeconfig: string
  readonly control: string
  /** Files of the nodes that run pods. */
  readonly nodes: string
  /** The layout of these nodes: `nodes/node-layout.ts`. */
  readonly nodeRecord: string
  /** Hosts of clouds whose services run: `openstack/clouds.ts`. */
  readonly openstack: string
}

export function sandboxFolder(root: string): SandboxFolder {
  const inside = (name: string): string => path.join(root, name)
  return {
    root,
    settings: inside('sandbox.json'),
    supervisorSpec: inside('supervisor.json'),
    failure: inside('failure.json'),
    etcd: inside('etcd'),
    pki: inside('pki'),
    logs: inside('logs'),
    kubeconfig: inside('kubeconfig'),
    control: socketPath(inside('control.sock')),
    nodes: inside('nodes'),
    nodeRecord: inside('nodes.json'),
    openstack: inside('openstack'),
  }
}

/** The kernel limits the path of a socket to 107 bytes; a longer path is replaced by a short one in the temporary folder. */
export function socketPath(file: string): string {
  if (Buffer.byteLength(file) < 100) return file
  const id = createHash('sha256').update(file).digest('hex').slice(0, 20)
  return path.join(tmpdir(), `stackloom-${id}.sock`)
}

export function logFile(folder: SandboxFolder, program: string): string {
  return path.join(folder.logs, `${program}.log`)
}
