/** Applies node policies with the real nmstate, and judges what it says. */
import type { KubeObject } from '../api/object.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { policyRefused, secondApplyChanged } from './findings.ts'
import { explainNmstateError, type NmstateError } from './nmstate-errors.ts'
import { applyScript, STATE_SCRIPT } from './node-scripts.ts'
import type { RunningNode } from './nodes.ts'
import { type NodePolicies, policyCloud } from './rehearsal-plan.ts'

export interface PolicyOutcome {
  readonly node: string
  readonly policy: string
  /** Undefined for the base. */
  readonly cloud?: string
  readonly finding?: Finding
  readonly ms: number
}

/** One after the other, as `up` does; no policy after one that failed. */
export async function applyPolicies(
  node: RunningNode,
  { policies }: NodePolicies,
  signal?: AbortSignal,
): Promise<readonly PolicyOutcome[]> {
  const outcomes: PolicyOutcome[] = []
  for (const policy of policies) {
    const outcome = await applyPolicy(node, policy, signal)
    outcomes.push(outcome)
    if (outcome.finding) break
  }
  return outcomes
}

async function applyPolicy(node: RunningNode, policy: KubeObject, signal?: AbortSignal): Promise<PolicyOutcome> {
  const startedAt = performance.now()
  const { name } = policy.metadata
  const { code, error } = await applyWithRetries(node, desiredState(policy), signal)
  const cloud = policyCloud(policy)
  return {
    node: node.name,
    policy: name,
    ...(cloud !== undefined && { cloud }),
    ms: Math.round(performance.now() - startedAt),
    ...(code !== 0 && {
      finding: finding(
        policyRefused,
        { policy: name, node: node.name, line: error.line, remedy: error.remedy },
        { where: { apiVersion: policy.apiVersion, kind: policy.kind, name } },
      ),
    }),
  }
}

/** As the nmstate operator: a busy node may be late, and nmstate looks only for a few seconds. */
const ATTEMPTS = 3

export async function applyWithRetries(
  node: Pick<RunningNode, 'agent'>,
  state: unknown,
  signal?: AbortSignal,
): Promise<{ readonly code: number; readonly error: NmstateError }> {
  for (let attempt = 1; ; attempt += 1) {
    const { code, output } = await node.agent.run(applyScript(state), { signal })
    const error = explainNmstateError(output)
    if (code === 0 || error.isPermanent || attempt === ATTEMPTS) return { code, error }
  }
}

function desiredState(policy: KubeObject): unknown {
  return (policy['spec'] as { readonly desiredState: unknown }).desiredState
}

/** Applies everything a second time: links, addresses, routes and rules must stay as they are. */
export async function reapplyPolicies(
  node: RunningNode,
  policies: NodePolicies,
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  const before = await node.agent.run(STATE_SCRIPT, { signal })
  const outcomes = await applyPolicies(node, policies, signal)
  const refused = outcomes.flatMap((outcome) => outcome.finding ?? [])
  if (refused.length > 0) return refused
  const after = await node.agent.run(STATE_SCRIPT, { signal })
  return differingLines(before.output, after.output).map((line) =>
    finding(secondApplyChanged, { node: node.name, line }),
  )
}

/** Lines that only one of the texts has, marked with `-` and `+`. Pure. */
export function differingLines(before: string, after: string): readonly string[] {
  const [old, current] = [before, after].map((text) => new Set(text.split('\n').filter(Boolean))) as [
    Set<string>,
    Set<string>,
  ]
  return [
    ...[...old].filter((line) => !current.has(line)).map((line) => `- ${line}`),
    ...[...current].filter((line) => !old.has(line)).map((line) => `+ ${line}`),
  ]
}
