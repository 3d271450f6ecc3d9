/** Starts the real infra-operator as a process in the cluster's network. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import type { Cluster } from '../../cluster.ts'
import { sandboxContext } from '../../sandbox-context.ts'

export interface InfraOperator {
  readonly stop: () => Promise<void>
}

export async function startInfraOperator(cluster: Cluster, log: string): Promise<InfraOperator> {
  const { 'infra-operator': program } = await ensurePrograms(['infra-operator'], sandboxContext())
  const flags = ['--metrics-bind-address', '0', '--health-probe-bind-address', '127.0.0.1:18081']
  const file = openSync(log, 'a')
  // It ends with this process, even if a bench or test is killed.
  const bound = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL', '--'] : []
  const [command = '', ...words] = [...cluster.inside, ...bound, program, ...flags]
  const child: ChildProcess = spawn(command, words, {
    env: { ...process.env, ENABLE_WEBHOOKS: 'false', KUBECONFIG: cluster.insideKubeconfig },
    stdio: ['ignore', file, file],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    stop: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
