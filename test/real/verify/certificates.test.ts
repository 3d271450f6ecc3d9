/** `stackloom certificates` against a real API server: the field selector, and what it must not read. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { main } from '../../../src/cli/main.ts'
import { createAuthority } from '../../../src/pki/authority.ts'
import { useCluster } from '../../cluster.ts'
import { testIo } from '../../io.ts'

const cluster = useCluster({ crds: 'today' })
/** Of every certificate: a new one that lives for two days would be valid. */
const AGE_DAYS = 88
const manager = { fieldManager: 'test' }

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const encode = (text: string): string => Buffer.from(text).toString('base64')

async function certificates(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = testIo()
  const code = await main(['certificates', '--kubeconfig', cluster.kubeconfig, ...words], io)
  return { code, out: io.out(), err: io.err() }
}

describe('certificates', () => {
  let privateKey: string

  beforeAll(async () => {
    const issued = Date.now() - AGE_DAYS * 86_400_000
    const authority = await createAuthority({ commonName: 'rootca-internal', days: 3650 }, { now: () => issued })
    for (const name of ['rhoso1', 'elsewhere']) await cluster.client.apply(namespace(name), manager)
    await cluster.client.apply(
      {
        apiVersion: 'core.openstack.org/v1beta1',
        kind: 'OpenStackControlPlane',
        metadata: { name: 'controlplane', namespace: 'rhoso1' },
        spec: { secret: 'osp-secret', storageClass: 'local' },
      },
      manager,
    )
    const secret = async (place: string, name: string, days: number): Promise<string> => {
      const leaf = await authority.issue({ commonName: name, uses: ['server'], days: AGE_DAYS + days })
      const data = { 'tls.crt': encode(leaf.certificate), 'tls.key': encode(leaf.privateKey) }
      const metadata = { name, namespace: place }
      await cluster.client.apply(
        { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data },
        manager,
      )
      return data['tls.key']
    }
    privateKey = await secret('rhoso1', 'keystone', 300)
    await secret('rhoso1', 'horizon', 2)
    await secret('elsewhere', 'of-another-program', 1)
    const metadata = { name: 'osp-secret', namespace: 'rhoso1' }
    await cluster.client.apply(
      { apiVersion: 'v1', kind: 'Secret', metadata, data: { AdminPassword: encode('hunter2') } },
      manager,
    )
  }, 120_000)

  it('shows what ends soon in clouds, and fails for what is critical', async () => {
    const { code, out } = await certificates()
    expect(code).toBe(1)
    expect(out).toMatch(/rhoso1 +horizon +horizon +rootca-internal .* critical/)
    expect(out).toMatch(/^2 certificates, 1 without a problem; of the valid ones keystone ends first/m)
    expect(out).not.toContain('of-another-program')
  })

  it('shows all with the age of credentials, and never a private value', async () => {
    const wide = await certificates('-o', 'wide')
    expect(wide.out).toMatch(/rhoso1 +osp-secret +OpenStackControlPlane controlplane +20\d\d-\d\d-\d\d +0 +-/)
    const { out } = await certificates('-o', 'json')
    const { certificates: found, credentials } = JSON.parse(out) as Record<string, readonly { name?: string }[]>
    expect(found?.map(({ name }) => name)).toEqual(['horizon', 'keystone'])
    expect(credentials).toHaveLength(1)
    for (const text of [wide.out, out]) {
      expect(text).not.toContain(privateKey)
      expect(text).not.toContain(encode('hunter2'))
    }
  })

  it('says which cloud it does not know', async () => {
    const { code, err } = await certificates('--cloud', 'rhoso9')
    expect(code).toBe(2)
    expect(err).toContain('rhoso9')
  })
})
