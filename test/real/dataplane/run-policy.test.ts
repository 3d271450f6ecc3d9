/** Sends runs that ask for more than the administrator allows to a real API server: none may become a Job. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defaultRunSettings } from '../../../src/dataplane/execution/decide-attempt.ts'
import { jobs } from '../../../src/dataplane/execution/jobs/build-job.ts'
import { jobExecutor } from '../../../src/dataplane/execution/jobs/job-executor.ts'
import { runController, runIndexes } from '../../../src/dataplane/execution/run-controller.ts'
import { safeRunPolicy } from '../../../src/dataplane/execution/run-policy.ts'
import { type AnsibleRun, type AnsibleRunSpec, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { createRuntime } from '../../../src/kube/runtime.ts'
import { useCluster } from '../../cluster.ts'
import { serveRuns } from './runs.ts'

const cluster = useCluster()
const namespace = 'openstack'
const control = new AbortController()
let running: Promise<unknown> | undefined

beforeAll(async () => {
  const { client } = cluster
  await serveRuns(client, namespace)
  const runtime = createRuntime({ client })
  const runs = runtime.cache<AnsibleRun>({ kind: ansibleRuns }, runIndexes)
  const executor = jobExecutor({ client, timeLimitMs: 60_000 })
  const settings = defaultRunSettings
  runtime.add(runController({ client, runs, executor, settings, policy: safeRunPolicy, record: () => {} }))
  running = runtime.run(control.signal)
}, 120_000)
afterAll(async () => {
  control.abort()
  await running
})

const mount = (source: object): AnsibleRunSpec => ({
  extraMounts: [{ volumes: [{ name: 'v', ...source }], mounts: [{ name: 'v', mountPath: '/v' }] }],
})

it.each<[string, AnsibleRunSpec, string]>([
  ['host', mount({ hostPath: { path: '/' } }), 'volume v is a hostPath'],
  ['account', { serviceAccountName: 'cluster-admin' }, 'service account cluster-admin'],
  [
    'privileged',
    { initContainers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] },
    'init container',
  ],
  ['root', { uid: 0 }, 'it runs as root'],
])(
  'a run that asks for too much is not started: %s',
  async (name, spec, words) => {
    const play = '- hosts: all\n  tasks: []\n'
    await cluster.client.create({
      ...ansibleRuns,
      metadata: { name, namespace },
      spec: { play, inventory: 'all: {}', ...spec },
    })
    const result = async () =>
      ((await cluster.client.get({ ...ansibleRuns, namespace, name })) as AnsibleRun | undefined)?.status?.result
    await expect.poll(async () => (await result())?.message, { timeout: 120_000, interval: 50 }).toContain(words)
    expect((await result())?.reason).toBe('NotStarted')
    expect((await cluster.client.list(jobs, { namespace })).items).toEqual([])
  },
  240_000,
)
