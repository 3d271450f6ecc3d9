/** Deploys clouds where cert-manager runs: their authorities are its own, and `certificates` and `doctor` read what it wrote. */
import { X509Certificate } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Condition, KubeObject } from '../../../src/api/object.ts'
import { main } from '../../../src/cli/main.ts'
import { useCluster } from '../../cluster.ts'
import { testIo } from '../../io.ts'
import { sandboxPlan } from '../../plan.ts'
import {
  deploy,
  failedStages,
  nodeNames,
  prepareCluster,
  type RunningActors,
  startActors,
  takeDown,
} from '../deploy/deployment-fixture.ts'

const cluster = useCluster({ crds: 'today', controllerManager: true, metallb: true, certManager: true })

const soon = { timeout: 240_000, interval: 250 }
const API = 'cert-manager.io/v1'
const namespaces = ['openstack', 'openstack2']
const plan = sandboxPlan({
  nodes: 2,
  clouds: namespaces.map((namespace, index) => ({ name: `rhoso${index + 1}`, namespace })),
})
let actors: RunningActors | undefined

beforeEach(async () => {
  if (actors) return
  await prepareCluster(cluster.client, nodeNames(plan))
  actors = startActors(cluster.connection, ['kubelet', 'nmstate', 'olm', 'openstack', 'operators'], 20, [
    'cert-manager',
  ])
}, 120_000)
afterAll(() => actors?.stop())

async function readyState(
  kind: 'Certificate' | 'Issuer',
  namespace: string,
): Promise<Readonly<Record<string, string>>> {
  const { items } = await cluster.client.list({ apiVersion: API, kind }, { namespace })
  const states = items.map((item): [string, string] => {
    const { conditions = [] } = (item['status'] ?? {}) as { readonly conditions?: readonly Condition[] }
    return [item.metadata.name, conditions.find(({ type }) => type === 'Ready')?.status ?? 'none']
  })
  return Object.fromEntries(states)
}

async function readCertificates(namespace: string, name: string): Promise<Readonly<Record<string, X509Certificate>>> {
  const secret = await cluster.client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name })
  const data = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>
  const parse = (key: string): X509Certificate => new X509Certificate(Buffer.from(data[key] ?? '', 'base64'))
  return { leaf: parse('tls.crt'), authority: parse('ca.crt') }
}

const certificate = (name: string, spec: object = {}): KubeObject => ({
  apiVersion: API,
  kind: 'Certificate',
  metadata: { name, namespace: 'openstack' },
  spec: {
    secretName: name,
    dnsNames: [`${name}.openstack.svc`],
    issuerRef: { name: 'rootca-public', kind: 'Issuer' },
    ...spec,
  },
})

describe('cert-manager in a sandbox', { timeout: 600_000 }, () => {
  it('issues the authority of each cloud that `up` deploys', async () => {
    expect(failedStages(await deploy(cluster.client, plan))).toEqual([])
    for (const namespace of namespaces) {
      await expect
        .poll(() => readyState('Issuer', namespace), soon)
        .toEqual({ 'rootca-public': 'True', 'selfsigned-issuer': 'True' })
      await expect.poll(() => readyState('Certificate', namespace), soon).toEqual({ 'rootca-public': 'True' })
      const { leaf, authority } = await readCertificates(namespace, 'rootca-public')
      expect(leaf?.ca).toBe(true)
      expect(leaf?.fingerprint256).toBe(authority?.fingerprint256)
    }
    const [first, second] = await Promise.all(namespaces.map((name) => readCertificates(name, 'rootca-public')))
    expect(first?.['leaf']?.fingerprint256).not.toBe(second?.['leaf']?.fingerprint256)
  })

  it('issues a certificate whose chain ends at the authority of its cloud', async () => {
    await cluster.client.create(certificate('keystone-public'))
    await expect.poll(() => readyState('Certificate', 'openstack'), soon).toMatchObject({ 'keystone-public': 'True' })
    const { leaf, authority } = await readCertificates('openstack', 'keystone-public')
    const { leaf: root } = await readCertificates('openstack', 'rootca-public')
    if (!leaf || !authority || !root) throw new Error('a certificate is missing')
    expect(authority.fingerprint256).toBe(root.fingerprint256)
    expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true)
    expect(leaf.checkHost('keystone-public.openstack.svc')).toBe('keystone-public.openstack.svc')
    const { leaf: other } = await readCertificates('openstack2', 'rootca-public')
    expect(leaf.verify((other ?? root).publicKey)).toBe(false)
  })

  it('refuses a mistake by its webhook, which the CA injector gave its authority', async () => {
    const wrong = cluster.client.create(certificate('wrong', { duration: '1h0m0s', renewBefore: '2h0m0s' }))
    await expect(wrong).rejects.toThrow(/webhook.cert-manager.io.*renewBefore/s)
  })

  it('writes what `certificates` lists as valid', async () => {
    const io = testIo()
    const code = await main(['certificates', '-o', 'json', '--kubeconfig', cluster.kubeconfig], io)
    const { certificates } = JSON.parse(io.out()) as { readonly certificates: readonly object[] }
    expect({ code, certificates }).toMatchObject({ code: 0 })
    expect(JSON.stringify(certificates)).toContain('keystone-public')
  })

  it('leaves no object of a cloud that is taken down', async () => {
    expect(failedStages(await takeDown(cluster.client, ['rhoso1', 'rhoso2']))).toEqual([])
    for (const kind of ['Certificate', 'Issuer'])
      expect((await cluster.client.list({ apiVersion: API, kind })).items).toEqual([])
  })
})
