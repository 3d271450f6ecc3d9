/** The options of `operator run`, as the command line gives them. */
import { InvalidArgumentError } from 'commander'
import type { OperatorOptions } from '../../operator/options.ts'
import type { ClusterFlags } from '../cluster.ts'
import { parseDuration } from '../duration.ts'

export type RunOptions = ClusterFlags & Omit<OperatorOptions, 'env'>

/** `90s`, `1h30m` */
export function parseRunTimeLimit(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined || ms < 1_000) throw new InvalidArgumentError('a duration such as 90s or 1h30m')
  return ms
}

/** 0 takes any free one. */
export function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is a number up to 65535')
  return port
}

/** `ipam,dns` */
export function parsePartNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

export function parseReplicas(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('a whole number, one at least')
  return Number(text)
}
