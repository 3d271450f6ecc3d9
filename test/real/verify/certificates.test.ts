/** `stackloom certificates` against a real API server: the field selector, what it must not read, and dates of real writes. */
import { beforeAll, describe, expect, it, vi } from 'vitest'
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

/** A host that was deployed with an earlier content of the Secret, as openstack-operator records it. */
async function deployBefore(secret: string, place: string): Promise<void> {
  const api = 'dataplane.openstack.org/v1beta1'
  const metadata = (name: string) => ({ name, namespace: place })
  const objects: readonly KubeObject[] = [
    {
      apiVersion: api,
      kind: 'OpenStackDataPlaneService',
      metadata: metadata('tls'),
      spec: { dataSources: [{ secretRef: { name: secret } }, { secretRef: { name: 'nova-config' } }] },
    },
    {
      apiVersion: api,
      kind: 'OpenStackDataPlaneNodeSet',
      metadata: metadata('computes'),
      spec: {
        preProvisioned: true,
        services: ['tls'],
        nodeTemplate: { ansibleSSHPrivateKeySecret: 'ssh' },
        nodes: { 'compute-0': { hostName: 'compute-0' } },
      },
      status: { configHash: 'a', deployedConfigHash: 'a' },
    },
    {
      apiVersion: api,
      kind: 'OpenStackDataPlaneDeployment',
      metadata: metadata('first'),
      spec: { nodeSets: ['computes'] },
      status: { deployed: true, nodeSetHashes: { computes: 'a' }, secretHashes: { [secret]: 'of an earlier one' } },
    },
  ]
  for (const object of objects) {
    const created = await cluster.client.create(object)
    if (object['status'])
      await cluster.client.update({ ...created, status: object['status'] }, { subresource: 'status' })
  }
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
    await deployBefore('keystone', 'rhoso1')
    const route = await authority.issue({ commonName: 'cloud.example', uses: ['server'], days: AGE_DAYS + 10 })
    await cluster.client.apply(
      {
        apiVersion: 'route.openshift.io/v1',
        kind: 'Route',
        metadata: { name: 'dashboard', namespace: 'rhoso1' },
        spec: {
          host: 'cloud.example',
          to: { kind: 'Service', name: 'dashboard', weight: 100 },
          tls: { termination: 'edge', certificate: route.certificate, key: route.privateKey },
        },
      },
      manager,
    )
    await secret('rhoso1', 'horizon', 2)
    await secret('elsewhere', 'of-another-program', 1)
    for (const name of ['osp-secret', 'nova-config']) await setPassword(name, 'hunter2')
  }, 120_000)

  const setPassword = (name: string, password: string) =>
    cluster.client.apply(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'rhoso1' },
        data: { AdminPassword: encode(password) },
      },
      manager,
    )

  it('shows what ends soon in clouds, and fails for what is critical', async () => {
    const { code, out } = await certificates()
    expect(code).toBe(1)
    expect(out).toMatch(/rhoso1 +horizon +horizon +rootca-internal .* critical/)
    expect(out).toMatch(/rhoso1 +route dashboard +cloud.example +rootca-internal .* soon/)
    expect(out).toMatch(/rhoso1 +keystone +keystone .* valid +compute-0$/m)
    expect(out).toMatch(/^3 certificates, 0 without a problem; of the valid ones keystone ends first/m)
    expect(out).not.toContain('of-another-program')
  })

  it('shows all with the age of credentials, and never a private value', async () => {
    const wide = await certificates('-o', 'wide')
    expect(wide.out).toMatch(/rhoso1 +osp-secret +OpenStackControlPlane controlplane +20\d\d-\d\d-\d\d +0 +- +- +-/)
    const { out } = await certificates('-o', 'json')
    const { certificates: found, credentials } = JSON.parse(out) as Record<
      string,
      readonly { name?: string; secret?: string }[]
    >
    expect(found?.map(({ name }) => name)).toEqual(['horizon', 'dashboard', 'keystone'])
    expect(credentials?.map(({ secret }) => secret).toSorted()).toEqual(['nova-config', 'osp-secret', 'ssh'])
    for (const text of [wide.out, out]) {
      expect(text).not.toContain(privateKey)
      expect(text).not.toContain(encode('hunter2'))
    }
  })

  it('names the pods that started before a Secret was changed, not before it was labelled', async () => {
    const started = new Date(Date.now() + 1_000)
    const pod = await cluster.client.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'nova-api-0', namespace: 'rhoso1' },
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: 'api', image: 'none', envFrom: [{ secretRef: { name: 'nova-config' } }] }],
      },
    })
    const state = { running: { startedAt: `${started.toISOString().slice(0, 19)}Z` } }
    const status = { name: 'api', state, ready: true, restartCount: 0, image: 'none', imageID: 'none' }
    await cluster.client.update(
      { ...pod, status: { phase: 'Running', containerStatuses: [status] } },
      { subresource: 'status' },
    )
    const labels = { metadata: { labels: { 'example.com/team': 'cloud' } } }
    const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'rhoso1', name: 'nova-config' }
    // A second and more after the start: times of writes have seconds.
    await vi.waitUntil(() => Date.now() > started.getTime() + 1_100, { timeout: 10_000 })
    await cluster.client.patch(ref, labels, { type: 'merge', fieldManager: 'another' })
    expect((await certificates()).out).not.toContain('nova-api-0')
    await setPassword('nova-config', 'hunter3')
    expect((await certificates()).out).toMatch(/rhoso1 +nova-config +OpenStackDataPlaneService tls .* pod nova-api-0$/m)
  })

  it('says which cloud it does not know', async () => {
    const { code, err } = await certificates('--cloud', 'rhoso9')
    expect(code).toBe(2)
    expect(err).toContain('rhoso9')
  })
})
