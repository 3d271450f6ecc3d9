import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../api/object.ts'
import { type AnsibleRun, type AnsibleRunSpec, ansibleRuns, HOSTS_ANNOTATION } from '../../kinds/ansible-run.ts'
import type { RunInputs } from '../run-inputs.ts'
import { buildJob, jobName } from './build-job.ts'
import { parseJobEnd } from './job-end.ts'

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB'

const run = (spec: AnsibleRunSpec, annotations: Readonly<Record<string, string>> = {}): AnsibleRun => ({
  ...ansibleRuns,
  metadata: { name: 'nova-edpm-compute-0', namespace: 'openstack', uid: 'u', annotations },
  spec,
})
const podOf = (ansibleRun: AnsibleRun, inputs: Partial<RunInputs> = {}) => {
  const known = { found: new Map(), missing: [], ...inputs }
  const job = buildJob({ run: ansibleRun, number: 1 }, known, { timeLimitMs: 60_000 })
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

  it('lets ssh accept only the known keys of a host, and report those of others, also of very many', () => {
    const hosts = new Map(
      Array.from({ length: 4_000 }, (_, index) => [`h${index}`, `10.0.${index >> 8}.${index & 255}`]),
    )
    const { args, env } = podOf(run({ args: ['sleep', '1'] }), { hosts, hostKeys: { h0: [key] } })
    expect(args.slice(0, 2)).toEqual(['sh', '-c'])
    expect(args.slice(3)).toEqual(['sleep', '1'])
    const join = (prefix: string): string =>
      env.flatMap(({ name, value }) => (name.startsWith(prefix) ? [value] : [])).join('')
    expect(join('STACKLOOM_KNOWN_HOSTS')).toBe(`h0 ${key}\n`)
    const config = join('STACKLOOM_SSH_CONFIG')
    expect(config).toContain('Host 10.0.0.0\n  HostKeyAlias h0\n  StrictHostKeyChecking yes\n')
    expect(config).toContain('Host 10.0.15.159\n  HostKeyAlias h3999\n  StrictHostKeyChecking accept-new\n')
    // Linux refuses to start a program with a longer variable.
    expect(Math.max(...env.map(({ value }) => value.length))).toBeLessThan(131_072)
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

  it('names the packages that dnf did not find', () => {
    const log = [
      'fatal: [a]: FAILED! => {"changed": false, "failures": ["No package nova available."], "msg": "Failed to install some of the specified packages", "rc": 1}',
      'a : ok=0 changed=0 unreachable=0 failed=1',
    ].join('\n')
    expect(parseJobEnd(job('Failed'), log)).toMatchObject({
      message: expect.stringContaining('specified packages: No package nova available.'),
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

  it('reads the new keys of hosts from a run that succeeded, beside the summary of the image', () => {
    const message = `r-key c ${key}\n{"failedHostList": [], "unreachableHostList": []}\nhost-key a ${key}\nhost-key a+b ${key}\n`
    expect(parseJobEnd(job('Complete'), message)).toMatchObject({ reason: 'Completed', hostKeys: { a: [key] } })
  })

  it('reads no keys from the log of a failed run, in which hosts write', () => {
    expect(parseJobEnd(job('Failed'), `host-key a ${key}\n`)).not.toHaveProperty('hostKeys')
  })

  it('distinguishes a time limit from a failure', () => {
    expect(parseJobEnd(job('Failed', 'DeadlineExceeded'), '')).toMatchObject({ reason: 'TimedOut' })
    expect(parseJobEnd(job('Failed', 'BackoffLimitExceeded'), '')).toMatchObject({ reason: 'Failed' })
  })
})
