import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { parseCertificate } from '../pki/certificate.ts'
import { ensureServingCertificate, type ServingCertificate } from './serving-certificate.ts'

const DAY_MS = 86_400_000
const hosts = ['stackloom-webhook.ns.svc']

describe('ensureServingCertificate', () => {
  const ensure = (cluster: ReturnType<typeof memoryCluster>, later = 0, names = hosts): Promise<ServingCertificate> =>
    ensureServingCertificate({
      client: cluster.client,
      namespace: 'ns',
      hosts: names,
      now: () => Date.now() + later,
      signal: new AbortController().signal,
    })

  it('issues one certificate when several replicas start at once', async () => {
    const cluster = memoryCluster()
    const all = await Promise.all([ensure(cluster), ensure(cluster), ensure(cluster)])
    expect(new Set(all.map(({ certificate }) => certificate)).size).toBe(1)
    expect(parseCertificate(all[0]?.certificate ?? '').hosts).toEqual(hosts)
  })

  it('renews the certificate under the same authority', async () => {
    const cluster = memoryCluster()
    const first = await ensure(cluster)
    expect((await ensure(cluster, 30 * DAY_MS)).certificate).toBe(first.certificate)
    const next = await ensure(cluster, 300 * DAY_MS)
    expect(next.certificate).not.toBe(first.certificate)
    expect(next.authority).toBe(first.authority)
  })

  it('trusts a new authority together with the previous one', async () => {
    const cluster = memoryCluster()
    const first = await ensure(cluster)
    const next = await ensure(cluster, 4_000 * DAY_MS)
    const [newest, before, ...rest] = next.authority.split(/(?<=-----END CERTIFICATE-----\n)/)
    expect(before).toBe(first.authority)
    expect(newest).not.toBe(first.authority)
    expect(rest).toEqual([])
    expect((await ensure(cluster, 4_000 * DAY_MS)).authority).toBe(next.authority)
  })

  it('issues another certificate for another host name', async () => {
    const cluster = memoryCluster()
    await ensure(cluster)
    const other = await ensure(cluster, 0, ['127.0.0.1'])
    expect(parseCertificate(other.certificate).hosts).toEqual(['127.0.0.1'])
  })
})
