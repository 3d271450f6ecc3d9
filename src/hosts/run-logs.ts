/** Adds the failed task and its cause to the failures of hosts, from the logs of their Ansible runs. Pure. */
import type { KubeObject } from '../api/object.ts'
import type { HostFailure } from './deployment-outcome.ts'
import type { HostState } from './judge-hosts.ts'
import { findFailures, readFailures } from './kept-failures.ts'

export interface FailedRun {
  readonly namespace: string
  readonly deployment: string
}

export interface RunLog extends FailedRun {
  readonly service: string
  readonly pod?: string
  readonly output: string
}

/** The deployments whose logs can explain a failed host, each once. */
export function failedRuns(states: readonly HostState[]): readonly FailedRun[] {
  const runs = states.flatMap(({ namespace, failures }) =>
    failures.map(({ deployment }) => ({ namespace, deployment })),
  )
  return [...new Map(runs.map((run) => [formatRun(run), run])).values()]
}

function formatRun({ namespace, deployment }: FailedRun, service = '', host = ''): string {
  return [namespace, deployment, service, host].join('/')
}

/** From the logs while they exist, and from what was kept with the deployments. */
export function addCauses(
  states: readonly HostState[],
  logs: readonly RunLog[],
  deployments: readonly KubeObject[] = [],
): readonly HostState[] {
  const found = [
    ...deployments.flatMap((object) => {
      const { namespace = '', name } = object.metadata
      return readFailures(object).map((failure) => ({ namespace, deployment: name, ...failure }))
    }),
    ...logs.flatMap((log) => findFailures(log).map((failure) => ({ ...log, ...failure }))),
  ]
  const known = new Map(
    found.flatMap(({ host, task, cause, ...run }) =>
      // A failure without a service may be of any.
      ['', run.service].map((service) => [formatRun(run, service, host), { task, cause }] as const),
    ),
  )
  if (known.size === 0) return states
  return states.map((state) => {
    if (state.failures.length === 0) return state
    const { namespace, host } = state
    const failures = state.failures.map((failure): HostFailure => {
      const { deployment, service } = failure
      return { ...failure, ...known.get(formatRun({ namespace, deployment }, service, host)) }
    })
    return { ...state, failures }
  })
}
