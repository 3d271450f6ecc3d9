/** Stores the largest objects of one tenant, on a real API server, while the operator serves another namespace. */
import { describe, expect, it } from 'vitest'
import { type IpSet, ipSets, isIpSetReady } from '../../../src/api/ipset.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { Failure } from '../../../src/errors/failure.ts'
import { useCluster } from '../../cluster.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { TENANT } from '../../large-values.ts'
import { largestObjects, neighbours } from '../../largest-objects.ts'
import { launchOperator } from '../ipam/operator.ts'

const cluster = useCluster({ crds: 'own-2023' })

/** With their kinds: what the CRDs refuse, so that no controller sees it. */
const REFUSED_BY_CRD = [
  'DNSData: one host with many names',
  'NovaExternalCompute: a configuration of one long line',
  'NovaExternalCompute: many files',
  'OpenStackAnsibleEE: many containers',
  'OpenStackAnsibleEE: many mounts',
  'OpenStackDataPlaneRole: many networks',
  'OpenStackDataPlaneRole: many services',
  'OpenStackDataPlaneRole: many variables of the environment',
  'Reservation: many addresses',
]

async function create(object: KubeObject): Promise<string | undefined> {
  try {
    await cluster.client.create(object)
    return undefined
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.message
    throw thrown
  }
}

describe('the largest objects of a tenant', () => {
  it('are refused or reconciled, and another namespace gets its addresses after each of them', async () => {
    const operator = await launchOperator(cluster, { noWebhooks: true })
    for (const name of [TENANT, 'ns']) await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    expect(await create(netConfig(threeNetworks))).toBeUndefined()
    for (const neighbour of neighbours({ apiVersion: '', kind: '', metadata: { name: '' } })) await create(neighbour)
    const refused: string[] = []
    for (const [index, { shape, object }] of largestObjects.entries()) {
      const metadata = { ...object.metadata, name: `largest-${index}` }
      const refusal = await create({ ...object, metadata })
      if (refusal !== undefined) refused.push(`${object.kind}: ${shape}`)
      const small = { ...ipSets, namespace: 'ns', name: `small-${index}` }
      expect(await create(ipSet(small.name, [{}]))).toBeUndefined()
      const isServed = async (): Promise<boolean> => isIpSetReady((await cluster.client.get(small)) as IpSet)
      await expect.poll(isServed, { timeout: 120_000, interval: 50 }).toBe(true)
      // There are more shapes than addresses in a subnet.
      await cluster.client.delete(small)
    }
    expect(refused).toEqual(expect.arrayContaining(REFUSED_BY_CRD))
    expect(operator.ended()).toBeUndefined()
    await operator.stop()
  }, 900_000)
})
