/** Starts the operator as a separate process, for tests that kill it and for benches. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import type { Cluster } from '../../cluster.ts'

export interface OperatorProcess {
  /** Kills it at an arbitrary moment. */
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
