/** Launches supervisors that fail, from a process that has nothing else to wait for. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../test/folder.ts'
import { sandboxFolder } from './folder.ts'
import { launchSupervisor } from './launch.ts'

const folder = useFolder()

describe('launchSupervisor', () => {
  it('keeps its process until a supervisor has ended that reported its failure before', () => {
    const logs = path.join(folder, 'logs')
    mkdirSync(logs, { recursive: true })
    const outcome = JSON.stringify({ kind: 'failed', task: 'containerd', reason: 'no reason', log: '' })
    const self = ['sh', '-c', `echo '${outcome}'; sleep 1`]
    const script = `
      import { launchSupervisor } from './src/sandbox/launch.ts'
      const folder = ${JSON.stringify({ root: folder, logs })}
      const launched = await launchSupervisor({ folder, self: ${JSON.stringify(self)}, netns: false, ephemeral: false })
      await launched.ended()
      console.log(launched.outcome.task, launched.process.exitCode)`
    const words = ['--import', 'tsx', '--input-type=module', '--eval', script]
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'containerd 0\n', stderr: '' })
  })

  it('says what a supervisor printed that ended without an outcome, and nothing of an earlier one', async () => {
    const logs = path.join(folder, 'logs')
    mkdirSync(logs, { recursive: true })
    writeFileSync(path.join(logs, 'supervisor.log'), 'an earlier problem\n')
    const self = ['sh', '-c', "echo 'RTNETLINK answers: Operation not supported' >&2; exit 2"]
    const { outcome } = await launchSupervisor({
      folder: { ...sandboxFolder(folder), logs },
      self,
      netns: false,
      ephemeral: false,
    })
    const reason = 'exited with code 2: RTNETLINK answers: Operation not supported'
    expect(outcome).toMatchObject({ kind: 'failed', task: 'supervisor', reason })
  })
})
