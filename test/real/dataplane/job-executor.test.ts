/**
 * Tests the Job executor on a real API server with the real Job controller. An actor simulates the kubelet as far as the
 * end of a pod.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { jobs } from '../../../src/dataplane/execution/jobs/build-job.ts'
import { jobExecutor } from '../../../src/dataplane/execution/jobs/job-executor.ts'
import { readRunInputs } from '../../../src/dataplane/execution/run-inputs.ts'
import type { AnsibleRun } from '../../../src/dataplane/kinds/ansible-run.ts'
import { isApiError } from '../../../src/kube/api-error.ts'
import { useCluster } from '../../cluster.ts'
import { executorContract } from './executor-contract.ts'
import { ansibleRun, mounts, play, SSH_SECRET, secret, serveRuns } from './runs.ts'

const cluster = useCluster({ controllerManager: true })
const namespace = 'openstack'
const never = new AbortController().signal
const pods = { apiVersion: 'v1', kind: 'Pod' }
const kubelet = new AbortController()
let playing: Promise<void> | undefined

/** The end of Ansible's output when a task failed. */
const RECAP = `fatal: [edpm-compute-0]: FAILED! => {"changed": false, "msg": "not today"}

PLAY RECAP *********************************************************************
edpm-compute-0             : ok=1    changed=0    unreachable=0    failed=1    skipped=0
`

/** Ends pods by the name of their run; a pod that hangs ends when it is deleted. */
async function playKubelet(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { items } = await cluster.client.list(pods, { namespace })
    for (const pod of items) await tend(pod).catch(unlessRaced)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function unlessRaced(error: unknown): void {
  if (!isApiError(error, 'not-found', 'conflict')) throw error
}

async function tend(pod: KubeObject): Promise<void> {
  const { name } = pod.metadata
  const ref = { ...pods, namespace, name }
  const { phase } = (pod['status'] ?? {}) as { readonly phase?: string }
  if (phase === 'Succeeded' || phase === 'Failed') return
  const does = pod.metadata.labels?.['openstackansibleee_cr']?.split('-')[0]
  const deleted = pod.metadata.deletionTimestamp !== undefined
  if (does === 'hang' && !deleted) return
  const exitCode = does === 'succeed' ? 0 : 2
  const message = does === 'fail' ? RECAP : ''
  const terminated = { exitCode, message, reason: 'Completed', finishedAt: new Date().toISOString() }
  const status = {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    containerStatuses: [
      {
        name: 'openstackansibleee',
        image: 'x',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated },
      },
    ],
  }
  await cluster.client.patch(ref, { status }, { type: 'merge', subresource: 'status' })
  if (deleted) await cluster.client.delete(ref, { preconditions: { uid: pod.metadata.uid ?? '' } })
}

beforeAll(async () => {
  const { client } = cluster
  await serveRuns(client, namespace)
  await client.create(secret(namespace, SSH_SECRET, { 'ssh-privatekey': 'key' }))
  await client.create(secret(namespace, 'dataplanenode-edpm-compute-0', { inventory: 'all: {}' }))
  playing = playKubelet(kubelet.signal)
}, 600_000)
afterAll(async () => {
  kubelet.abort()
  await playing
})

let made = 0
async function create(does: string): Promise<AnsibleRun> {
  made += 1
  const spec = { play: play([]), extraMounts: mounts('dataplanenode-edpm-compute-0') }
  return (await cluster.client.create(ansibleRun(namespace, `${does}-${made}`, spec))) as AnsibleRun
}

describe('the Job executor', () => {
  executorContract({
    executor: ({ timeLimitMs } = { timeLimitMs: 300_000 }) => jobExecutor({ client: cluster.client, timeLimitMs }),
    prepare: async (does) => {
      const run = await create(does)
      return { attempt: { run, number: 1 }, inputs: await readRunInputs(cluster.client, run, never) }
    },
    starts: async ({ run }) => {
      const { items } = await cluster.client.list(pods, {
        namespace,
        labelSelector: `openstackansibleee_cr=${run.metadata.name}`,
      })
      return items.length
    },
  })

  it('mounts the inventory from the Secret of its name, if it exists', async () => {
    const run = await create('succeed')
    const executor = jobExecutor({ client: cluster.client, timeLimitMs: 60_000 })
    await executor.start({ run, number: 1 }, await readRunInputs(cluster.client, run, never), never)
    const job = await cluster.client.get({ ...jobs, namespace, name: run.metadata.name })
    expect(job?.['spec']).toMatchObject({
      template: {
        spec: {
          volumes: [{ name: 'ssh-key' }, { name: 'inventory', secret: { secretName: 'dataplanenode-edpm-compute-0' } }],
        },
      },
    })
  })

  it('keeps the Job until the result is recorded, and then deletes it only if requested', async () => {
    const asked = (await cluster.client.create(
      ansibleRun(namespace, 'succeed-briefly', {
        play: play([]),
        inventory: 'all: {}',
        preserveJobs: false,
      }),
    )) as AnsibleRun
    const attempt = { run: asked, number: 1 }
    const executor = jobExecutor({ client: cluster.client, timeLimitMs: 60_000 })
    await executor.start(attempt, { found: new Map(), missing: [] }, never)
    const ttl = async (): Promise<unknown> => {
      const job = await cluster.client.get({ ...jobs, namespace, name: 'succeed-briefly' })
      const spec = job?.['spec'] as { readonly ttlSecondsAfterFinished?: number } | undefined
      return spec?.ttlSecondsAfterFinished
    }
    expect(await ttl()).toBeUndefined()
    await executor.cleanUp(attempt, never)
    expect(await ttl()).toBe(600)
  })
})
