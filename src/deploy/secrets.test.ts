import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { neverAborted } from '../../test/never-aborted.ts'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import { systemClock } from '../clock/clock.ts'
import { neededSecrets } from '../render/needed-secrets.ts'
import type { StageEvent } from '../run/events.ts'
import type { StageContext } from '../run/stage.ts'
import { ensureSecrets, makeValue, missingSecrets } from './secrets.ts'
import { sshKeyPair } from './ssh-key.ts'

const plan = testPlan({
  clouds: [
    { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] },
    { name: 'rhoso2', namespace: 'openstack2' },
  ],
})
const [rhoso1, rhoso2] = plan.clouds.map((cloud) => neededSecrets(plan, cloud))
if (!rhoso1 || !rhoso2) throw new Error('the plan has two clouds')

function stage() {
  const events: StageEvent[] = []
  const context: StageContext = {
    emit: (event) => events.push(event),
    clock: systemClock,
    stop: neverAborted(),
  }
  return { events, context }
}

const valuesOf = (secrets: readonly KubeObject[]): readonly string[] =>
  secrets.flatMap((secret) => Object.values(secret['data'] as Record<string, string>))

describe("a cloud's Secrets", () => {
  it('are made once and never again', async () => {
    const cluster = memoryCluster()
    await ensureSecrets(cluster.client, rhoso1, 'lab', stage().context)
    const before = JSON.stringify(cluster.objects('Secret'))
    await ensureSecrets(cluster.client, rhoso1, 'lab', stage().context)
    expect(JSON.stringify(cluster.objects('Secret'))).toBe(before)
    expect(await missingSecrets(cluster.client, rhoso1)).toEqual([])
  })

  it('share no value within a cloud or between clouds', async () => {
    const cluster = memoryCluster()
    await ensureSecrets(cluster.client, rhoso1, 'lab', stage().context)
    await ensureSecrets(cluster.client, rhoso2, 'lab', stage().context)
    const values = valuesOf(cluster.objects('Secret'))
    expect(values.length).toBeGreaterThan(15)
    // A public key stands twice in its own Secret, and nothing else does.
    expect(values.length - new Set(values).size).toBe(1)
  })

  it('get the keys that they lack and keep those that they have', async () => {
    const { client, objects } = memoryCluster()
    const data = { AdminPassword: Buffer.from('mine').toString('base64') }
    await client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'osp-secret', namespace: 'openstack' },
      data,
    })
    expect(await missingSecrets(client, rhoso1)).toContain('osp-secret/NovaPassword')
    await ensureSecrets(client, rhoso1, 'lab', stage().context)
    const secret = objects('Secret').find(({ metadata }) => metadata.name === 'osp-secret')
    expect(secret?.['data']).toMatchObject(data)
    expect(await missingSecrets(client, rhoso1)).toEqual([])
  })

  it('ask for what nobody can make up', async () => {
    const { client } = memoryCluster()
    const keys = [{ key: 'ceph.conf', rule: 'given', service: 'ceph' }] as const
    const ceph = { cloud: 'rhoso1', namespace: 'openstack', name: 'ceph-conf', keys }
    await expect(ensureSecrets(client, [ceph], 'lab', stage().context)).rejects.toThrow('SL4015')
  })

  it('never appear in what is said', async () => {
    const { client, objects } = memoryCluster()
    const { events, context } = stage()
    await ensureSecrets(client, rhoso1, 'lab', context)
    const said = JSON.stringify(events)
    for (const value of valuesOf(objects('Secret'))) {
      expect(said).not.toContain(value)
      expect(said).not.toContain(Buffer.from(value, 'base64').toString())
    }
  })

  it('follow the rule of each key', () => {
    const pair = () => sshKeyPair('x')
    expect(makeValue('password', pair)).toMatch(/^[A-Za-z0-9]{32}$/)
    expect(makeValue('password-32', pair)).toHaveLength(32)
    expect(Buffer.from(makeValue('key-32', pair), 'base64')).toHaveLength(32)
  })
})

describe('an SSH key pair', () => {
  it('is one that OpenSSH reads, with the public half of its private half', (ctx) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-ssh-'))
    try {
      const { privateKey, publicKey } = sshKeyPair('rhoso1')
      const file = path.join(folder, 'key')
      writeFileSync(file, privateKey, { mode: 0o600 })
      let read: string
      try {
        read = execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' })
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return ctx.skip('ssh-keygen is not installed')
        throw thrown
      }
      expect(publicKey.startsWith(read.trim())).toBe(true)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
