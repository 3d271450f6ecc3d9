/** Connects hosts to the networks of their cloud: one bridge without an address per network, in the network of this process. */
import { createHash } from 'node:crypto'
import { failure } from '../../errors/failure.ts'
import { describeExit, type Exec, lastLines, succeeded, toProgram } from '../../exec/process.ts'
import { hostNotStarted } from '../hosts/findings.ts'
import type { Host } from '../hosts/host.ts'

export interface Attachment {
  readonly network: string
  /** With prefix length. */
  readonly addresses: readonly string[]
}

/** The bridge of a cloud's network; two clouds never share one. */
function cloudBridge(namespace: string, network: string): string {
  return `sl${shortHash(`${namespace}/${network}`)}`
}

export async function attachHost(
  host: Host,
  namespace: string,
  attachments: readonly Attachment[],
  exec: Exec,
): Promise<void> {
  const run = async (on: Exec, command: readonly string[], mayFail = false): Promise<void> => {
    const { exit, stderr } = await on(toProgram(command))
    if (succeeded(exit) || mayFail) return
    const reason = `${command.join(' ')}: ${lastLines(stderr) || describeExit(exit)}`
    throw failure(hostNotStarted, { name: host.name, reason })
  }
  for (const { network, addresses } of attachments) {
    const bridge = cloudBridge(namespace, network)
    const port = `p${shortHash(`${host.pid} ${network}`)}`
    const device = network.slice(0, 15)
    // It may exist from another host of this cloud.
    await run(exec, ['ip', 'link', 'add', bridge, 'type', 'bridge'], true)
    await run(exec, ['ip', 'link', 'set', bridge, 'alias', `${namespace} ${network}`, 'up'])
    await run(exec, ['ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', device, 'netns', String(host.pid)])
    await run(exec, ['ip', 'link', 'set', port, 'master', bridge, 'up'])
    for (const address of addresses) {
      const family = address.includes(':') ? ['nodad'] : []
      await run(host.exec, ['ip', 'address', 'add', address, 'dev', device, ...family])
    }
    await run(host.exec, ['ip', 'link', 'set', device, 'up'])
  }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10)
}
