/** The operator as a process of its own: for whoever kills it, or wants its time for itself. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import type { Cluster } from '../../cluster.ts'

export interface OperatorProcess {
  /** At whatever instruction it is. */
  readonly kill: () => Promise<void>
}

const script = path.join(import.meta.dirname, '..', 'ipam', 'operator-process.ts')

export function startOperatorProcess({ kubeconfig }: Pick<Cluster, 'kubeconfig'>): OperatorProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', script, kubeconfig], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
