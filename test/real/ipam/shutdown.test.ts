/** Ends an operator as the kubelet does, while the API server still sends it reviews. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { useCluster } from '../../cluster.ts'
import { useFolder } from '../../folder.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { freePorts } from './operator.ts'

vi.setConfig({ testTimeout: 120_000 })

const cluster = useCluster({ crds: 'own' })
const folder = useFolder()
const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})

async function startProcess(options: object): Promise<{ readonly child: ChildProcess; readonly said: () => string }> {
  const script = path.join(import.meta.dirname, 'operator-process.ts')
  const args = ['--import', 'tsx', script, cluster.kubeconfig, JSON.stringify(options)]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, TMPDIR: folder },
  })
  started.push(child)
  let text = ''
  child.stderr?.on('data', (piece: Buffer) => (text += piece.toString()))
  return { child, said: () => text }
}

describe('an operator that is asked to stop', () => {
  it('answers reviews while the delay lasts, and reports that it is not ready', async () => {
    const [webhookPort = 0, healthPort = 0] = await freePorts(2)
    await cluster.expose(webhookPort)
    const webhookUrl = `https://127.0.0.1:${webhookPort}`
    // Long, so that the test does not depend on the speed of the machine.
    const { child, said } = await startProcess({ webhookUrl, webhookPort, healthPort, shutdownDelay: 3_600_000 })
    const soon = { timeout: 60_000, interval: 50 }
    await vi.waitUntil(() => said().includes('webhooks are served'), soon)
    child.kill('SIGTERM')
    await vi.waitUntil(() => said().includes('stopping after a delay'), soon)
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } })
    await cluster.client.create(netConfig(threeNetworks))
    const wrong = cluster.client.create(ipSet('a', [{ fixedIP: '10.0.0.1' }]))
    await expect(wrong).rejects.toThrow('address not in IP address prefix')
    const ready = await fetch(`http://127.0.0.1:${healthPort}/readyz`)
    expect({ status: ready.status, text: await ready.text() }).toEqual({
      status: 503,
      text: expect.stringContaining('[-] shutdown'),
    })
    expect((await fetch(`http://127.0.0.1:${healthPort}/healthz`)).status).toBe(200)
    // What a killed operator leaves; the compiler of the test has a folder there, too.
    expect((await readdir(folder)).filter((name) => !name.startsWith('tsx-'))).toEqual([])
  })

  it('ends at once without a delay', async () => {
    const { child, said } = await startProcess({})
    await vi.waitUntil(() => said().includes('health is served'), { timeout: 60_000, interval: 50 })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})
