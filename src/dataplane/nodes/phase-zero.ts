/**
 * Evaluates phase 0 of a node: the services of its role, in order, and the state of each on this host.
 *
 * Pure. Readiness is per host and bound to its inputs: a role that is done says nothing about a node that was added
 * later.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { runnerInputsUnsupported, unknownDataPlaneService } from '../findings/data-plane.ts'
import type { AnsibleRun } from '../kinds/ansible-run.ts'
import type { Applied, DataPlaneService } from '../kinds/data-plane.ts'
import { isWithinLimit } from '../rules/ansible-limit.ts'
import type { EffectiveNode } from '../rules/inheritance.ts'
import { checkDataPlaneService } from '../rules/object-name.ts'
import { findAttempts, previousRun, resolveApplied } from '../runs/attempts.ts'
import { decideStep, type RunDecision, type StepInputs } from '../runs/decide-step.ts'
import { hashInputs } from '../runs/input-hash.ts'
import { phase0Playbooks } from '../runs/playbooks.ts'
import type { Playbook } from '../runs/run-object.ts'
import { buildHostVars, type HostVars } from './inventory.ts'

/** One service of a role. */
export type Step = RunnableStep | { readonly kind: 'unknown'; readonly name: string; readonly finding: Finding }

export interface RunnableStep {
  readonly kind: 'runnable'
  readonly name: string
  readonly label: string
  /** From the OpenStackDataPlaneService; a string names a built-in playbook. */
  readonly playbook: Playbook | string
}

export function resolveStep(name: string, namespace: string, service: DataPlaneService | undefined): Step {
  const label = service?.spec.label || `dataplane-deployment-${name}`
  if (!service) {
    const builtIn = phase0Playbooks.find((playbook) => playbook === name)
    if (builtIn) return { kind: 'runnable', name, label, playbook: builtIn }
    return { kind: 'unknown', name, finding: finding(unknownDataPlaneService, { service: name, namespace }) }
  }
  const [invalid] = checkDataPlaneService(service)
  if (invalid) return { kind: 'unknown', name, finding: invalid.finding }
  const { play, role, openStackAnsibleEERunnerImage: image } = service.spec
  if (!play && !role?.tasks?.length) {
    const why = 'it has neither play nor role'
    return { kind: 'unknown', name, finding: finding(runnerInputsUnsupported, { service: name, why }) }
  }
  const content = play ? { play } : role && { roles: role }
  return { kind: 'runnable', name, label, playbook: { ...content, ...(image && { image }) } }
}

/**
 * The hash of what a step does to a host. The SSH key is left out: it only decides how the host is reached. So is the
 * text of built-in playbooks: an upgrade of this program starts nothing. `mounted` is the hash of the Secrets and
 * ConfigMaps that its runs mount.
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
  const host = buildHostVars(effective, addresses)
  return hashInputs({ playbook: step.playbook, host, networkTemplate, runner, request, mounted })
}

export interface PhaseZeroInputs extends Pick<StepInputs, 'activeRun' | 'policy' | 'request' | 'retry' | 'now'> {
  readonly effective: EffectiveNode
  readonly steps: readonly Step[]
  readonly hashInputs: (step: RunnableStep) => string
  readonly recorded: Readonly<Record<string, Applied>> | undefined
  readonly runs: readonly AnsibleRun[]
  /** What has to happen before phase 0. */
  readonly blockedBy: string | undefined
}

export interface StepState {
  readonly step: Step
  /** Empty for a step that cannot be run. */
  readonly hash: string
  readonly decision: RunDecision
}

export interface NextStep {
  readonly step: RunnableStep
  readonly hash: string
  readonly attempt: number
  /** The run of this step that changed the host last. */
  readonly previousRun: string | undefined
}

export interface PhaseZeroState {
  readonly steps: readonly StepState[]
  readonly applied: Readonly<Record<string, Applied>>
  /** Every step was done with the current inputs. */
  readonly isDone: boolean
  /** The step that can start now. */
  readonly next: NextStep | undefined
}

export function evaluatePhaseZero(inputs: PhaseZeroInputs): PhaseZeroState {
  const { effective, recorded, runs, activeRun, policy, request, retry, now } = inputs
  const host = effective.name
  const names = inputs.steps.map(({ name }) => name)
  const applied = resolveApplied(recorded, names, host, runs)
  let { blockedBy } = inputs
  const steps = inputs.steps.map((step): StepState => {
    if (step.kind === 'unknown') {
      const decision: RunDecision = { kind: 'wait', why: step.finding.message }
      blockedBy ??= `${step.name} cannot be run`
      return { step, hash: '', decision }
    }
    const hash = inputs.hashInputs(step)
    const decision = decideStep({
      desiredHash: hash,
      applied: applied[step.name],
      attempts: findAttempts(runs, host, step.name),
      heldReason: heldReason(effective),
      blockedBy,
      activeRun,
      policy,
      request,
      retry,
      now,
    })
    if (decision.kind !== 'done') blockedBy ??= `${step.name} comes first`
    return { step, hash, decision }
  })
  const [next] = steps.flatMap(({ step, hash, decision }): readonly NextStep[] =>
    decision.kind === 'start' && step.kind === 'runnable'
      ? [{ step, hash, attempt: decision.attempt, previousRun: previousRun(applied[step.name]) }]
      : [],
  )
  return { steps, applied, next, isDone: steps.every(({ decision }) => decision.kind === 'done') }
}

function heldReason({ name, deploy, hasStrategy, ansibleLimit }: EffectiveNode): string | undefined {
  if (!hasStrategy) return 'neither the node nor its role has a deployStrategy'
  if (!deploy) return 'deploy is false'
  return isWithinLimit(name, ansibleLimit) ? undefined : `it is outside of ansibleLimit ${ansibleLimit}`
}
