/** The options of `operator run`, as the command line gives them. */
import { InvalidArgumentError } from 'commander'
import type { RunWay } from '../../controllers/dataplane/runs/start.ts'
import type { ClusterFlags } from '../cluster.ts'
import { parseDuration } from '../duration.ts'

export interface RunOptions extends ClusterFlags {
  readonly webhookUrl?: string
  readonly webhookService?: string
  readonly certDir?: string
  readonly webhookPort: number
  readonly healthPort: number
  readonly bind: string
  readonly leaderElection: boolean
  /** Beside infra-operator: look and tell, write nothing else. */
  readonly observe?: boolean
  /** Where Ansible runs: in Jobs unless said. */
  readonly runs?: RunWay
  /** After so long Ansible is ended; an hour unless said. */
  readonly runTimeLimit?: number
  /** Only these parts; all that fit unless said. */
  readonly parts?: readonly string[]
  /** For tests: how often certificates are looked at. */
  readonly certificatesEveryMs?: number
}

/** `90s`, `1h30m` */
export function durationOf(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined || ms < 1_000) throw new InvalidArgumentError('a duration such as 90s or 1h30m')
  return ms
}

/** 0 takes any free one. */
export function portOf(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is a number up to 65535')
  return port
}

/** `ipam,dns` */
export function namesOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

export function countOf(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('a whole number, one at least')
  return Number(text)
}
