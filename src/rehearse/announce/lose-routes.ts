/** Cuts a node off from all networks, and measures how long the BGP routers send packets for VIPs to it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Finding } from '../../errors/finding.ts'
import type { RunningNode } from '../nodes.ts'
import { missingRoutes, staleRoutes } from './leaf-plan.ts'
import { judgeRoutes, type RunningLeaf } from './leaf-router.ts'

export interface RouteLoss {
  readonly node: string
  /** Until the last router had forgotten the node. */
  readonly seconds: number
  readonly findings: readonly Finding[]
}

export interface LossDeps {
  readonly vips: readonly string[]
  readonly nodes: readonly Pick<RunningNode, 'name' | 'cutOff'>[]
  readonly signal?: AbortSignal | undefined
}

/** MetalLB's default hold time is 90 s. */
const LOSS_MS = 240_000

/** Undefined with fewer than two nodes: no other node would be left for the packets. */
export async function loseRoutes(
  leaves: readonly RunningLeaf[],
  { vips, nodes, signal }: LossDeps,
): Promise<RouteLoss | undefined> {
  const [node, ...rest] = nodes.toReversed()
  if (!node || rest.length === 0 || leaves.length === 0) return undefined
  const expected = { vips, nodes: rest.map(({ name }) => name) }
  await node.cutOff()
  const startedAt = performance.now()
  for (;;) {
    const elapsedMs = performance.now() - startedAt
    const facts = { node: node.name, seconds: Math.round(elapsedMs / 100) / 10 }
    const stale = await judgeRoutes(leaves, (leaf, routes) => staleRoutes(leaf, expected, routes, facts))
    if (stale.length === 0 || elapsedMs > LOSS_MS) {
      // The other nodes must still be there.
      const missing = await judgeRoutes(leaves, (leaf, routes) => missingRoutes(leaf, expected, routes))
      return { ...facts, findings: [...stale, ...missing] }
    }
    await sleep(500, undefined, signal ? { signal } : {})
  }
}
