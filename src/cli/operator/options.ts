/** The options of `operator run`, as the command line gives them. */
import { InvalidArgumentError } from 'commander'
import type { ClusterFlags } from '../cluster.ts'

export interface RunOptions extends ClusterFlags {
  readonly webhookUrl?: string
  readonly webhookService?: string
  readonly certDir?: string
  readonly webhookPort: number
  readonly healthPort: number
  readonly bind: string
  readonly leaderElection: boolean
}

/** 0 takes any free one. */
export function portOf(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is a number up to 65535')
  return port
}
