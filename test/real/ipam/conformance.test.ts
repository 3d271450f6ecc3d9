/**
 * Runs the functional cases of infra-operator's own suite for IPSet and NetConfig against a real API server with
 * upstream's CRDs and our webhooks and controllers.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { IpSet } from '../../../src/api/ipset.ts'
import { ownCrds } from '../../../src/operator/parts.ts'
import { useCluster } from '../../cluster.ts'
import { defineConformance } from './conformance-cases.ts'
import { type RunningOperator, startOperator } from './operator.ts'

const cluster = useCluster({ crds: 'today' })
const soon = { timeout: 30_000, interval: 50 }
let operator: RunningOperator

beforeAll(async () => {
  for (const crd of ownCrds) await cluster.client.apply(crd, { fieldManager: 'test' })
  const served = async (): Promise<void> => {
    const kind = { apiVersion: 'stackloom.dev/v1alpha1', kind: 'AddressBlock' }
    if (!(await cluster.client.resource(kind))) throw new Error('not served yet')
  }
  await vi.waitFor(served, soon)
  operator = await startOperator(cluster)
}, 600_000)
afterAll(() => operator?.stop())

const { namespace, configure, ask } = defineConformance(cluster, soon)

describe('a running operator', () => {
  it('serves health and metrics', async () => {
    const page = async (path: string): Promise<string> =>
      (await fetch(`http://127.0.0.1:${operator.healthPort}${path}`)).text()
    expect(await page('/healthz')).toBe('ok\n')
    expect(await page('/readyz')).toContain('[+] IPSet')
    await configure()
    await expect
      .poll(() => page('/metrics'), soon)
      .toContain(`stackloom_ipam_addresses_free{namespace="${namespace()}",network="net-1",subnet="subnet1"} 101`)
  })

  it('adds the finalizer at creation, without a write of its own', async () => {
    await configure()
    const made = (await ask('a')) as IpSet
    expect(made.metadata.finalizers).toEqual(['openstack.org/ipset'])
  })
})
