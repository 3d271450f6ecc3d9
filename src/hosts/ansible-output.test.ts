import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { groupCauses, parseAnsibleFailures } from './ansible-output.ts'

/** The output of a real run with five hosts, of which each fails in another way. */
const output = readFileSync(new URL('../../test/samples/ansible/failed-run.txt', import.meta.url), 'utf8')

describe('parseAnsibleFailures', () => {
  it('names the task and the cause of each host, without failures that were ignored or rescued', () => {
    const failures = parseAnsibleFailures(output)
    expect(failures.toSorted((a, b) => (a.host < b.host ? -1 : 1))).toEqual([
      {
        host: 'compute-0',
        task: 'Use a secret',
        reason: 'failed',
        cause: expect.stringContaining('the output has been hidden'),
      },
      { host: 'compute-1', task: 'Install packages [nova]', reason: 'failed', cause: 'No space left on device' },
      {
        host: 'compute-2',
        task: 'Reach the host',
        reason: 'unreachable',
        cause: expect.stringMatching(/^Failed to connect to the host via ssh/),
      },
      { host: 'compute-3', task: 'Install packages [nova]', reason: 'failed', cause: 'No space left on device' },
      {
        host: 'compute-4',
        task: 'Write files',
        reason: 'failed',
        cause: 'Destination directory /nonexistent does not exist',
      },
    ])
  })

  it('names the same hosts when the log ends before the recap', () => {
    const cut = output.slice(0, output.indexOf('PLAY RECAP'))
    expect(parseAnsibleFailures(cut).map(({ host }) => host)).toEqual(
      parseAnsibleFailures(output).map(({ host }) => host),
    )
  })

  it('reads results that are printed over several lines', () => {
    const lines = ['TASK [a] ***', 'fatal: [h]: FAILED! => {', '    "msg": "no space"', '}']
    expect(parseAnsibleFailures(lines.join('\n'))).toMatchObject([{ host: 'h', task: 'a', cause: 'no space' }])
    const yaml = ['TASK [a] ***', 'fatal: [h]: FAILED! => ', '    changed: false', '    msg: no space']
    expect(parseAnsibleFailures(yaml.join('\n'))).toMatchObject([{ cause: 'no space' }])
  })

  it('names the packages that dnf did not find', () => {
    const result = { failures: ['No package nova available.'], msg: 'Failed to install some of the specified packages' }
    const lines = ['TASK [a] ***', `fatal: [h]: FAILED! => ${JSON.stringify(result)}`]
    const [failure] = parseAnsibleFailures(lines.join('\n'))
    expect(failure?.cause).toBe('Failed to install some of the specified packages: No package nova available.')
  })

  it('masks credentials in a cause', () => {
    const line = 'fatal: [h]: FAILED! => {"msg": "cannot log in with password=hunter2secret"}'
    expect(parseAnsibleFailures(`TASK [a] ***\n${line}`)[0]?.cause).not.toContain('hunter2secret')
  })

  it('finds nothing in other text', () => {
    expect(parseAnsibleFailures('error: no such playbook\n')).toEqual([])
  })
})

it('groupCauses puts equal causes together, whatever host they name', () => {
  const failure = (host: string, address: string) => ({
    host,
    task: 'Reach',
    reason: 'unreachable' as const,
    cause: `${host} (${address}) does not answer`,
  })
  const groups = groupCauses([
    failure('compute-0', '10.0.0.1'),
    { ...failure('compute-9', '10.0.0.9'), task: 'Other' },
    failure('compute-1', '10.0.0.2'),
  ])
  expect(groups.map((group) => group.map(({ host }) => host))).toEqual([['compute-0', 'compute-1'], ['compute-9']])
})
