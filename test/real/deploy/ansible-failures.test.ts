/** Runs the real Ansible with hosts that fail in known tasks, and checks that each is named with its task and cause. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAnsibleFailures } from '../../../src/hosts/ansible-output.ts'
import { useFolder } from '../../folder.ts'
import { requireTool } from '../../tools.ts'

interface FailingTask {
  readonly task: string
  /** Module, with its arguments and keywords of the task. */
  readonly does: Readonly<Record<string, unknown>>
  readonly cause: RegExp
  readonly reason?: 'unreachable'
}

/** One host fails in each. */
const failing: readonly FailingTask[] = [
  { task: 'Check the disk', does: { command: 'sh -c "echo disk is full >&2; exit 3"' }, cause: /disk is full/ },
  { task: 'Run a missing program', does: { command: '/nonexistent/program' }, cause: /No such file or directory/ },
  {
    task: 'Assert [memory]',
    does: { assert: { that: ['1 > 2'], fail_msg: 'too little memory' } },
    cause: /too little memory/,
  },
  {
    task: 'Refuse the host',
    does: { fail: { msg: 'the host is not supported' } },
    cause: /^the host is not supported$/,
  },
  { task: 'Use a variable', does: { debug: { msg: '{{ nowhere_defined }}' } }, cause: /nowhere_defined/ },
  {
    task: 'Copy a missing file',
    does: { copy: { src: '/nonexistent/file', dest: '/nonexistent/x' } },
    cause: /nonexistent/,
  },
  {
    task: 'Write below no folder',
    does: { copy: { content: 'x', dest: '/nonexistent/folder/x' } },
    cause: /\/nonexistent\/folder/,
  },
  { task: 'Render a template', does: { template: { src: 'broken.j2', dest: '/nonexistent/x' } }, cause: /template/i },
  {
    task: 'Fetch an image',
    does: { get_url: { url: 'http://127.0.0.1:1/image', dest: '/nonexistent/x' } },
    cause: /refused|failed/i,
  },
  { task: 'Wait for a port', does: { wait_for: { host: '127.0.0.1', port: 1, timeout: 1 } }, cause: /[Tt]imeout/ },
  { task: 'Give wrong arguments', does: { file: { path: '/tmp', state: 'upside-down' } }, cause: /upside-down|state/ },
  {
    task: 'Set a password',
    does: { command: 'sh -c "echo hunter2secret; exit 1"', no_log: true },
    cause: /hidden/,
  },
  {
    task: 'Loop',
    does: { command: 'sh -c "echo {{ item }} is broken >&2; exit {{ item }}"', loop: [0, 4] },
    cause: /broken|items/,
  },
  { task: 'Include nothing', does: { include_tasks: 'nonexistent.yaml' }, cause: /nonexistent\.yaml/ },
  { task: 'Reach the host', does: { ping: {} }, cause: /./, reason: 'unreachable' },
]
const hostOf = (index: number): string => `compute-${index}`
const failingHosts = failing.map((_, index) => hostOf(index))

describe('a run of Ansible', { timeout: 900_000 }, () => {
  const folder = useFolder()

  it.for(['json', 'yaml'])('that fails on 15 of 18 hosts names each, its task and its cause (%s)', (format, ctx) => {
    requireTool(ctx, 'ansible-playbook')
    const tasks = [
      { name: 'Fail and go on', command: 'false', ignore_errors: true, when: "inventory_hostname == 'fine-0'" },
      {
        name: 'Fail and rescue',
        block: [{ name: 'Fail inside', command: 'false' }],
        rescue: [{ name: 'Rescue', debug: { msg: 'rescued' } }],
        when: "inventory_hostname == 'fine-1'",
      },
      ...failing.map(({ task, does }, index) => ({
        name: task,
        ...does,
        when: `inventory_hostname == '${hostOf(index)}'`,
      })),
      { name: 'End', debug: { msg: 'done' } },
    ]
    const unreachable = failing.findIndex(({ reason }) => reason === 'unreachable')
    const hosts = Object.fromEntries(
      [...failingHosts, 'fine-0', 'fine-1', 'fine-2'].map((host) => [
        host,
        host === hostOf(unreachable)
          ? { ansible_connection: 'ssh', ansible_host: '127.0.0.1', ansible_port: 1 }
          : { ansible_connection: 'local', ansible_python_interpreter: '/usr/bin/python3' },
      ]),
    )
    const files = {
      'play.json': JSON.stringify([{ hosts: 'all', gather_facts: false, tasks }]),
      'hosts.json': JSON.stringify({ all: { hosts } }),
      'broken.j2': '{% if %}',
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text)
    const { status, stdout } = spawnSync('ansible-playbook', ['-i', 'hosts.json', 'play.json'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 600_000,
      env: {
        ...process.env,
        HOME: folder,
        ANSIBLE_CALLBACK_RESULT_FORMAT: format,
        ANSIBLE_NOCOLOR: '1',
        ANSIBLE_LOCALHOST_WARNING: '0',
        ANSIBLE_SSH_RETRIES: '0',
      },
    })
    expect(status, stdout).not.toBe(0)
    const failures = new Map(parseAnsibleFailures(stdout).map((failure) => [failure.host, failure]))
    expect([...failures.keys()].toSorted(), stdout).toEqual(failingHosts.toSorted())
    for (const [index, { task, cause, reason = 'failed' }] of failing.entries())
      expect(failures.get(hostOf(index)), stdout).toMatchObject({ task, reason, cause: expect.stringMatching(cause) })
    expect(JSON.stringify([...failures.values()])).not.toContain('hunter2secret')
  })
})
