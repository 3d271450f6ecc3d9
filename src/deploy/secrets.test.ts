import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
import { ensureSecrets, generateValue, missingSecrets } from './secrets.ts'
import { derivePublicKey, generateSshKeyPair } from './ssh-keys.ts'

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

describe('ensureSecrets', () => {
  it('generates values once and keeps them in a second run', async () => {
    const cluster = memoryCluster()
    await ensureSecrets({ client: cluster.client, site: 'lab' }, rhoso1, stage().context)
    const before = JSON.stringify(cluster.objects('Secret'))
    await ensureSecrets({ client: cluster.client, site: 'lab' }, rhoso1, stage().context)
    expect(JSON.stringify(cluster.objects('Secret'))).toBe(before)
    expect(await missingSecrets(cluster.client, rhoso1)).toEqual([])
  })

  it('uses no value twice, within a cloud or between clouds', async () => {
    const cluster = memoryCluster()
    await ensureSecrets({ client: cluster.client, site: 'lab' }, rhoso1, stage().context)
    await ensureSecrets({ client: cluster.client, site: 'lab' }, rhoso2, stage().context)
    const values = valuesOf(cluster.objects('Secret'))
    expect(values.length).toBeGreaterThan(15)
    // Only a public key is in its Secret twice.
    expect(values.length - new Set(values).size).toBe(1)
  })

  const keySecret = rhoso1.find((secret) => secret.keys.some(({ rule }) => rule === 'ssh-private-key'))
  const encode = (text: string): string => Buffer.from(text).toString('base64')
  const completed = async (data: Record<string, string>) => {
    const { client, objects } = memoryCluster()
    if (!keySecret) throw new Error('the plan has a Secret with a key pair')
    const { name, namespace } = keySecret
    await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data })
    await ensureSecrets({ client, site: 'lab' }, [keySecret], stage().context)
    return objects('Secret')[0]?.['data'] as Record<string, string>
  }

  it('derives the public half of a key that it finds', async () => {
    const { privateKey, publicKey } = generateSshKeyPair('rhoso1@stackloom')
    const data = await completed({ 'ssh-privatekey': encode(privateKey) })
    expect(data['ssh-publickey']).toBe(encode(publicKey))
  })

  it('refuses a public half without its private half, and a private half that it cannot read', async () => {
    const { publicKey } = generateSshKeyPair('x')
    await expect(completed({ 'ssh-publickey': encode(publicKey) })).rejects.toThrow('SL4028')
    await expect(completed({ 'ssh-privatekey': encode('damaged') })).rejects.toThrow('SL4028')
  })

  it.each([
    ['rsa', 'RFC4716'],
    ['rsa', 'PEM'],
    ['ecdsa', 'PKCS8'],
    ['ed25519', 'RFC4716'],
  ])('derives the same public key as ssh-keygen for %s in the format %s', (type, format) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-key-'))
    const file = path.join(folder, 'key')
    execFileSync('ssh-keygen', ['-q', '-t', type, '-m', format, '-N', '', '-C', 'x', '-f', file])
    expect(derivePublicKey(readFileSync(file, 'utf8'), 'x')).toBe(readFileSync(`${file}.pub`, 'utf8'))
    rmSync(folder, { recursive: true })
  })

  it('adds missing keys and keeps existing ones', async () => {
    const { client, objects } = memoryCluster()
    const data = { AdminPassword: Buffer.from('mine').toString('base64') }
    await client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'osp-secret', namespace: 'openstack' },
      data,
    })
    expect(await missingSecrets(client, rhoso1)).toContain('osp-secret/NovaPassword')
    await ensureSecrets({ client, site: 'lab' }, rhoso1, stage().context)
    const secret = objects('Secret').find(({ metadata }) => metadata.name === 'osp-secret')
    expect(secret?.['data']).toMatchObject(data)
    expect(await missingSecrets(client, rhoso1)).toEqual([])
  })

  it('reports a value that only the user can provide', async () => {
    const { client } = memoryCluster()
    const keys = [{ key: 'ceph.conf', rule: 'given', service: 'ceph' }] as const
    const ceph = { cloud: 'rhoso1', namespace: 'openstack', name: 'ceph-conf', keys }
    await expect(ensureSecrets({ client, site: 'lab' }, [ceph], stage().context)).rejects.toThrow('SL4015')
  })

  it('emits no value in an event', async () => {
    const { client, objects } = memoryCluster()
    const { events, context } = stage()
    await ensureSecrets({ client, site: 'lab' }, rhoso1, context)
    const emitted = JSON.stringify(events)
    for (const value of valuesOf(objects('Secret'))) {
      expect(emitted).not.toContain(value)
      expect(emitted).not.toContain(Buffer.from(value, 'base64').toString())
    }
  })

  it('follows the rule of each key', () => {
    const pair = () => generateSshKeyPair('x')
    expect(generateValue('password', pair)).toMatch(/^[A-Za-z0-9]{32}$/)
    expect(generateValue('password-32', pair)).toHaveLength(32)
    expect(Buffer.from(generateValue('key-32', pair), 'base64')).toHaveLength(32)
  })
})

describe('generateSshKeyPair', () => {
  it('generates a pair that OpenSSH reads and whose halves match', (ctx) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-ssh-'))
    try {
      const { privateKey, publicKey } = generateSshKeyPair('rhoso1')
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
