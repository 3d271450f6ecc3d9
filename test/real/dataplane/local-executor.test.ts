/** Tests the local executor with real Ansible over real SSH. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Attempt } from '../../../src/dataplane/execution/executor.ts'
import { localExecutor } from '../../../src/dataplane/execution/local/local-executor.ts'
import { processesWith } from '../../processes.ts'
import { type ContractRig, executorContract } from './executor-contract.ts'
import { useNodes } from './nodes.ts'
import { ansibleRun, inventory, play } from './runs.ts'

const nodes = useNodes(['edpm-compute-0'])
const never = new AbortController().signal
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-runs-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const does = {
  succeed: [],
  fail: [{ name: 'Refuse', 'ansible.builtin.fail': { msg: 'not today' } }],
  hang: [{ name: 'Hang', 'ansible.builtin.raw': 'sleep 600' }],
}

function rigFor(program: 'ansible-runner' | 'ansible-playbook'): ContractRig {
  const trace = ({ run }: Attempt): string =>
    path.join(nodes.node('edpm-compute-0').root, 'srv', `starts-${run.metadata.uid}`)
  return {
    executor: ({ timeLimitMs } = { timeLimitMs: 300_000 }) =>
      localExecutor({ folder, timeLimitMs, guard: () => {}, onEnded: () => {}, enter: nodes.enter, program }),
    prepare: async (what) => {
      const uid = randomUUID()
      const leaveTrace = { name: 'Begin', 'ansible.builtin.raw': `echo starts >> /srv/starts-${uid}` }
      const run = ansibleRun(
        'openstack',
        what,
        {
          play: play([leaveTrace, ...does[what]]),
          inventory: inventory(nodes, ['edpm-compute-0']),
          extraMounts: [
            {
              volumes: [{ name: 'key', secret: { secretName: 'key' } }],
              mounts: [{ name: 'key', mountPath: '/runner/env/ssh_key', subPath: 'ssh-privatekey' }],
            },
          ],
        },
        { uid },
      )
      const key = new Map([['ssh-privatekey', Buffer.from(nodes.privateKey.trimEnd())]])
      return {
        attempt: { run, number: 1 },
        inputs: { found: new Map([['Secret key', key]]), missing: [] },
      }
    },
    starts: async (attempt) => {
      const text = await readFile(trace(attempt), 'utf8').catch(() => '')
      return text.split('\n').length - 1
    },
  }
}

describe('the local executor with ansible-runner', () => executorContract(rigFor('ansible-runner')))

describe('the local executor with ansible-playbook only', () => {
  const rig = rigFor('ansible-playbook')

  it('starts no process and keeps no secret when the leadership was lost while the files were written', async () => {
    const { attempt, inputs } = await rig.prepare('succeed')
    const home = path.join(folder, `${attempt.run.metadata.uid}-1`)
    const guard = (): void => {
      expect(existsSync(path.join(home, 'root/runner/ssh_key'))).toBe(true)
      throw new Error('lost')
    }
    const options = { folder, timeLimitMs: 300_000, onEnded: () => {}, enter: nodes.enter }
    const paused = localExecutor({ ...options, guard, program: 'ansible-playbook' })
    await expect(paused.start(attempt, inputs, never)).rejects.toThrow('lost')
    expect(existsSync(path.join(home, 'root'))).toBe(false)
    expect(await rig.executor().inspect(attempt, never)).toEqual({ kind: 'absent' })
    expect(await rig.starts(attempt)).toBe(0)
  })

  it('reports the host that failed, and leaves no secret and no process', async () => {
    const { attempt, inputs } = await rig.prepare('fail')
    const executor = rig.executor()
    await executor.start(attempt, inputs, never)
    const home = path.join(folder, `${attempt.run.metadata.uid}-1`)
    const modes = await Promise.all(
      ['.', 'root/runner/env', 'root/runner/ssh_key'].map(async (name) =>
        ((await stat(path.join(home, name))).mode & 0o777).toString(8),
      ),
    )
    expect(modes).toEqual(['700', '700', '600'])
    const look = async (): Promise<unknown> => executor.inspect(attempt, never)
    await expect.poll(look, { timeout: 120_000 }).toMatchObject({
      kind: 'ended',
      end: { reason: 'Failed', hosts: { 'edpm-compute-0': { failures: 1, ok: 1 } } },
    })
    await executor.cleanUp(attempt, never)
    expect((await readdir(home)).toSorted()).toEqual(['end.json', 'events.jsonl', 'output.log'])
    const key = nodes.privateKey.split('\n')[2] ?? ''
    for (const file of await readdir(home)) {
      expect(await readFile(path.join(home, file), 'utf8')).not.toContain(key)
    }
    expect(await processesWith(attempt.run.metadata.uid ?? '')).toEqual([])
  }, 180_000)
})
