/** Runs a compute host of a cloud: nova-compute with the driver for tests, on the networks of the cloud. */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { type Exec, succeeded } from '../../exec/process.ts'
import { type Host, startHost } from '../hosts/host.ts'
import type { CloudDefinition } from './cloud-definition.ts'
import { attachHost } from './cloud-network.ts'
import { hostsFile, trustAuthority, writeScript } from './host-files.ts'
import { computeFile, type LocalSecrets } from './service-files.ts'
import { superviseDaemons } from './supervise-daemons.ts'

export interface ComputeRequest {
  readonly name: string
  readonly cell: string
  /** By network, without prefix length; a network that is missing here is not attached. */
  readonly addresses: Readonly<Record<string, string>>
}

export interface ComputeHost {
  readonly request: ComputeRequest
  readonly pid: number
  /** How nova-compute ended, unless it has run for a minute since. */
  readonly problem: () => string | undefined
  /** When the host has ended. */
  readonly ended: Promise<void>
  readonly stop: () => Promise<void>
}

const PROGRAM = 'nova-compute'

export function computeLog(folder: string, host: string): string {
  return path.join(folder, 'logs', host, `${PROGRAM}.log`)
}

interface ComputeOptions {
  readonly request: ComputeRequest
  readonly definition: CloudDefinition
  readonly root: string
  /** Files of the cloud. */
  readonly folder: string
  readonly secrets: LocalSecrets
  /** The certificate of the cloud's authority. */
  readonly authority: string
  /** Runs `ip` in the network that has the bridges of the cloud. */
  readonly exec: Exec
  /** Called when nova-compute starts or ends. */
  readonly onChange: () => void
}

export async function runComputeHost(options: ComputeOptions): Promise<ComputeHost> {
  const { request, definition, root, folder, secrets, authority } = options
  // nova-compute would run, and wait forever for a message bus that has no such virtual host.
  if (!definition.cells.includes(request.cell)) throw new Error(`the control plane has no cell ${request.cell}`)
  const host = await startHost({ name: request.name, root, folder: path.join(folder, 'compute', request.name) })
  const log = computeLog(folder, request.name)
  await mkdir(path.dirname(log), { recursive: true, mode: 0o700 })
  const daemons = superviseDaemons(host, path.dirname(log), options.onChange)
  const stop = async (): Promise<void> => {
    daemons.release()
    await host.stop()
  }
  try {
    await configure(host, options)
  } catch (error) {
    await stop()
    throw error
  }
  daemons.start({ name: PROGRAM, user: 'nova', home: '/var/lib/nova', command: [PROGRAM] })
  const problem = (): string | undefined => {
    const reason = daemons.statuses()[0]?.reason
    return reason === undefined ? undefined : `${PROGRAM} ${reason}`
  }
  return { request, pid: host.pid, problem, ended: host.ended, stop }

  async function configure(on: Host, { request: { addresses, cell } }: ComputeOptions): Promise<void> {
    const attachments = definition.networks.flatMap(({ name, prefixLength }) => {
      const address = addresses[name]
      return address === undefined ? [] : [{ network: name, addresses: [`${address}/${prefixLength}`] }]
    })
    await attachHost(on, definition.namespace, attachments, options.exec)
    const known = definition.names.filter(({ address }) => address !== undefined)
    const address = Object.values(addresses)[0] ?? '127.0.0.1'
    const files = [hostsFile(on.name, known), computeFile(definition, secrets, { cell, address })]
    const script = `set -e\nmkdir -p /var/lib/nova/tmp\nchown nova: /var/lib/nova/tmp\n${writeScript(files)}${trustAuthority(authority)}`
    const { exit, stderr } = await on.exec({ file: 'sh', args: ['-s'], input: script })
    if (!succeeded(exit)) throw new Error(`the configuration of ${on.name}: ${stderr}`)
  }
}
