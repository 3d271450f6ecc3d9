import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { selfCommand } from '../../../src/sandbox/self.ts'
import { ingressOf } from '../../../src/verify/readiness/services.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { type Cast, furnish, onStage } from './cast.ts'

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
const kills = count({ test: 4, soak: 50 })

describe('a run that is killed', { timeout: 300_000 + kills * 60_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let cast: Cast | undefined
  let folder = ''

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stackloom-killed-'))
    await writeFile(path.join(folder, 'site.yaml'), site)
    await furnish(cluster.client, ['worker-0', 'worker-1'])
    cast = onStage(cluster.connection)
  })
  afterAll(async () => {
    await cast?.leave()
    await rm(folder, { recursive: true, force: true })
  })

  /** The program as a process of its own; killed after so many events, if it gets that far. */
  const up = (killAfter?: number): Promise<{ readonly code: number | null; readonly events: number }> => {
    const [file = '', ...words] = selfCommand(path.resolve(import.meta.dirname, '../../../src/sandbox'))
    const args = [
      ...words,
      'up',
      '--yes',
      '--events',
      'jsonl',
      '-o',
      'json',
      '--kubeconfig',
      cluster.kubeconfig,
    ]
    const child = spawn(file, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    let events = 0
    let rest = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      events += lines.filter((line) => line.startsWith('{')).length
      if (killAfter !== undefined && events >= killAfter) child.kill('SIGKILL')
    })
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, events })))
  }

  it('goes on where it stood, whenever that was, and ends with the same state', async () => {
    const moments = Array.from(
      { length: kills },
      (_, at) => Math.floor(Math.random() * 30) + at * Math.ceil(160 / kills),
    )
    for (const moment of moments) await up(moment)
    const last = await up()
    expect(last.code, `killed after ${moments.join(', ')} events`).toBe(0)
    const { items } = await cluster.client.list({ apiVersion: 'v1', kind: 'Service' })
    for (const [namespace, addresses] of [
      ['openstack', 4],
      ['openstack2', 4],
    ] as const) {
      const own = items.filter(({ metadata }) => metadata.namespace === namespace).flatMap(ingressOf)
      expect(new Set(own).size).toBe(addresses)
    }
    const again = await up()
    expect(again.code).toBe(0)
    const secrets = await cluster.client.list(
      { apiVersion: 'v1', kind: 'Secret' },
      { namespace: 'openstack' },
    )
    const ours = secrets.items.filter(
      ({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'stackloom',
    )
    expect(ours.map(({ metadata }) => metadata.name)).toEqual(['osp-secret'])
  })
})
