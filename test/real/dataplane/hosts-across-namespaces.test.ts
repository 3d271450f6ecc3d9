/** Runs of several namespaces for one host, on a real API server: never two attempts at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { objectKey } from '../../../src/api/object.ts'
import { defaultRunSettings } from '../../../src/dataplane/execution/decide-attempt.ts'
import type { Attempt, Executor, ExecutorState } from '../../../src/dataplane/execution/executor.ts'
import { defaultRunDelays, runController, runIndexes } from '../../../src/dataplane/execution/run-controller.ts'
import { safeRunPolicy } from '../../../src/dataplane/execution/run-policy.ts'
import { type AnsibleRun, ansibleRuns, hasEnded } from '../../../src/dataplane/kinds/ansible-run.ts'
import { createRuntime } from '../../../src/kube/runtime.ts'
import { useCluster } from '../../cluster.ts'
import { serveRuns } from './runs.ts'

const cluster = useCluster()
const namespaces = ['one', 'two', 'three']
const control = new AbortController()
let operator: Promise<unknown> | undefined

/** One host, so at most one attempt may be active. */
const states = new Map<string, ExecutorState>()
let active = 0
let most = 0
const attemptKey = ({ run, number }: Attempt): string => `${objectKey(run.metadata)} ${number}`

function recordingExecutor(onEnded: (key: string) => void): Executor {
  return {
    name: 'local',
    start: async (attempt) => {
      if (states.has(attemptKey(attempt))) return
      states.set(attemptKey(attempt), { kind: 'running' })
      active += 1
      most = Math.max(most, active)
      void sleep(30).then(() => {
        active -= 1
        states.set(attemptKey(attempt), { kind: 'ended', end: { reason: 'Completed' } })
        onEnded(objectKey(attempt.run.metadata))
      })
    },
    inspect: async (attempt) => states.get(attemptKey(attempt)) ?? { kind: 'absent' },
    cancel: async () => true,
    cleanUp: async () => {},
  }
}

beforeAll(async () => {
  const { client } = cluster
  for (const namespace of namespaces) await serveRuns(client, namespace)
  const delays = { ...defaultRunDelays, conflictingRunMs: 500 }
  const runtime = createRuntime({ client })
  const runs = runtime.cache<AnsibleRun>({ kind: ansibleRuns }, runIndexes)
  let enqueue = (_key: string): void => {}
  const executor = recordingExecutor((key) => enqueue(key))
  const deps = { client, runs, executor, delays, settings: defaultRunSettings, policy: safeRunPolicy }
  enqueue = runtime.add(runController({ ...deps, record: () => {} })).enqueue
  operator = runtime.run(control.signal)
}, 120_000)
afterAll(async () => {
  control.abort()
  await operator
})

it('runs of different namespaces never work on one host at the same time, and all of them end', async () => {
  const hosts = { a: { ansible_host: '192.168.122.100' } }
  const spec = { play: '- hosts: all\n  tasks: []\n', inventory: JSON.stringify({ all: { hosts } }) }
  const names = namespaces.flatMap((namespace) => ['x', 'y', 'z'].map((name) => ({ namespace, name })))
  await Promise.all(names.map((metadata) => cluster.client.create({ ...ansibleRuns, metadata, spec })))
  const open = async (): Promise<number> => {
    const { items } = await cluster.client.list(ansibleRuns)
    return items.filter((run) => !hasEnded(run as unknown as AnsibleRun)).length
  }
  await expect.poll(open, { timeout: 120_000, interval: 100 }).toBe(0)
  expect(most).toBe(1)
  expect(states.size).toBe(names.length)
}, 180_000)
