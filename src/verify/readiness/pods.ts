/** Readiness of Pods: images, crashes and scheduling. */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, formatObjectName, getField, getList, getNumber, getString } from '../../api/raw-object.ts'
import { quoteShellWord } from '../../errors/shell-words.ts'
import {
  errorAgeMs,
  failed,
  progressing,
  type Readiness,
  type ReadinessContext,
  type ReadinessRule,
  ready,
} from './verdict.ts'

const IMAGE_REASONS = ['ImagePullBackOff', 'ErrImagePull', 'InvalidImageName', 'ErrImageNeverPull']
const CONFIG_REASONS = ['CreateContainerConfigError', 'CreateContainerError']

export const podReadiness: ReadinessRule = (pod, context) => {
  const phase = getString(pod, 'status', 'phase')
  if (phase === 'Succeeded' || findCondition(pod, 'Ready')?.status === 'True') return ready
  const trouble = containerFailure(pod)
  if (trouble) return isPastGrace(pod, context) ? trouble : progressing(failureCause(trouble))
  if (phase === 'Failed')
    return failed(
      `${formatObjectName(pod)} failed: ${getString(pod, 'status', 'message') ?? getString(pod, 'status', 'reason') ?? 'no reason given'}`,
      podLogsCommand(pod),
    )
  const scheduled = findCondition(pod, 'PodScheduled')
  if (scheduled?.status === 'False')
    return progressing(`${formatObjectName(pod)} to be scheduled: ${scheduled.message ?? scheduled.reason ?? ''}`)
  return progressing(`${formatObjectName(pod)} to become ready`)
}

function containerFailure(pod: KubeObject): Readiness | undefined {
  const statuses = [...getList(pod, 'status', 'initContainerStatuses'), ...getList(pod, 'status', 'containerStatuses')]
  for (const status of statuses) {
    const reason = getString(status, 'state', 'waiting', 'reason') ?? ''
    const message = getString(status, 'state', 'waiting', 'message') ?? reason
    const container = getString(status, 'name') ?? '?'
    if (IMAGE_REASONS.includes(reason))
      return failed(
        `${formatObjectName(pod)} cannot pull ${getString(status, 'image') ?? 'its image'}: ${message}`,
        describePodCommand(pod),
      )
    if (CONFIG_REASONS.includes(reason))
      return failed(`${formatObjectName(pod)} cannot start container ${container}: ${message}`, describePodCommand(pod))
    if (reason === 'CrashLoopBackOff' && (getNumber(status, 'restartCount') ?? 0) >= 3) {
      const exit = getField(status, 'lastState', 'terminated', 'exitCode')
      const code = typeof exit === 'number' ? ` with exit code ${exit}` : ''
      return failed(
        `container ${container} of ${formatObjectName(pod)} crashes repeatedly${code}`,
        podLogsCommand(pod, container),
      )
    }
  }
  return undefined
}

function isPastGrace(pod: KubeObject, context: ReadinessContext): boolean {
  const started = getString(pod, 'status', 'startTime') ?? pod.metadata.creationTimestamp
  return errorAgeMs(started, context) >= context.grace.podMs
}

function failureCause(verdict: Readiness): string {
  return verdict.kind === 'failed' ? verdict.cause : ''
}

function describePodCommand({ metadata }: KubeObject): string {
  return `kubectl -n ${metadata.namespace} describe pod ${metadata.name}`
}

function podLogsCommand({ metadata }: KubeObject, container?: string): string {
  return `kubectl -n ${metadata.namespace} logs ${metadata.name}${container === undefined ? '' : ` -c ${quoteShellWord(container)} --previous`}`
}

/** Pods that match the selector of a workload. */
export function podsOfWorkload(workload: KubeObject, { around }: ReadinessContext): readonly KubeObject[] {
  const labels = Object.entries((getField(workload, 'spec', 'selector', 'matchLabels') ?? {}) as Record<string, string>)
  if (labels.length === 0) return []
  return around
    .all('Pod')
    .filter(
      (pod) =>
        pod.metadata.namespace === workload.metadata.namespace &&
        labels.every(([key, value]) => pod.metadata.labels?.[key] === value),
    )
}
