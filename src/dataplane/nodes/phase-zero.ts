/**
 * Phase 0 of one node: the services of its role, in order, and how far each has come on this host.
 *
 * Pure. Readiness is the host's own and bound to its inputs: that a role is done says nothing about a node that came
 * later.
 */

import { type Finding, finding } from '../../errors/finding.ts'
import { runnerInputsUnsupported, unknownDataPlaneService } from '../findings/data-plane.ts'
import type { AnsibleRun } from '../kinds/ansible-run.ts'
import type { Applied } from '../kinds/data-plane.ts'
import type { DataPlaneService } from '../kinds/data-plane-service.ts'
import type { EffectiveNode } from '../rules/inheritance.ts'
import { type Attempt, findAttempt, resolveApplied } from '../runs/attempts.ts'
import { decideStep, type RunDecision, type StepInputs } from '../runs/decide-step.ts'
import { hashInputs } from '../runs/hash.ts'
import { phase0Playbooks } from '../runs/playbooks.ts'
import type { Playbook } from '../runs/run-object.ts'
import { buildHostVars, type HostVars } from './inventory.ts'

/** One service of a role, as it can be run; or why it cannot. */
export type Step = RunnableStep | { readonly kind: 'unknown'; readonly name: string; readonly finding: Finding }

export interface RunnableStep {
  readonly kind: 'runnable'
  readonly name: string
  readonly label: string
  /** What the namespace says; or the name of a playbook of our own. */
  readonly playbook: Playbook | string
}

export function resolveStep(name: string, namespace: string, found: DataPlaneService | undefined): Step {
  const label = found?.spec.label || `dataplane-deployment-${name}`
  if (!found) {
    const own = phase0Playbooks.find((phase0Playbook) => phase0Playbook === name)
    if (own) return { kind: 'runnable', name, label, playbook: own }
    return { kind: 'unknown', name, finding: finding(unknownDataPlaneService, { service: name, namespace }) }
  }
  const { play, role, openStackAnsibleEERunnerImage: image } = found.spec
  if (!play && !role?.tasks?.length) {
    const why = 'it has neither play nor role'
    return { kind: 'unknown', name, finding: finding(runnerInputsUnsupported, { service: name, why }) }
  }
  const what = play ? { play } : role && { roles: role }
  return { kind: 'runnable', name, label, playbook: { ...what, ...(image && { image }) } }
}

/**
 * The hash of what a step does to a host. How the host is reached (the SSH key) is left out: another key makes no other
 * host. So is the text of built-in playbooks: an upgrade of this program starts nothing. `mounted` is the hash of what
 * stands in the Secrets and ConfigMaps that its runs are given.
 */
export function hashStepInputs(
  effective: EffectiveNode,
  addresses: HostVars,
  step: RunnableStep,
  request: string | undefined,
  mounted?: string,
): string {
  const { sshSecret: _, ...runner } = effective.runner
  const { networkTemplate } = effective
  return hashInputs({
    playbook: step.playbook,
    host: buildHostVars(effective, addresses),
    networkTemplate,
    runner,
    request,
    mounted,
  })
}

export interface PhaseZeroInputs {
  readonly effective: EffectiveNode
  readonly steps: readonly Step[]
  /** The hash of what a step does to this host. */
  readonly hashInputs: (step: RunnableStep) => string
  readonly recorded: Readonly<Record<string, Applied>> | undefined
  readonly runs: readonly AnsibleRun[]
  /** What has to come before phase 0, in words. */
  readonly blockedBy: string | undefined
  readonly activeRun: string | undefined
  readonly policy: StepInputs['policy']
  readonly request: string | undefined
  readonly retry: StepInputs['retry']
  readonly now: number
}

export interface StepState {
  readonly step: Step
  /** Of the inputs; empty for a step that cannot be run. */
  readonly hash: string
  readonly decision: RunDecision
}

export interface NextStep {
  readonly step: RunnableStep
  readonly hash: string
  readonly attempt: number
  /** The run whose work the host has now. */
  readonly after: string
}

export interface PhaseZeroState {
  readonly steps: readonly StepState[]
  readonly applied: Readonly<Record<string, Applied>>
  /** Every step was done with the inputs of now. */
  readonly isDone: boolean
  /** The one that may start now. */
  readonly next: NextStep | undefined
}

export function evaluatePhaseZero(facts: PhaseZeroInputs): PhaseZeroState {
  const { effective, steps, recorded, runs, hashInputs } = facts
  const host = effective.name
  const applied = resolveApplied(
    recorded,
    steps.map(({ name }) => name),
    host,
    runs,
  )
  let gate = facts.blockedBy
  const standings = steps.map((step): StepState => {
    if (step.kind === 'unknown') {
      const decision: RunDecision = { kind: 'wait', why: step.finding.message }
      gate ??= `${step.name} cannot be run`
      return { step, hash: '', decision }
    }
    const hash = hashInputs(step)
    const attempts = runs.flatMap((run): readonly Attempt[] => toList(findAttempt(run, host, step.name)))
    const decision = decideStep({
      desiredHash: hash,
      applied: applied[step.name],
      attempts,
      heldReason: heldReason(effective),
      blockedBy: gate,
      ...pickShared(facts),
    })
    if (decision.kind !== 'done') gate ??= `${step.name} comes first`
    return { step, hash, decision }
  })
  const [next] = standings.flatMap(({ step, hash, decision }): readonly NextStep[] =>
    decision.kind === 'start' && step.kind === 'runnable'
      ? [{ step, hash, attempt: decision.attempt, after: applied[step.name]?.run ?? '' }]
      : [],
  )
  return {
    steps: standings,
    applied,
    next,
    isDone: standings.every(({ decision }) => decision.kind === 'done'),
  }
}

function pickShared({
  activeRun,
  policy,
  request,
  retry,
  now,
}: PhaseZeroInputs): Omit<StepInputs, 'desiredHash' | 'applied' | 'attempts' | 'heldReason' | 'blockedBy'> {
  return { activeRun, policy, request, retry, now }
}

function toList<T>(one: T | undefined): readonly T[] {
  return one === undefined ? [] : [one]
}

/** Why nothing is to run on a host now. */
function heldReason({ name, deploy, hasStrategy, ansibleLimit }: EffectiveNode): string | undefined {
  if (!hasStrategy) return 'neither the node nor its role has a deployStrategy'
  if (!deploy) return 'deploy is false'
  return withinLimit(name, ansibleLimit) ? undefined : `it is outside of ansibleLimit ${ansibleLimit}`
}

/** `a,b*`, `all`, `!c`: names and patterns, as far as Ansible's limits are taken. */
function withinLimit(host: string, limit: string): boolean {
  const words = limit.split(/[,:]/).filter((word) => word !== '')
  if (words.length === 0) return true
  const matches = (pattern: string): boolean =>
    pattern === 'all' ||
    new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`).test(host)
  const wanted = words.filter((word) => !word.startsWith('!'))
  const refused = words.filter((word) => word.startsWith('!')).map((word) => word.slice(1))
  return (wanted.length === 0 || wanted.some(matches)) && !refused.some(matches)
}
