/**
 * Starts data plane nodes on this machine: namespaces, each with its own systemd, sshd and root, on one isolated switch.
 * They end with the test process, however it ends.
 *
 *     const nodes = useNodes(['edpm-compute-0'])
 *     it('…', async () => { await runProcess(programOf([...nodes.enter, 'ssh', …])) })
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import {
  type ProcessResult,
  type Program,
  type RunningProcess,
  runProcess,
  startProcess,
  succeeded,
  toProgram,
} from '../../../src/exec/process.ts'
import { waitFor } from '../../wait-for.ts'
import { BOOT, KEEP, SWITCH } from './node-scripts.ts'

export interface DataPlaneNode {
  readonly name: string
  readonly address: string
  /** The path of the node's `/` on this machine. */
  readonly root: string
  /** Disconnects the node from the network, or connects it again. */
  readonly link: (state: 'up' | 'down') => Promise<void>
  /** Runs a command on the node, as root. */
  readonly run: (...words: readonly string[]) => Promise<ProcessResult>
  /** Waits until SSH is served, such as after `systemctl reboot`. */
  readonly booted: () => Promise<void>
  /** Ends all processes of the node at once; it stays off. */
  readonly losePower: () => Promise<void>
  readonly powerOn: () => Promise<void>
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

const SYSTEMD = '/lib/systemd/systemd'
const needed = ['unshare', 'nsenter', 'setpriv', 'ip', 'ssh-keygen', '/usr/sbin/sshd', SYSTEMD, 'ansible-playbook']

/** A folder with a root file system, or why there is none. */
export type NodeRoot = { readonly folder: string } | { readonly refusal: string }

/** Nodes have the files of this machine unless another root file system is given. */
export function useNodes(
  names: readonly string[],
  findRoot: () => Promise<NodeRoot> = async () => ({ folder: '/' }),
): DataPlaneNodes {
  let started: StartedNodes | undefined
  let refusal: string | undefined
  beforeAll(async () => {
    const root = await findRoot()
    refusal = 'refusal' in root ? root.refusal : await refusalOf()
    if (refusal === undefined && 'folder' in root) started = await startNodes(names, root.folder)
  }, 300_000)
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
  if (!existsSync(path.join(CGROUPS, 'cgroup.procs'))) return 'systemd of a node needs cgroups of version 2'
  for (const program of needed) {
    const { exit } = await runProcess({ file: 'sh', args: ['-c', `command -v ${program}`] })
    if (!succeeded(exit)) return `there is no ${program}`
  }
  return undefined
}

/** Ends with this process, together with everything that it started. */
const ALONE = ['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', '--net', '--pid', '--fork', '--kill-child']

export interface StartedNodes {
  readonly nodes: DataPlaneNodes
  readonly stop: () => Promise<void>
}

/** Starts nodes without hooks, for benches. The caller stops them. */
export async function startNodes(names: readonly string[], root: string): Promise<StartedNodes> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-nodes-'))
  const cgroup = path.join(CGROUPS, path.basename(folder))
  const running: RunningProcess[] = []
  const stop = async (): Promise<void> => {
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(running.map((running) => running.exit))
    await rm(folder, { recursive: true, force: true })
    await removeCgroup(cgroup)
  }
  try {
    await removeOldCgroups()
    await mkdir(cgroup)
    const key = await makeKey(path.join(folder, 'key'))
    const hub = await hold(toProgram([...ALONE, 'sh', '-c', SWITCH]), running)
    const nodes = new Map<string, DataPlaneNode>()
    for (const [index, name] of names.entries()) {
      const nodeFolder = await mkdtemp(path.join(folder, 'node-'))
      const values = [nodeFolder, root, path.join(cgroup, String(index)), name]
      const program = toProgram([...ALONE, '--mount', 'sh', '-c', KEEP, 'sh', ...values])
      const env = { BOOT, KEY_PUBLIC: key.public, KEY_PRIVATE: key.private }
      const keeper = await hold({ ...program, env }, running)
      nodes.set(name, await connect({ hub, keeper, index, name, folder: nodeFolder }))
    }
    await Promise.all([...nodes.values()].map(({ booted }) => booted()))
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
async function hold(program: Program, running: RunningProcess[]): Promise<number> {
  const output: string[] = []
  return new Promise((resolve, reject) => {
    const child = startProcess(program, {
      onLine: (line) => {
        output.push(line)
        if (line === 'ready') resolve(child.pid ?? 0)
      },
    })
    running.push(child)
    void child.exit.then(() => reject(new Error(`a node did not start:\n${output.join('\n')}`)))
  })
}

interface NodeParts {
  readonly hub: number
  /** The process that keeps the file system of the node. */
  readonly keeper: number
  readonly index: number
  readonly name: string
  readonly folder: string
}

async function connect({ hub, keeper, index, name, folder }: NodeParts): Promise<DataPlaneNode> {
  const address = `192.168.122.${100 + index}`
  const port = `node${index}`
  const ip = (where: number, ...args: readonly string[]): Promise<void> => must([...inside(where), 'ip', ...args])
  await ip(hub, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(keeper))
  await ip(hub, 'link', 'set', port, 'master', 'switch', 'up')
  await ip(keeper, 'link', 'set', 'lo', 'up')
  await ip(keeper, 'address', 'add', `${address}/24`, 'dev', 'eth0')
  await ip(keeper, 'link', 'set', 'eth0', 'up')
  const run = (...words: readonly string[]): Promise<ProcessResult> =>
    runProcess(toProgram(['nsenter', '--target', String(firstProcess(keeper)), '--all', '--wd=/', ...clean, ...words]))
  const booted = (): Promise<void> =>
    waitFor(
      async () => {
        const { exit, stdout } = await run('systemctl', 'is-active', 'node-sshd.service')
        if (!succeeded(exit)) throw new Error(`${name} does not serve SSH: ${stdout.trim()}`)
      },
      { timeout: 120_000, interval: 200 },
    )
  const off = `/proc/${keeper}/root${folder}/off`
  return {
    name,
    address,
    get root() {
      return `/proc/${firstProcess(keeper)}/root`
    },
    link: (state) => ip(hub, 'link', 'set', port, state),
    run,
    booted,
    losePower: async () => {
      await writeFile(off, '')
      process.kill(firstProcess(keeper), 'SIGKILL')
    },
    powerOn: async () => {
      await rm(off)
      await booted()
    },
    changeHostKey: async () => {
      const key = await makeKey(path.join(await mkdtemp(path.join(folder, 'key-')), 'key'))
      await writeFile(`/proc/${firstProcess(keeper)}/root/etc/stackloom-node/host_key`, key.private)
      await run('systemctl', 'reload', 'node-sshd.service')
      return key.public.trim()
    },
  }
}

const clean = [
  'env',
  '-i',
  // That of the caller does not exist in the node.
  '--chdir=/',
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'HOME=/root',
  'LANG=C.UTF-8',
]

/** The keeper is `unshare`, whose child is a shell, whose child is `unshare`, whose child is the systemd of the node. */
function firstProcess(keeper: number): number {
  return firstChild(firstChild(firstChild(keeper)))
}

function firstChild(pid: number): number {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  if (!first) throw new Error('the node is off')
  return Number(first)
}

async function must(words: readonly string[]): Promise<void> {
  const { exit, stderr } = await runProcess(toProgram(words))
  if (!succeeded(exit)) throw new Error(`${words.join(' ')}: ${stderr}`)
}

async function makeKey(file: string): Promise<{ readonly private: string; readonly public: string }> {
  await must(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', file])
  return { private: await readFile(file, 'utf8'), public: await readFile(`${file}.pub`, 'utf8') }
}

/** Where the second version of cgroups is mounted, also beside the first one. */
const CGROUPS = existsSync('/sys/fs/cgroup/unified/cgroup.procs') ? '/sys/fs/cgroup/unified' : '/sys/fs/cgroup'

/** A cgroup is removed from its leaves; its processes have just been killed and may still be ending. */
async function removeCgroup(cgroup: string): Promise<void> {
  await must([
    'sh',
    '-c',
    'for i in $(seq 50); do find "$0" -depth -type d -exec rmdir {} + 2>/dev/null; [ -d "$0" ] || exit 0; sleep 0.1; done',
    cgroup,
  ])
}

/** Those of processes that were killed: a populated one cannot be removed. */
async function removeOldCgroups(): Promise<void> {
  await must([
    'sh',
    '-c',
    'find "$0" -depth -type d -path "*/stackloom-nodes-*" -exec rmdir {} + 2>/dev/null; true',
    CGROUPS,
  ])
}
