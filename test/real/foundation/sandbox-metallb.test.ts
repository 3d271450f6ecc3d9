import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { runProcess, toProgram } from '../../../src/exec/process.ts'
import { createAuthority } from '../../../src/pki/authority.ts'
import { useCluster } from '../../cluster.ts'

const cluster = useCluster({ crds: 'none', metallb: true, controllerManager: true })
const apply = (object: KubeObject) => cluster.client.apply(object, { fieldManager: 'test' })
const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const pool = (name: string, addresses: string, owner: string): KubeObject => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: { namespace: 'metallb-system', name },
  spec: { addresses: [addresses], autoAssign: false, serviceAllocation: { namespaces: [owner] } },
})
const service = (owner: string, name: string, from: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: owner, name, annotations: { 'metallb.io/address-pool': from } },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
})
const addressOf = async (owner: string, name: string): Promise<unknown> => {
  const found = await cluster.client.get({ apiVersion: 'v1', kind: 'Service', namespace: owner, name })
  return (found?.['status'] as { loadBalancer?: { ingress?: { ip: string }[] } })?.loadBalancer?.ingress?.[0]?.ip
}

describe('the sandbox of a test', () => {
  it('has a real MetalLB: addresses for the namespace of a pool, a reason for another namespace', async () => {
    await apply(namespace('openstack'))
    await apply(namespace('openstack2'))
    await apply(pool('openstack-internalapi', '172.17.0.80-172.17.0.90', 'openstack'))
    await apply(service('openstack', 'keystone', 'openstack-internalapi'))
    await apply(service('openstack2', 'thief', 'openstack-internalapi'))
    await expect.poll(() => addressOf('openstack', 'keystone'), { timeout: 15_000 }).toBe('172.17.0.80')
    await expect
      .poll(
        async () => {
          const { items } = await cluster.client.list({ apiVersion: 'v1', kind: 'Event' }, { namespace: 'openstack2' })
          return items.map((event) => event['message'])
        },
        { timeout: 15_000 },
      )
      .toContainEqual(expect.stringContaining('pool openstack-internalapi not compatible for ip assignment'))
    expect(await addressOf('openstack2', 'thief')).toBeUndefined()
  })

  it("has MetalLB's admission: overlapping pools are rejected with its message", async () => {
    await expect(apply(pool('b', '172.17.0.85-172.17.0.86', 'openstack2'))).rejects.toThrow(/overlaps/)
  })

  it('deletes a namespace with its objects: the controller manager is real', async () => {
    const { client } = cluster
    await client.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'openstack2' })
    await expect
      .poll(() => client.get({ apiVersion: 'v1', kind: 'Namespace', name: 'openstack2' }), {
        timeout: 25_000,
      })
      .toBeUndefined()
  })

  it('reaches a webhook that this process serves on loopback', async () => {
    const authority = await createAuthority({ commonName: 'webhook' })
    const leaf = await authority.issue({ commonName: 'webhook', hosts: ['127.0.0.1'], uses: ['server'] })
    const server = createServer({ cert: leaf.certificate, key: leaf.privateKey }, (request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        const { uid } = (JSON.parse(body) as { request: { uid: string } }).request
        const answer = { uid, allowed: false, status: { message: 'not on my watch' } }
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await cluster.expose(port)
    await apply({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'ours' },
      webhooks: [
        {
          name: 'ours.example.org',
          clientConfig: {
            url: `https://127.0.0.1:${port}/`,
            caBundle: Buffer.from(authority.certificate).toString('base64'),
          },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          objectSelector: { matchLabels: { watched: 'yes' } },
          failurePolicy: 'Fail',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    })
    const watched = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'openstack', name: 'x', labels: { watched: 'yes' } },
    }
    await expect
      .poll(() => apply(watched).then(() => 'accepted', String), { timeout: 15_000 })
      .toContain('not on my watch')
    server.closeAllConnections()
    server.close()
  })

  it('keeps its data when the API server and etcd are killed and restarted', async () => {
    await cluster.kill('kube-apiserver')
    await cluster.restart('etcd')
    await cluster.start('kube-apiserver')
    expect(await addressOf('openstack', 'keystone')).toBe('172.17.0.80')
  })

  it('listens on nothing outside its own network', async () => {
    const listening = async (words: readonly string[]): Promise<readonly string[]> => {
      const { stdout } = await runProcess(toProgram([...words, 'cat', '/proc/net/tcp', '/proc/net/tcp6']))
      return stdout.match(/[0-9A-F]+:[0-9A-F]{4} [0-9A-F]+:0000 0A/g) ?? []
    }
    const hexPort = (9443).toString(16).toUpperCase()
    const has = (lines: readonly string[]) => lines.some((line) => line.includes(`:${hexPort} `))
    expect(has(await listening(cluster.inside))).toBe(true)
    const supervisor = readFileSync(`/proc/${cluster.pid}/net/tcp6`, 'utf8')
    expect(supervisor).toContain(`:${hexPort} `)
    expect(cluster.server).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  })
})
