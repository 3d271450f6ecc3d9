/**
 * Two nodes on one switch, in network namespaces of our own: one bridge per segment, a port of it in each node under the
 * name that the plan gives the interface. The cluster's namespace is the first node; the second reaches the API server
 * through a socket. Pods are namespaces too, attached by the real CNI plugins.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Plan, PlannedNetwork } from '../../../src/plan/plan.ts'
import { renderAttachments } from '../../../src/render/multus.ts'
import { type Forwarder, forward } from '../../../src/sandbox/forward.ts'
import type { Cluster } from '../../cluster.ts'

export interface Rig {
  /** Attaches a new pod to a network of its cloud, as kubelet and Multus would; gives its addresses. */
  readonly attach: (pod: string, node: string, namespace: string, network: string) => Promise<readonly string[]>
  /** Gives a pod its default route, as Multus would. */
  readonly route: (pod: string, gateway: string) => Promise<void>
  /** Sets a kernel parameter of both nodes; the answer sets it back. */
  readonly sysctl: (name: string, value: string) => () => void
  /** Runs a command on both nodes. */
  readonly onNodes: (...words: readonly string[]) => void
  readonly detach: (pod: string) => Promise<void>
  /** Runs words in a pod. Does not block: many are asked at once. */
  readonly run: (pod: string, words: readonly string[], env?: Record<string, string>) => Promise<string>
  /** Starts a program on a node, with the kubeconfig that works there as its last word; it is ended with the rig. */
  readonly start: (node: string, words: readonly string[], env: Record<string, string>) => void
  /** A cable between the segments of two networks; the answer takes it out. */
  readonly bridge: (a: string, b: string) => () => void
  /** Takes the interface of a network from a node, for good. */
  readonly removeInterface: (network: string, node: string) => void
  /** The MTU of a node's port on the switch. */
  readonly portMtu: (network: string, node: string, mtu: number) => void
  readonly close: () => void
}

interface Attached {
  readonly process: ChildProcess
  readonly node: string
  readonly config: Record<string, unknown>
}

export async function makeRig(
  plan: Plan,
  cluster: Cluster,
  programs: Readonly<Record<'cni-bridge' | 'cni-macvlan' | 'cni-static' | 'whereabouts', string>>,
): Promise<Rig> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-rig-'))
  const processes: ChildProcess[] = []
  const namespace = async (): Promise<ChildProcess> => {
    const made = await newNamespace()
    processes.push(made)
    return made
  }
  for (const [name, file] of Object.entries(programs)) symlinkSync(file, path.join(folder, name.replace('cni-', '')))

  const [first = '', second = ''] = plan.from.cluster.nodes.map(({ name }) => name)
  const far = (await namespace()).pid ?? 0
  const switchboard = (await namespace()).pid ?? 0
  const nodes = new Map([
    [first, { pid: cluster.pid, enter: cluster.inside, kubeconfig: cluster.insideKubeconfig }],
    [second, { pid: far, enter: enter(far), kubeconfig: cluster.kubeconfig }],
  ])
  const nodeOf = (name: string) => nodes.get(name) as NonNullable<ReturnType<typeof nodes.get>>

  // The API server listens on loopback: the second node gets a door of its own to it.
  const port = Number(new URL(cluster.server).port)
  const socket = path.join(folder, 'api.sock')
  const door: Forwarder = await forward({ path: socket }, { port, host: '127.0.0.1' })
  processes.push(await openDoor(enter(far), socket, port))

  const segments = new Map<string, string>()
  for (const { namespace: owner, networks } of plan.clouds)
    for (const network of networks) {
      const at = segments.size
      segments.set(`${owner}/${network.name}`, `seg${at}`)
      const onSwitch = (...words: readonly string[]) => run([...enter(switchboard), 'ip', ...words])
      onSwitch('link', 'add', `seg${at}`, 'type', 'bridge')
      onSwitch('link', 'set', `seg${at}`, 'up')
      for (const [index, [name, node]] of [...nodes].entries()) {
        const [end, ours] = [`n${index}s${at}`, `p${index}s${at}`]
        onSwitch('link', 'add', end, 'type', 'veth', 'peer', 'name', ours)
        onSwitch('link', 'set', ours, 'master', `seg${at}`, 'up')
        onSwitch('link', 'set', end, 'netns', String(node.pid))
        const onNode = (...words: readonly string[]) => run([...node.enter, 'ip', ...words])
        onNode('link', 'set', end, 'name', network.interface)
        onNode('address', 'add', `${nodeAddress(network, name)}/24`, 'dev', network.interface)
        onNode('link', 'set', network.interface, 'up')
      }
    }

  for (const [name, { kubeconfig }] of nodes) {
    const settings = { datastore: 'kubernetes', kubernetes: { kubeconfig }, log_level: 'error' }
    writeFileSync(path.join(folder, `whereabouts-${name}.conf`), JSON.stringify(settings))
  }
  const definitions = new Map(
    plan.clouds.flatMap((cloud) =>
      renderAttachments(plan, cloud).map((renderAttachment) => [
        `${cloud.namespace}/${renderAttachment.metadata.name}`,
        JSON.parse((renderAttachment as unknown as { spec: { config: string } }).spec.config) as Record<
          string,
          unknown
        >,
      ]),
    ),
  )
  const pods = new Map<string, Attached>()

  // Not synchronous: the door to the API server is in this very process.
  const plugin = (command: 'ADD' | 'DEL', pod: string, { process: held, node, config }: Attached): Promise<string> => {
    const words = [...nodeOf(node).enter, path.join(folder, String(config['type']))]
    const env = {
      CNI_COMMAND: command,
      CNI_CONTAINERID: pod.replaceAll('/', '-'),
      CNI_NETNS: `/proc/${held.pid}/ns/net`,
      CNI_IFNAME: 'net1',
      CNI_PATH: folder,
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${pod.split('/')[0]};K8S_POD_NAME=${pod.split('/')[1]}`,
    }
    return output(words, env, JSON.stringify(config))
  }

  return {
    attach: async (pod, node, owner, network) => {
      const config = definitions.get(`${owner}/${network}`) ?? {}
      const ipam = config['ipam'] as Record<string, unknown>
      const file = path.join(folder, `whereabouts-${node}.conf`)
      const attached = {
        process: await namespace(),
        node,
        config: { ...config, ipam: { ...ipam, configuration_path: file } },
      }
      pods.set(pod, attached)
      const { ips } = JSON.parse(await plugin('ADD', pod, attached)) as {
        ips: readonly { address: string }[]
      }
      return ips.map(({ address }) => address.split('/')[0] ?? '')
    },
    route: async (pod, gateway) => {
      const { pid = 0 } = pods.get(pod)?.process ?? {}
      const family = gateway.includes(':') ? '-6' : '-4'
      await output([...enter(pid), 'ip', family, 'route', 'replace', 'default', 'via', gateway, 'dev', 'net1'], {})
    },
    sysctl: (name, value) => {
      const before = [...nodes.values()].map((node) => ({
        node,
        old: run([...node.enter, 'sysctl', '-n', name]).trim(),
      }))
      for (const { node } of before) run([...node.enter, 'sysctl', '-w', `${name}=${value}`])
      return () => {
        for (const { node, old } of before) run([...node.enter, 'sysctl', '-w', `${name}=${old}`])
      }
    },
    onNodes: (...words) => {
      for (const node of nodes.values()) run([...node.enter, ...words])
    },
    detach: async (pod) => {
      const attached = pods.get(pod)
      if (!attached) return
      pods.delete(pod)
      await plugin('DEL', pod, attached)
      attached.process.kill('SIGKILL')
    },
    run: (pod, words, env = {}) => {
      const { pid = 0 } = pods.get(pod)?.process ?? {}
      return output([...enter(pid), ...words], env)
    },
    start: (node, words, env) => {
      const { enter: into, kubeconfig } = nodeOf(node)
      const [file, ...args] = [...into, ...words, `--kubeconfig=${kubeconfig}`]
      processes.push(spawn(file, args, { stdio: 'ignore', env: { ...process.env, ...env } }))
    },
    bridge: (a, b) => {
      const onSwitch = (...words: readonly string[]) => run([...enter(switchboard), 'ip', ...words])
      onSwitch('link', 'add', 'cable0', 'type', 'veth', 'peer', 'name', 'cable1')
      onSwitch('link', 'set', 'cable0', 'master', segments.get(a) ?? '', 'up')
      onSwitch('link', 'set', 'cable1', 'master', segments.get(b) ?? '', 'up')
      return () => void onSwitch('link', 'del', 'cable0')
    },
    removeInterface: (network, node) => {
      const at = segments.get(network)?.replace('seg', '')
      const index = [...nodes.keys()].indexOf(node)
      // The end on the switch goes, and the node's with it.
      run([...enter(switchboard), 'ip', 'link', 'del', `p${index}s${at}`])
    },
    portMtu: (network, node, mtu) => {
      const at = segments.get(network)?.replace('seg', '')
      const index = [...nodes.keys()].indexOf(node)
      run([...enter(switchboard), 'ip', 'link', 'set', `p${index}s${at}`, 'mtu', String(mtu)])
    },
    close: () => {
      for (const process of processes) process.kill('SIGKILL')
      door.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function nodeAddress(network: PlannedNetwork, node: string): string {
  return network.nodes.find(({ name }) => name === node)?.address ?? ''
}

function enter(pid: number): readonly string[] {
  return ['nsenter', '--target', String(pid), '--net', '--']
}

/** A network namespace, as long as its process lives. */
async function newNamespace(): Promise<ChildProcess> {
  return ready(
    spawn('unshare', ['--net', 'sh', '-c', 'ip link set lo up; echo ready; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
}

function openDoor(into: readonly string[], socket: string, port: number): Promise<ChildProcess> {
  const program = `require('net').createServer((one) => {
    const other = require('net').connect(${JSON.stringify(socket)})
    one.pipe(other).pipe(one)
    for (const end of [one, other]) end.on('error', () => { one.destroy(); other.destroy() })
  }).listen(${port}, '127.0.0.1', () => console.log('ready'))`
  const [file, ...args] = [...into, process.execPath, '-e', program]
  return ready(spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'] }))
}

async function ready(child: ChildProcess): Promise<ChildProcess> {
  await new Promise((resolve) => child.stdout?.once('data', resolve))
  return child
}

function run(words: readonly string[]): string {
  const [file = '', ...args] = words
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', timeout: 10_000 })
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

function output(words: readonly string[], env: Record<string, string>, input = ''): Promise<string> {
  const [file = '', ...args] = words
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    // A program that reads no input may end before it is written.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
    })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(text)
      else reject(new Error(`${words.join(' ')} ended with ${code}: ${text}${said}`))
    })
  })
}
