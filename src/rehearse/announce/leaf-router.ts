/** Runs the BGP routers of a site in the enclosure: FRR's bgpd, one for each peer, which installs no route. */
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import { describeExit, lastLines, succeeded } from '../../exec/process.ts'
import type { Enclosure } from '../enclosure.ts'
import { partFailed } from '../findings.ts'
import { type Leaf, leafConfig, parseRoutes } from './leaf-plan.ts'

export interface RunningLeaf {
  readonly leaf: Leaf
  /** By address, from how many neighbours it is learnt. */
  readonly routes: () => Promise<ReadonlyMap<string, number>>
}

/** bgpd needs its user in a group, which its package would have created. Only the enclosure sees this file. */
const ADD_GROUP =
  'grep -q ^frrvty: /etc/group || { { cat /etc/group; echo frrvty:x:65533:root; } >"$0" && mount --bind "$0" /etc/group; }'

/** bgpd keeps logs of crashes below /var/tmp, which no option changes. Only this program sees the folder that replaces it. */
const WITH_OWN_FOLDER = 'mount --bind "$0" /var/tmp && exec "$@"'

/** `folder` has the unpacked packages. */
export async function startLeaves(
  enclosure: Enclosure,
  folder: string,
  leaves: readonly Leaf[],
): Promise<readonly RunningLeaf[]> {
  if (leaves.length === 0) return []
  const { exit, stderr } = await enclosure.exec({ file: 'sh', args: ['-c', ADD_GROUP, enclosure.inside('group')] })
  if (!succeeded(exit))
    throw failure(partFailed, { part: 'the routers', reason: lastLines(stderr) || describeExit(exit) })
  const libraries = path.join(folder, 'usr/lib/x86_64-linux-gnu')
  const env = { LD_LIBRARY_PATH: `${libraries}/frr:${libraries}` }
  const running: RunningLeaf[] = []
  for (const leaf of leaves) {
    const { name, address, port } = leaf
    const home = enclosure.inside(name)
    await mkdir(enclosure.outside(name))
    await writeFile(path.join(enclosure.outside(name), 'bgpd.conf'), leafConfig(leaf))
    const args = [
      '--no_kernel',
      '--no_zebra',
      '--user',
      'root',
      '--group',
      'root',
      '--config_file',
      `${home}/bgpd.conf`,
      '--pid_file',
      `${home}/bgpd.pid`,
      '--vty_socket',
      home,
      '--vty_port',
      '0',
      '--listenon',
      address,
      '--bgp_port',
      String(port),
      '--log',
      `file:${home}/bgpd.log`,
    ]
    const lines: string[] = []
    const commandLine = [path.join(folder, 'usr/lib/frr/bgpd'), ...args]
    const program = { file: 'unshare', args: ['--mount', 'sh', '-c', WITH_OWN_FOLDER, home, ...commandLine], env }
    const daemon = enclosure.start(program, { onLine: (line) => lines.push(line) })
    const end: { reason?: string } = {}
    void daemon.exit.then((status) => {
      end.reason = lastLines(lines.join('\n')) || describeExit(status)
    })
    const socket = path.join(enclosure.outside(name), 'bgpd.vty')
    const routes = async (): Promise<ReadonlyMap<string, number>> => {
      if (end.reason !== undefined) throw failure(partFailed, { part: `the router ${address}`, reason: end.reason })
      return parseRoutes(await askDaemon(socket, 'show bgp ipv4 unicast json'))
    }
    running.push({ leaf, routes })
  }
  return running
}

/** What is wrong with the routes that the routers have now. */
export async function judgeRoutes(
  leaves: readonly RunningLeaf[],
  judge: (leaf: Leaf, routes: ReadonlyMap<string, number>) => readonly Finding[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const { leaf, routes } of leaves) findings.push(...judge(leaf, await routes()))
  return findings
}

/** As vtysh does: a command ends with a zero byte, the answer with three and a status. Empty while nothing listens. */
function askDaemon(socket: string, command: string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const connection = connect({ path: socket })
    connection.on('error', () => resolve(''))
    connection.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      const answer = Buffer.concat(chunks)
      const end = answer.indexOf('\0\0\0')
      if (end < 0 || answer.length < end + 4) return
      connection.destroy()
      resolve(answer.subarray(0, end).toString())
    })
    connection.on('close', () => resolve(''))
    connection.write(`${command}\0`)
  })
}
