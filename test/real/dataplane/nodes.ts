/**
 * Starts data plane nodes on this machine: network namespaces, each with its own sshd and root, on one isolated switch.
 * They end with the test process, however it ends.
 *
 *     const nodes = useNodes(['edpm-compute-0'])
 *     it('…', async () => { await runProcess(programOf([...nodes.enter, 'ssh', …])) })
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type RunningProcess, runProcess, startProcess, succeeded, toProgram } from '../../../src/exec/process.ts'

export interface DataPlaneNode {
  readonly name: string
  readonly address: string
  /** The path of the node's `/` on this machine. */
  readonly root: string
  /** Disconnects the node from the network, or connects it again. */
  readonly link: (state: 'up' | 'down') => Promise<void>
  /** Gives sshd another host key, and returns its public half. */
  readonly changeHostKey: () => Promise<string>
}

export interface DataPlaneNodes {
  /** The prefix of commands that reach the nodes, and only these. */
  readonly enter: readonly string[]
  /** The private key that every node accepts for root. */
  readonly privateKey: string
  readonly node: (name: string) => DataPlaneNode
}

const needed = ['unshare', 'nsenter', 'setpriv', 'ip', 'ssh-keygen', '/usr/sbin/sshd', 'ansible-playbook']

export function useNodes(names: readonly string[]): DataPlaneNodes {
  let started: { readonly nodes: DataPlaneNodes; readonly stop: () => Promise<void> } | undefined
  let refusal: string | undefined
  beforeAll(async () => {
    refusal = await refusalOf()
    if (refusal === undefined) started = await startNodes(names)
  }, 120_000)
  beforeEach((context) => {
    if (refusal !== undefined) context.skip(refusal)
  })
  afterAll(() => started?.stop())
  return new Proxy({} as DataPlaneNodes, {
    get: (_, field) => {
      if (!started) throw new Error('the nodes are there in tests and hooks only')
      return started.nodes[field as keyof DataPlaneNodes]
    },
  })
}

async function refusalOf(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'nodes with roots of their own need root'
  for (const program of needed) {
    const { exit } = await runProcess({ file: 'sh', args: ['-c', `command -v ${program}`] })
    if (!succeeded(exit)) return `there is no ${program}`
  }
  return undefined
}

const SWITCH = `
ip link set lo up
ip link add switch type bridge
ip address add 192.168.122.1/24 dev switch
ip link set switch up
echo ready
exec sleep infinity`

// The upper layer is in memory, so that any file system can be below it.
const NODE = `
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/new"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/new"
mount -t proc proc "$1/new/proc"
mount --rbind /dev "$1/new/dev"
mount -t tmpfs tmpfs "$1/new/run"
mkdir -p "$1/new/run/sshd"
printf '%s' "$2" > "$1/new/run/authorized_keys"
printf '%s\\n' "$3" > "$1/new/run/host_key"
chmod 600 "$1/new/run/host_key" "$1/new/run/authorized_keys"
echo ready
exec chroot "$1/new" /usr/sbin/sshd -D -e -h /run/host_key -o UsePAM=no \\
  -o AuthorizedKeysFile=/run/authorized_keys -o StrictModes=no -o PidFile=none`

/** Ends with this process, together with everything that it started. */
const ALONE = ['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', '--net', '--pid', '--fork', '--kill-child']

async function startNodes(
  names: readonly string[],
): Promise<{ readonly nodes: DataPlaneNodes; readonly stop: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-nodes-'))
  const running: RunningProcess[] = []
  const stop = async (): Promise<void> => {
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(running.map((running) => running.exit))
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const key = await makeKey(path.join(folder, 'key'))
    const hub = await hold([...ALONE, 'sh', '-c', SWITCH], running)
    const nodes = new Map<string, DataPlaneNode>()
    for (const [index, name] of names.entries()) {
      const nodeFolder = await mkdtemp(path.join(folder, 'node-'))
      const words = [...ALONE, '--mount', 'sh', '-c', NODE, 'sh', nodeFolder, key.public, key.private]
      const pid = await hold(words, running)
      nodes.set(name, await plugIn({ hub, pid, index, name }))
    }
    const node = (name: string): DataPlaneNode => {
      const found = nodes.get(name)
      if (!found) throw new Error(`no node ${name}`)
      return found
    }
    return { nodes: { enter: inside(hub), privateKey: key.private, node }, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function inside(pid: number): readonly string[] {
  return ['nsenter', '--target', String(pid), '--net', '--']
}

/** Starts a program and waits until it prints `ready`. */
async function hold(words: readonly string[], running: RunningProcess[]): Promise<number> {
  const output: string[] = []
  return new Promise((resolve, reject) => {
    const child = startProcess(toProgram(words), {
      onLine: (line) => {
        output.push(line)
        if (line === 'ready') resolve(child.pid ?? 0)
      },
    })
    running.push(child)
    void child.exit.then(() => reject(new Error(`a node did not start:\n${output.join('\n')}`)))
  })
}

async function plugIn(at: {
  readonly hub: number
  readonly pid: number
  readonly index: number
  readonly name: string
}): Promise<DataPlaneNode> {
  const { hub, pid, index, name } = at
  const address = `192.168.122.${100 + index}`
  const port = `node${index}`
  const ip = (where: number, ...args: readonly string[]): Promise<void> => must([...inside(where), 'ip', ...args])
  await ip(hub, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid))
  await ip(hub, 'link', 'set', port, 'master', 'switch', 'up')
  await ip(pid, 'link', 'set', 'lo', 'up')
  await ip(pid, 'address', 'add', `${address}/24`, 'dev', 'eth0')
  await ip(pid, 'link', 'set', 'eth0', 'up')
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return {
    name,
    address,
    root: `/proc/${children.trim()}/root`,
    link: (state) => ip(hub, 'link', 'set', port, state),
    changeHostKey: () => changeHostKey(Number(children.trim())),
  }
}

async function changeHostKey(sshd: number): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-host-key-'))
  const key = await makeKey(path.join(folder, 'key'))
  await rm(folder, { recursive: true, force: true })
  await writeFile(`/proc/${sshd}/root/run/host_key`, key.private)
  process.kill(sshd, 'SIGHUP')
  return key.public.trim()
}

async function must(words: readonly string[]): Promise<void> {
  const { exit, stderr } = await runProcess(toProgram(words))
  if (!succeeded(exit)) throw new Error(`${words.join(' ')}: ${stderr}`)
}

async function makeKey(file: string): Promise<{ readonly private: string; readonly public: string }> {
  await must(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', file])
  return { private: await readFile(file, 'utf8'), public: await readFile(`${file}.pub`, 'utf8') }
}
