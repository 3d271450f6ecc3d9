import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../api/object.ts'
import { type AnsibleRun, type AnsibleRunSpec, ansibleRuns, HOSTS_ANNOTATION } from '../../kinds/ansible-run.ts'
import { buildJob, jobName } from './build-job.ts'
import { parseJobEnd } from './job-end.ts'

const run = (spec: AnsibleRunSpec, annotations: Readonly<Record<string, string>> = {}): AnsibleRun => ({
  ...ansibleRuns,
  metadata: { name: 'nova-edpm-compute-0', namespace: 'openstack', uid: 'u', annotations },
  spec,
})
const podOf = (ansibleRun: AnsibleRun, number = 1) => {
  const job = buildJob({ run: ansibleRun, number }, { found: new Map(), missing: [] }, { timeLimitMs: 60_000 })
  const { template } = job['spec'] as {
    readonly template: { readonly spec: { readonly containers: object[] } }
  }
  return template.spec.containers[0] as {
    readonly args: string[]
    readonly env: { name: string; value: string }[]
    readonly imagePullPolicy: string
  }
}

describe('buildJob', () => {
  it('uses the name of the run, with a number for later attempts, within 63 characters', () => {
    expect(jobName({ run: run({}), number: 1 })).toBe('nova-edpm-compute-0')
    expect(jobName({ run: run({}), number: 2 })).toBe('nova-edpm-compute-0-2')
    const long = { ...run({}), metadata: { name: 'x'.repeat(80) } }
    const names = [1, 2].map((number) => jobName({ run: long, number }))
    expect(names.map((name) => name.length)).toEqual([63, 63])
    expect(new Set(names).size).toBe(2)
  })

  it('passes the texts of the run to the entry point of the image', () => {
    const { args, env } = podOf(
      run({ play: '- hosts: all', cmdLine: '--tags x', extraVars: { a: 1 } }, { [HOSTS_ANNOTATION]: 'h' }),
    )
    expect(args.slice(0, 5)).toEqual(['ansible-runner', 'run', '/runner', '-p', 'playbook.yaml'])
    expect(Object.fromEntries(env.map(({ name, value }) => [name, value.trim()]))).toEqual({
      RUNNER_PLAYBOOK: '- hosts: all',
      RUNNER_CMDLINE: '--tags x --limit h',
      RUNNER_EXTRA_VARS: '{"a":1}',
    })
  })

  it('uses the image that a node has, so that it runs without a registry', () => {
    expect(podOf(run({})).imagePullPolicy).toBe('IfNotPresent')
  })

  it('passes a playbook name of a collection and a custom command unchanged', () => {
    expect(podOf(run({ playbook: 'osp.edpm.nova' })).args[4]).toBe('osp.edpm.nova')
    expect(podOf(run({ args: ['sleep', '1'] })).args).toEqual(['sleep', '1'])
  })
})

describe('parseJobEnd', () => {
  const job = (type?: string, reason?: string): KubeObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j' },
    status: type ? { conditions: [{ type, status: 'True', reason }] } : {},
  })

  it('returns nothing while the Job runs', () => {
    expect(parseJobEnd(job(), '')).toBeUndefined()
    // The pods still terminate: the Job has not ended.
    expect(parseJobEnd(job('FailureTarget'), '')).toBeUndefined()
  })

  it("reads upstream's summary where the image writes one", () => {
    const summary = JSON.stringify({ totalHosts: 2, failedHostList: [], unreachableHostList: ['b'] })
    expect(parseJobEnd(job('Failed'), summary)).toMatchObject({
      reason: 'Unreachable',
      message: 'b: not reachable',
      hosts: { b: { unreachable: 1 } },
    })
  })

  it('names the host whose SSH key was refused, and what it sent', () => {
    const log = [
      'fatal: [a]: UNREACHABLE! => {"msg": "Connection timed out"}',
      'fatal: [b]: UNREACHABLE! => {"msg": "The fingerprint for the ED25519 key sent by the remote host is\\nSHA256:abc.\\r\\nHost key verification failed."}',
      'a : ok=0 changed=0 unreachable=1 failed=0',
      'b : ok=0 changed=0 unreachable=1 failed=0',
    ].join('\n')
    expect(parseJobEnd(job('Failed'), log)).toMatchObject({
      reason: 'Unreachable',
      message: expect.stringMatching(/^SL7556: b has another SSH host key.*ssh-host-keys/),
      refusedKey: { host: 'b', sent: 'ED25519 SHA256:abc' },
    })
  })

  it('distinguishes a time limit from a failure', () => {
    expect(parseJobEnd(job('Failed', 'DeadlineExceeded'), '')).toMatchObject({ reason: 'TimedOut' })
    expect(parseJobEnd(job('Failed', 'BackoffLimitExceeded'), '')).toMatchObject({ reason: 'Failed' })
  })
})
