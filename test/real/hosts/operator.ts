/** Runs the operator by its command in the network of a test's cluster, connected to the switch of its nodes. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { type RunningProcess, runProcess, startProcess, succeeded, toProgram } from '../../../src/exec/process.ts'
import type { Cluster } from '../../cluster.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { waitFor } from '../../wait-for.ts'
import type { DataPlaneNodes } from '../dataplane/nodes.ts'

export interface OperatorProcess {
  readonly stop: () => Promise<void>
  readonly said: () => string
}

/** The network of a cluster has the address 192.168.122.2 on the switch afterwards. */
export async function connectCluster(cluster: Cluster, { enter }: DataPlaneNodes): Promise<void> {
  const must = async (words: readonly string[]): Promise<void> => {
    const { exit, stderr } = await runProcess(toProgram(words))
    if (!succeeded(exit)) throw new Error(`${words.join(' ')}: ${stderr}`)
  }
  const peer = ['type', 'veth', 'peer', 'name', 'hosts', 'netns', String(cluster.pid)]
  await must([...enter, 'ip', 'link', 'add', 'to-cluster', ...peer])
  await must([...enter, 'ip', 'link', 'set', 'to-cluster', 'master', 'switch', 'up'])
  await must([...cluster.inside, 'ip', 'address', 'add', '192.168.122.2/24', 'dev', 'hosts'])
  await must([...cluster.inside, 'ip', 'link', 'set', 'hosts', 'up'])
}

export async function startOperatorProcess(cluster: Cluster): Promise<OperatorProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-operator-'))
  const output: string[] = []
  const address = ['--bind', '127.0.0.1', '--webhook-url', 'https://127.0.0.1:9443']
  const command = ['operator', 'run', '--kubeconfig', cluster.insideKubeconfig, '--runs', 'local', ...address]
  const words = ['setpriv', '--pdeathsig', 'TERM', '--', ...cluster.inside, ...sandboxContext().self, ...command]
  const program = { ...toProgram(words), env: { ...process.env, XDG_STATE_HOME: folder } }
  let stopped = false
  let child = start()
  // An operator that loses its leadership on a busy machine ends; a kubelet starts it again.
  function start(): RunningProcess {
    const started = startProcess(program, { onLine: (line) => output.push(line) })
    void started.exit.then(() => {
      if (!stopped) child = start()
    })
    return started
  }
  const said = (): string => output.join('\n')
  const stop = async (): Promise<void> => {
    stopped = true
    child.kill('SIGTERM')
    await child.exit
    await rm(folder, { recursive: true, force: true })
  }
  const serves = (): void => {
    if (!said().includes('webhooks are served')) throw new Error(said())
  }
  try {
    await waitFor(serves, { timeout: 300_000, interval: 200 })
  } catch (error) {
    await stop()
    throw error
  }
  return { stop, said }
}
