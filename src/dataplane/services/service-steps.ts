/**
 * Decides the steps of a service on its host: builds its configuration, hashes the inputs of each step, and summarizes
 * the deployment.
 *
 * customServiceConfig is checked by oslo.config's rules before it is used, and is passed on byte for byte.
 */
import type { Condition } from '../../api/object.ts'
import { conditionRequested, conditionTrue } from '../../controllers/kit/conditions.ts'
import { parseIni } from '../../ini/parse.ts'
import type { AnsibleRun } from '../kinds/ansible-run.ts'
import type { Applied } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { DEPLOYMENT_READY, decisionCondition, isProgressing } from '../nodes/node-status.ts'
import type { RunnerSettings } from '../rules/inheritance.ts'
import { checkServiceObject } from '../rules/service-object.ts'
import { findAttempts, isServiceRun, isSince } from '../runs/attempts.ts'
import { decideStep, type RunDecision, type RunRetry } from '../runs/decide-step.ts'
import { hashInputs } from '../runs/input-hash.ts'
import type { RunIndex } from '../runs/run-index.ts'
import type { ConfigFiles } from '../service-definitions/config-files.ts'
import type { ConfigFacts, ServiceDefinition, ServiceStep } from '../service-definitions/definition.ts'
import type { ServiceState } from './service-state.ts'

export function buildServiceConfig(
  definition: ServiceDefinition,
  service: ServiceObject,
  facts: ConfigFacts,
): ConfigFiles {
  const { customServiceConfig = '', defaultConfigOverwrite = {} } = service.spec
  const config = definition.files(facts, customServiceConfig)
  if (config.kind === 'refused') return config
  const generated = parseIni(config.files[definition.generatedFile] ?? '').assignments
  const errors = checkServiceObject(service, definition, generated)
    .map((found) => found.finding)
    .filter(({ severity }) => severity === 'error')
  if (errors.length > 0) return { kind: 'refused', findings: errors }
  return { kind: 'files', files: { ...defaultConfigOverwrite, ...config.files } }
}

interface ServiceInputs {
  readonly service: ServiceObject
  readonly facts: ConfigFacts
  /** The text of the inventory. */
  readonly inventory: string
  readonly runner: RunnerSettings | undefined
  /** The hash of the Secrets and ConfigMaps that its runs mount. */
  readonly mounted: string | undefined
  readonly request: string | undefined
}

/** Hashes the facts and not the files that this version renders from them, so that an upgrade starts nothing. */
function hashServiceStep(
  step: ServiceStep,
  { service, facts, inventory, runner, mounted, request }: ServiceInputs,
): string {
  const { customServiceConfig = '', defaultConfigOverwrite = {}, networkAttachments = [] } = service.spec
  const { ansibleEEContainerImage, dnsConfig } = service.spec
  return hashInputs({
    step: step.name,
    playbook: step.playbook,
    vars: step.extraVars?.(service),
    facts,
    customServiceConfig,
    defaultConfigOverwrite,
    networkAttachments,
    ansibleEEContainerImage,
    dnsConfig,
    inventory,
    // Settings that are not set are left out, so that a node without them keeps its hash.
    extraMounts: runner?.extraMounts.length ? runner.extraMounts : undefined,
    env: runner?.env.length ? runner.env : undefined,
    ansibleTags: runner?.ansibleTags || undefined,
    ansibleSkipTags: runner?.ansibleSkipTags || undefined,
    mounted,
    request,
  })
}

export interface ServiceStepState {
  readonly step: ServiceStep
  readonly hash: string
  readonly decision: RunDecision
}

export interface ServiceStepInputs {
  readonly state: ServiceState
  readonly applied: Readonly<Record<string, Applied>>
  readonly blockedBy: string | undefined
  readonly host: string
  readonly now: number
}

export interface ServiceStepDeps {
  readonly runs: Pick<RunIndex, 'forHost' | 'activeRun'>
  readonly retry: RunRetry
}

export function decideSteps(
  { runs, retry }: ServiceStepDeps,
  definition: ServiceDefinition,
  service: ServiceObject,
  { state, applied, host, now, ...inputs }: ServiceStepInputs,
): readonly ServiceStepState[] {
  const { namespace = '' } = service.metadata
  const { nodeView } = state
  const ownRuns = serviceRuns(runs, definition, service, host)
  const hashedInputs = resolveInputs(service, state)
  let { blockedBy } = inputs
  return definition.steps.map((step): ServiceStepState => {
    // Without all inputs there is no hash, and the step is neither done nor out of date.
    const hash = hashedInputs ? hashServiceStep(step, hashedInputs) : ''
    const decided = decideStep({
      desiredHash: hash,
      applied: applied[step.name],
      attempts: findAttempts(ownRuns, host, step.name),
      heldReason: (service.spec.deploy ?? true) ? undefined : 'deploy is false',
      policy: nodeView?.policy ?? 'auto',
      request: nodeView?.runRequest,
      blockedBy,
      activeRun: runs.activeRun(namespace, host),
      retry,
      now,
    })
    const decision = hash === '' && decided.kind !== 'running' ? waitForInputs(decided, blockedBy) : decided
    if (decision.kind !== 'done') blockedBy ??= `${step.name} comes first`
    return { step, hash, decision }
  })
}

/** Runs for this host that objects of this kind created since this one exists. */
export function serviceRuns(
  runs: Pick<RunIndex, 'forHost'>,
  { annotation }: ServiceDefinition,
  service: ServiceObject,
  host: string,
): readonly AnsibleRun[] {
  const { namespace = '' } = service.metadata
  return runs.forHost(namespace, host).filter((run) => isServiceRun(run, annotation.kind) && isSince(run, service))
}

/** Undefined while some of them are missing. */
function resolveInputs(
  service: ServiceObject,
  { facts, inventory, nodeView }: ServiceState,
): ServiceInputs | undefined {
  if (!facts || !inventory) return undefined
  return {
    service,
    facts,
    inventory: inventory.text,
    runner: nodeView?.effective.runner,
    mounted: nodeView?.mountedHash,
    request: nodeView?.runRequest,
  }
}

/** Missing inputs are reported before any other reason not to run. */
function waitForInputs(decision: RunDecision, blockedBy: string | undefined): RunDecision {
  return decision.kind === 'held' ? decision : { kind: 'wait', why: blockedBy ?? 'its inputs are not complete' }
}

export function serviceDeploymentCondition(steps: readonly ServiceStepState[]): Condition {
  const open = steps.find(({ decision }) => decision.kind !== 'done')
  if (!open) return conditionTrue(DEPLOYMENT_READY, 'Deployment completed')
  const { decision, step } = open
  if (isProgressing(decision)) return conditionRequested(DEPLOYMENT_READY, 'Deployment in progress')
  if (decision.kind === 'wait') return conditionRequested(DEPLOYMENT_READY, decision.why)
  return decisionCondition(DEPLOYMENT_READY, step.name, decision)
}
