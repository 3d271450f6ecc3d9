import { describe, expect, it } from 'vitest'
import { type AnsibleProgram, ansibleEnvironment, splitShellWords, withoutAgent } from './ansible-command.ts'
import { runFolder } from './run-folder.ts'

describe('splitShellWords', () => {
  it('splits like a shell', () => {
    expect(splitShellWords(`--tags a,b -e 'x=1 2' --limit "a b"`)).toEqual([
      '--tags',
      'a,b',
      '-e',
      'x=1 2',
      '--limit',
      'a b',
    ])
  })
})

describe('the SSH key of a run', () => {
  const run = { apiVersion: 'a', kind: 'b', metadata: { name: 'r', uid: 'u' }, spec: {} }
  const folder = runFolder('/runs', { run, number: 1 })
  const given = (program: AnsibleProgram, ...names: readonly string[]) => {
    const files = new Map(names.map((name) => [name, Buffer.from('text')]))
    const used = withoutAgent(program, { files, env: {}, playbook: 'p', secrets: [], findings: [], needsPod: [] })
    const { ANSIBLE_PRIVATE_KEY_FILE } = ansibleEnvironment(folder, used, '/callbacks', '/sockets')
    return { files: [...used.files.keys()], key: ANSIBLE_PRIVATE_KEY_FILE }
  }

  it('is a file that SSH reads without an agent', () => {
    for (const program of ['ansible-runner', 'ansible-playbook'] as const) {
      expect(given(program, 'runner/env/ssh_key', 'runner/env/cmdline')).toEqual({
        files: ['runner/env/cmdline', 'runner/ssh_key'],
        key: `${folder.root}/runner/ssh_key`,
      })
    }
  })

  it('stays with the agent when it has a passphrase', () => {
    const names = ['runner/env/ssh_key', 'runner/env/passwords']
    expect(given('ansible-runner', ...names)).toEqual({ files: names, key: undefined })
  })

  it('is not configured when there is none', () => {
    expect(given('ansible-runner', 'runner/env/cmdline').key).toBeUndefined()
  })
})
