/** SL5120 to SL5139: addresses without an owner, and what a site has capacity for. */
import { problem } from '../errors/finding.ts'

export const silentNodes = problem<{ count: number; nodes: readonly string[] }>({
  code: 'SL5120',
  severity: 'warning',
  message: ({ count, nodes }) =>
    nodes.length === 0
      ? `${formatCount(count)} not freed: the nodes could not be read, and a pod may still run on one of them`
      : `${formatCount(count)} not freed: ${nodes.join(', ')} ${nodes.length === 1 ? 'is' : 'are'} not ready, and a pod without an object may still run there`,
  remedy: ({ nodes }) =>
    nodes.length === 0
      ? 'run it as a user who may list nodes'
      : `repair the node; if it is off for good, say so: \`kubectl taint node ${nodes[0]} node.kubernetes.io/out-of-service=:NoExecute\``,
})

function formatCount(count: number): string {
  return count === 1 ? '1 address was' : `${count} addresses were`
}

export const repairUnproven = problem<{ reasons: readonly string[] }>({
  code: 'SL5121',
  severity: 'warning',
  message: ({ reasons }) =>
    `not everything could be read, so addresses that depend on it are kept: ${reasons.join('; ')}`,
  remedy: () => 'run it as a user who may list these kinds in all namespaces',
})

export const repairNeedsConsent = problem<{ count: number }>({
  code: 'SL5122',
  severity: 'error',
  message: ({ count }) =>
    `${count} ${count === 1 ? 'address' : 'addresses'} would be freed, and this was not confirmed`,
  remedy: () => 'run the same command on a terminal and confirm, or with --yes',
})
