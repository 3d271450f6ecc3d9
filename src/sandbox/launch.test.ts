/** Launches supervisors that fail, from a process that has nothing else to wait for. */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../test/folder.ts'

const folder = useFolder()

describe('launchSupervisor', () => {
  it('keeps its process until a supervisor has ended that reported its failure before', () => {
    const logs = path.join(folder, 'logs')
    mkdirSync(logs)
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
})
