/** Stores objects of a tenant that lack everything that their CRDs do not require, while the operator serves another namespace. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dnsDataKind } from '../../../src/api/dnsdata.ts'
import { dnsMasqKind } from '../../../src/api/dnsmasq.ts'
import { type IpSet, ipSetKind, ipSets, isIpSetReady, reservationKind } from '../../../src/api/ipset.ts'
import { netConfigKind } from '../../../src/api/netconfig-kind.ts'
import type { Condition } from '../../../src/api/object.ts'
import { ansibleRunKind, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { cinderExternalVolumeKind } from '../../../src/dataplane/kinds/cinder-external-volume.ts'
import {
  dataPlaneKind,
  dataPlaneNodeKind,
  dataPlaneNodes,
  dataPlaneRoleKind,
  dataPlaneServiceKind,
} from '../../../src/dataplane/kinds/data-plane.ts'
import { novaCellKind, novaExternalComputeKind } from '../../../src/dataplane/kinds/nova.ts'
import { ovnMetadataAgentKind } from '../../../src/dataplane/kinds/ovn-metadata-agent.ts'
import { sriovAgentKind } from '../../../src/dataplane/kinds/sriov-agent.ts'
import { HOST_INPUTS_ANNOTATION } from '../../../src/dataplane/runs/attempts.ts'
import { useCluster } from '../../cluster.ts'
import { dataPlaneNode, dataPlaneRole } from '../../data-plane.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { launchOperator, type RunningOperator } from '../ipam/operator.ts'

const cluster = useCluster({ crds: 'own-2023' })
const soon = { timeout: 120_000, interval: 200 }
const kinds = [
  netConfigKind,
  ipSetKind,
  reservationKind,
  dnsMasqKind,
  dnsDataKind,
  dataPlaneKind,
  dataPlaneRoleKind,
  dataPlaneNodeKind,
  dataPlaneServiceKind,
  ansibleRunKind,
  novaCellKind,
  novaExternalComputeKind,
  ovnMetadataAgentKind,
  sriovAgentKind,
  cinderExternalVolumeKind,
]
let operator: RunningOperator | undefined

beforeAll(async () => {
  for (const name of ['tenant', 'ns']) {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
}, 120_000)
afterAll(() => operator?.stop())

it('serves other namespaces while a tenant has objects without a spec', async () => {
  for (const { group, version, kind } of kinds) {
    const object = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'empty', namespace: 'tenant' } }
    await cluster.client.create(object)
  }
  const annotations = { [HOST_INPUTS_ANNOTATION]: 'null' }
  await cluster.client.create({ ...ansibleRuns, metadata: { name: 'forged', namespace: 'tenant', annotations } })
  // Both before and after the start: the objects are listed, and watched.
  operator = await launchOperator(cluster, { noWebhooks: true })
  await cluster.client.create({ ...dataPlaneNodes, metadata: { name: 'later', namespace: 'tenant' } })
  await cluster.client.create(netConfig(threeNetworks))
  await cluster.client.create(ipSet('a', [{}]))
  const isServed = async (): Promise<boolean> =>
    isIpSetReady((await cluster.client.get({ ...ipSets, namespace: 'ns', name: 'a' })) as IpSet)
  await expect.poll(isServed, soon).toBe(true)
  await cluster.client.create(dataPlaneRole('role', {}, {}, 'ns'))
  await cluster.client.create(dataPlaneNode('node', { role: 'role' }, {}, 'ns'))
  const conditions = async (): Promise<readonly Condition[]> => {
    const node = await cluster.client.get({ ...dataPlaneNodes, namespace: 'ns', name: 'node' })
    return (node?.['status'] as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? []
  }
  await expect.poll(async () => (await conditions()).length, soon).toBeGreaterThan(0)
  const metrics = await fetch(`http://127.0.0.1:${operator.healthPort}/metrics`)
  expect(metrics.status).toBe(200)
  expect(await metrics.text()).toContain('stackloom_ipam_addresses_used{namespace="ns"')
  expect(operator.ended()).toBeUndefined()
}, 300_000)
