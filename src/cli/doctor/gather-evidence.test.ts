import { describe, expect, it } from 'vitest'
import { cr, object } from '../../../test/doctor/objects.ts'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import type { KubeObject } from '../../api/object.ts'
import { diagnose } from '../../doctor/diagnose.ts'
import { rules } from '../../doctor/rules.ts'
import { type ExecInPod, gatherFromCluster } from './gather-evidence.ts'

const conductor = object('v1/Pod', 'openstack/nova-cell0-conductor-0', {
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
})
const nodeSet = cr('dataplane.openstack.org/v1beta1/OpenStackDataPlaneNodeSet', 'openstack/computes', {
  nodes: { 'compute-0': { hostName: 'compute-0.example.com' }, 'compute-1': {} },
})
const table = `+-------+-----------+-----------------------+
| Cell Name | Cell UUID | Hostname |
+-------+-----------+-----------------------+
| cell1 | 8a5e7f90  | compute-0.example.com |
+-------+-----------+-----------------------+`

async function look(objects: readonly KubeObject[], ask: ExecInPod) {
  const { client } = memoryCluster()
  for (const object of objects) await client.create(object)
  return gatherFromCluster(client, rules, { namespaces: [], ask, stop: new AbortController().signal })
}

describe('gatherFromCluster', () => {
  it('reads the hosts of nova cells, and the doctor reports a missing host', async () => {
    const asked: string[] = []
    const { snapshot } = await look([conductor, nodeSet], async (namespace, pod, command) => {
      asked.push(`${namespace} ${pod} ${command.join(' ')}`)
      return table
    })
    expect(asked).toEqual(['openstack nova-cell0-conductor-0 nova-manage cell_v2 list_hosts'])
    const { diagnoses } = diagnose({ snapshot, now: Date.now() }, rules)
    const found = diagnoses.find(({ rule }) => rule === 'data-plane/hypervisor-not-discovered')
    expect(found?.message).toContain('compute-1 is deployed')
    expect(found?.message).not.toContain('compute-0')
  })

  it('reports the kind as unread when the conductor does not answer', async () => {
    const { snapshot } = await look([conductor, nodeSet], () => Promise.reject(new Error('connection refused')))
    const { blind } = diagnose({ snapshot, now: Date.now() }, rules)
    expect(blind.map(({ rule }) => rule)).toEqual(['data-plane/hypervisor-not-discovered'])
  })

  it('keeps only the keys of referenced Secrets and reads no others', async () => {
    const cluster = memoryCluster()
    const objects = [
      cr('core.openstack.org/v1beta1/OpenStackControlPlane', 'openstack/controlplane', { secret: 'own-secret' }),
      object('v1/Secret', 'openstack/own-secret', { data: { AdminPassword: 'aHVudGVyMg==', Empty: '' } }),
      object('v1/Secret', 'openstack/private', { data: { key: 'aHVudGVyMg==' } }),
    ]
    for (const object of objects) await cluster.client.create(object)
    const stop = new AbortController().signal
    const { snapshot } = await gatherFromCluster(cluster.client, rules, { namespaces: [], ask: async () => '', stop })
    expect(JSON.stringify(snapshot)).not.toContain('aHVudGVyMg')
    expect(snapshot.objects.filter(({ kind }) => kind === 'Secret').map((object) => object['data'])).toEqual([
      { AdminPassword: 'given', Empty: '' },
    ])
    expect(cluster.requests.filter((request) => /^(get|list) Secret/.test(request))).toEqual([
      'get Secret openstack/own-secret',
    ])
  })
})
