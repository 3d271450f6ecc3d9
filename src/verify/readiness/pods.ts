/** Pods, and what keeps a workload's pods from running: images, crashes, volumes, room. */
import type { KubeObject } from '../../api/object.ts'
import { at, conditionOf, listAt, nameOf, numberAt, sinceMs, textAt } from '../../api/raw-object.ts'
import {
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
  const phase = textAt(pod, 'status', 'phase')
  if (phase === 'Succeeded' || conditionOf(pod, 'Ready')?.status === 'True') return ready
  const trouble = containerTrouble(pod)
  if (trouble) return beyondGrace(pod, context) ? trouble : progressing(causeOf(trouble))
  if (phase === 'Failed')
    return failed(
      `${nameOf(pod)} failed: ${textAt(pod, 'status', 'message') ?? textAt(pod, 'status', 'reason') ?? 'no reason given'}`,
      logs(pod),
    )
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False')
    return progressing(`${nameOf(pod)} to be scheduled: ${scheduled.message ?? scheduled.reason ?? ''}`)
  return progressing(`${nameOf(pod)} to become ready`)
}

function containerTrouble(pod: KubeObject): Readiness | undefined {
  const statuses = [
    ...listAt(pod, 'status', 'initContainerStatuses'),
    ...listAt(pod, 'status', 'containerStatuses'),
  ]
  for (const status of statuses) {
    const reason = textAt(status, 'state', 'waiting', 'reason') ?? ''
    const message = textAt(status, 'state', 'waiting', 'message') ?? reason
    const container = textAt(status, 'name') ?? '?'
    if (IMAGE_REASONS.includes(reason))
      return failed(
        `${nameOf(pod)} cannot pull ${textAt(status, 'image') ?? 'its image'}: ${message}`,
        describe(pod),
      )
    if (CONFIG_REASONS.includes(reason))
      return failed(`${nameOf(pod)} cannot start container ${container}: ${message}`, describe(pod))
    if (reason === 'CrashLoopBackOff' && (numberAt(status, 'restartCount') ?? 0) >= 3) {
      const exit = at(status, 'lastState', 'terminated', 'exitCode')
      const code = typeof exit === 'number' ? ` with exit code ${exit}` : ''
      return failed(
        `container ${container} of ${nameOf(pod)} crashes again and again${code}`,
        logs(pod, container),
      )
    }
  }
  return undefined
}

function beyondGrace(pod: KubeObject, { now, grace }: ReadinessContext): boolean {
  return sinceMs(textAt(pod, 'status', 'startTime') ?? pod.metadata.creationTimestamp, now) >= grace.podMs
}

function causeOf(verdict: Readiness): string {
  return verdict.kind === 'failed' ? verdict.cause : ''
}

function describe({ metadata }: KubeObject): string {
  return `kubectl -n ${metadata.namespace} describe pod ${metadata.name}`
}

function logs({ metadata }: KubeObject, container?: string): string {
  return `kubectl -n ${metadata.namespace} logs ${metadata.name}${container === undefined ? '' : ` -c ${container} --previous`}`
}

/** Pods of a workload, found by its selector. */
export function podsOf(workload: KubeObject, { around }: ReadinessContext): readonly KubeObject[] {
  const wanted = Object.entries(
    (at(workload, 'spec', 'selector', 'matchLabels') ?? {}) as Record<string, string>,
  )
  if (wanted.length === 0) return []
  return around
    .all('Pod')
    .filter(
      (pod) =>
        pod.metadata.namespace === workload.metadata.namespace &&
        wanted.every(([key, value]) => pod.metadata.labels?.[key] === value),
    )
}
