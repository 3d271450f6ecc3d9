/**
 * Runs the operator on an API server with Stackloom's own CRDs of the network kinds: certificates of the user, warnings
 * of other allocators, and the number of writes as the API server counts them.
 */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect as tlsConnect } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addressBlocks } from '../../../src/api/address-block.ts'
import { type IpSet, ipSets } from '../../../src/api/ipset.ts'
import { type NetConfigSpec, netConfigs } from '../../../src/api/netconfig.ts'
import { connect } from '../../../src/kube/connect.ts'
import { type Authority, createAuthority } from '../../../src/pki/authority.ts'
import { parseCertificate } from '../../../src/pki/certificate.ts'
import { useCluster } from '../../cluster.ts'
import { design2023, ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { type RunningOperator, startOperator } from './operator.ts'
import { writesOf } from './write-counts.ts'

const cluster = useCluster({ crds: 'own' })
const soon = { timeout: 60_000, interval: 50 }
let folder: string
let operator: RunningOperator
let cases = 0
let namespace = ''

/** Writes like the kubelet: each file is complete whenever it is read. */
async function put(name: string, text: string): Promise<void> {
  await writeFile(path.join(folder, `.${name}`), text)
  await rename(path.join(folder, `.${name}`), path.join(folder, name))
}

async function issue(authority: Authority): Promise<string> {
  const leaf = await authority.issue({ commonName: 'webhooks', hosts: ['127.0.0.1'], uses: ['server'] })
  await put('ca.crt', authority.certificate)
  await put('tls.key', leaf.privateKey)
  await put('tls.crt', leaf.certificate)
  return parseCertificate(leaf.certificate).fingerprint
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-certificates-'))
  await issue(await createAuthority({ commonName: 'first' }))
  operator = await startOperator(cluster, { certDir: folder, certificateCheckMs: 50 })
}, 600_000)
afterAll(async () => {
  await operator?.stop()
  // Without a cluster nothing was created.
  if (folder) await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  cases += 1
  namespace = `case-${cases}`
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
})

async function configure(spec: NetConfigSpec = threeNetworks): Promise<void> {
  const made = netConfig(spec, { 'stackloom.dev/segment': namespace })
  await cluster.client.create({ ...made, metadata: { ...made.metadata, namespace } })
}
const readyOnes = async (): Promise<number> =>
  ((await cluster.client.list(ipSets, { namespace })).items as readonly IpSet[]).filter((item) =>
    item.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
  ).length

describe('the operator with its own CRDs', () => {
  it('serves IPSets and leaves no block behind', async () => {
    await configure()
    await cluster.client.create(ipSet('a', [{ name: 'Net-1', defaultRoute: true }], namespace))
    await expect.poll(readyOnes, soon).toBe(1)
    const made = (await cluster.client.get({ ...ipSets, namespace, name: 'a' })) as IpSet
    expect(made.status?.reservations).toMatchObject([
      { network: 'net-1', address: '172.17.0.100', serviceNetwork: 'net-1', mtu: 1400 },
    ])
    // The operator does not cache managed fields, and its writes must not remove them.
    const writers = (made.metadata.managedFields ?? []).filter(({ subresource }) => !subresource)
    expect(writers.map(({ fieldsV1 }) => Object.keys(fieldsV1 ?? {}))).toContainEqual(
      expect.arrayContaining(['f:spec']),
    )
    const blocks = async (): Promise<number> => (await cluster.client.list(addressBlocks)).items.length
    expect(await blocks()).toBe(1)
    await cluster.client.delete({ ...ipSets, namespace, name: 'a' })
    await expect.poll(blocks, soon).toBe(0)
  })

  it('accepts the NetConfig and IPSet of the 2023 design unchanged', async () => {
    await configure(design2023.netConfig.spec)
    const { ipSet: requested } = design2023
    await cluster.client.create({ ...requested, metadata: { name: requested.metadata.name, namespace } })
    await expect.poll(readyOnes, soon).toBe(1)
    const made = (await cluster.client.get({ ...ipSets, namespace, name: requested.metadata.name })) as IpSet
    const given = (all: readonly { network: string; address: string }[] = []): readonly string[] =>
      all.map(({ network, address }) => `${network} ${address}`).sort()
    expect(given(made.status?.reservations)).toEqual(given(design2023.reservations))
    expect(made.status?.reservations?.[0]?.network).toBe('CtlPlane')
  })

  it('needs at most three writes per IPSet including the ledger', async () => {
    await configure()
    const before = await writesOf(cluster)
    const names = Array.from({ length: 60 }, (_, n) => `host-${n}`)
    const networks = threeNetworks.networks.map(({ name }) => ({ name }))
    await Promise.all(names.map((name) => cluster.client.create(ipSet(name, networks, namespace))))
    await expect.poll(readyOnes, soon).toBe(names.length)
    const after = await writesOf(cluster)
    // The creates of the IPSets are not counted.
    const ours = after.network + after.ledger - before.network - before.ledger - names.length
    expect(ours / names.length).toBeLessThanOrEqual(3)
    expect(ours).toBeGreaterThanOrEqual(2 * names.length)
    expect(operator.said()).not.toContain('"level":"error"')
  })

  it('writes nothing when a NetConfig change has no effect', async () => {
    await configure()
    await cluster.client.create(ipSet('a', [{}], namespace))
    await expect.poll(readyOnes, soon).toBe(1)
    const before = await writesOf(cluster)
    const ref = { ...netConfigs, namespace, name: 'netconfig' }
    await cluster.client.patch(ref, { metadata: { labels: { touched: 'yes' } } }, { type: 'merge' })
    // An IPSet that is created after the change is served after it.
    await cluster.client.create(ipSet('b', [{}], namespace))
    await expect.poll(readyOnes, soon).toBe(2)
    const after = await writesOf(cluster)
    // The patch, and for b: its create, a Reservation, a status and a block.
    expect(after.network - before.network).toBe(4)
    expect(after.ledger - before.ledger).toBe(1)
  })

  it('warns of ranges of MetalLB and whereabouts, and of addresses that a smaller range leaves outside', async () => {
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: `metallb-${namespace}` },
    })
    await cluster.client.create({
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      metadata: { name: 'internalapi', namespace: `metallb-${namespace}` },
      spec: { addresses: ['172.17.0.80-172.17.0.110'], serviceAllocation: { namespaces: [namespace] } },
    })
    await cluster.client.create({
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: { name: 'storage', namespace },
      spec: {
        config: JSON.stringify({
          type: 'macvlan',
          ipam: { type: 'whereabouts', range: '172.18.0.0/24', range_start: '172.18.0.150' },
        }),
      },
    })
    const heard: string[] = []
    const warned = await connect({
      kubeconfig: cluster.kubeconfig,
      env: process.env,
      onWarning: (text) => void heard.push(text),
    })
    const made = netConfig(threeNetworks, { 'stackloom.dev/segment': namespace })
    await warned.client.create({ ...made, metadata: { ...made.metadata, namespace } })
    expect(heard).toEqual([
      expect.stringContaining(`of IPAddressPool metallb-${namespace}/internalapi`),
      expect.stringContaining(`of NetworkAttachmentDefinition ${namespace}/storage`),
    ])
    await cluster.client.create(ipSet('a', [{ name: 'net-3' }], namespace))
    await expect.poll(readyOnes, soon).toBe(1)
    heard.length = 0
    const networks = threeNetworks.networks.map((network) => ({
      ...network,
      subnets: network.subnets.map((subnet) => ({
        ...subnet,
        allocationRanges: [{ start: subnet.cidr.replace('0/24', '150'), end: subnet.cidr.replace('0/24', '160') }],
      })),
    }))
    const ref = { ...netConfigs, namespace, name: 'netconfig' }
    await warned.client.patch(ref, { spec: { networks } }, { type: 'merge' })
    expect(heard[0]).toContain('172.19.0.100 (a)')
    await warned.close()
  })

  it('reloads a certificate of the user and registers a new certificate authority', async () => {
    const served = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = tlsConnect({
          port: operator.webhookPort,
          host: '127.0.0.1',
          rejectUnauthorized: false,
        })
        socket.once('error', reject)
        socket.once('secureConnect', () => {
          resolve(socket.getPeerCertificate().fingerprint256)
          socket.destroy()
        })
      })
    const next = await issue(await createAuthority({ commonName: 'second' }))
    await expect.poll(served, soon).toBe(next)
    await operator.says('a new certificate authority is registered')
    // Only an API server that trusts the new authority gets an answer.
    await expect(cluster.client.create(ipSet('a', [{}], namespace))).rejects.toThrow('no NetConfig found')
  })
})
