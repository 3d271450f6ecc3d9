import { spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { selfCommand } from '../../../src/sandbox/sandbox-context.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { useFolder } from '../../folder.ts'
import { prepareCluster, type RunningActors, startActors } from './deployment-fixture.ts'
import { comparableObjects, settledObjects, withoutManagers } from './settled-objects.ts'

const site = `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: killed}
spec:
  cluster:
    nodes: [{name: worker-0, nic: enp6s0}, {name: worker-1, nic: enp6s0}]
  clouds:
  - {name: rhoso1, namespace: openstack}
  - {name: rhoso2, namespace: openstack2}
`
const kills = count({ test: 1, soak: 50 })

describe('a run that was killed', { timeout: 600_000 + kills * 120_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined
  const folder = useFolder()

  beforeAll(async () => {
    await writeFile(path.join(folder, 'site.yaml'), site)
    await prepareCluster(cluster.client, ['worker-0', 'worker-1'])
    cast = startActors(cluster.connection)
  })
  afterAll(() => cast?.stop())

  /** Runs the program as a process and kills it after this number of events, if there are that many. */
  const stackloom = (
    words: readonly string[],
    killAfter?: number,
  ): Promise<{ readonly code: number | null; readonly said: string }> => {
    const [file = '', ...self] = selfCommand(path.resolve(import.meta.dirname, '../../../src/sandbox'))
    const args = [...self, ...words, '--yes', '--events', 'jsonl', '--kubeconfig', cluster.kubeconfig]
    const child = spawn(file, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    let events = 0
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      events += text.split('\n').length - 1
      if (killAfter !== undefined && events >= killAfter) child.kill('SIGKILL')
    })
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })))
  }
  const state = async () => comparableObjects(await settledObjects(cluster.connection))

  const emptied = async () => {
    const { code, said } = await stackloom(['down', '--all', '--delete-data'])
    expect(code, said).toBe(0)
    await rm(path.join(folder, 'site.lock.yaml'))
  }

  it('resumes at any point and ends with the state of an uninterrupted run', async () => {
    const empty = await state()
    const whole = await stackloom(['up'])
    expect(whole.code, whole.said).toBe(0)
    const undisturbed = await state()
    for (let open = kills; open > 0; ) {
      await emptied()
      expect(withoutManagers(await state())).toEqual(withoutManagers(empty))
      const moments: number[] = []
      for (let ended = false; !ended; ) {
        const moment = 2 + Math.floor(Math.random() * 45)
        const { code, said } = await stackloom(['up'], open > moments.length ? moment : undefined)
        ended = code === 0
        // No exit code means our signal; a run that ends by itself must succeed.
        if (code === null) moments.push(moment)
        else expect(code, `killed after ${moments.join(', ')} events\n${said}`).toBe(0)
      }
      expect(await state(), `killed after ${moments.join(', ')} events`).toEqual(undisturbed)
      // A round in which every run ended before its kill counts too: the next one has other moments.
      open -= Math.max(1, moments.length)
    }
  })
})
