import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import type { KubeObject } from '../../api/object.ts'
import { MANAGED_BY_LABEL } from '../../api/ownership.ts'
import { SYSTEM_NAMESPACE } from '../../api/reserved-namespace.ts'
import type { RunEvent } from '../../run/events.ts'
import { renderInventory } from '../inventory.ts'
import { down } from './down.ts'

const labels = { [MANAGED_BY_LABEL]: 'stackloom' }
const namespace = 'openstack'
const ipSet = (name: string, metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'IPSet',
  metadata: { name, namespace, ...metadata },
})

interface Outcome {
  readonly findings: readonly { readonly code: string; readonly message: string; readonly remedy: string }[]
  readonly waits: readonly string[]
  readonly left: readonly string[]
}

/** Takes a cloud down whose namespace has these objects, and whose own namespace has this status when it is deleted. */
async function takeDown(others: readonly KubeObject[], status: object = {}): Promise<Outcome> {
  const { client, objects } = memoryCluster()
  const entry = { apiVersion: 'v1', kind: 'Namespace', name: namespace }
  const metadata = { name: namespace, labels, ...('conditions' in status && { finalizers: ['kubernetes'] }) }
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE, labels } })
  await client.create(renderInventory({ site: 's', cloud: 'rhoso1', namespace, objects: [entry] }))
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata, status })
  for (const object of others) await client.create(object)
  const events: RunEvent[] = []
  const report = await down({
    client,
    clouds: ['rhoso1'],
    run: 'test',
    sink: (event) => events.push(event),
    stop: neverAborted(),
    stuckMs: 300,
  })
  return {
    findings: report.stages.flatMap(({ findings }) => findings),
    waits: events.flatMap((event) => (event.kind === 'waiting' ? event.reason : [])),
    left: objects('IPSet').map(({ metadata }) => metadata.name),
  }
}

describe('down --cloud', () => {
  it('ends with the names of IPSets that are not of this cloud, and leaves them', async () => {
    const { findings, waits, left } = await takeDown([ipSet('theirs'), ipSet('more')])
    expect(findings).toMatchObject([
      {
        code: 'SL4075',
        message:
          'namespace openstack has 2 IPSets that this cloud did not bring and that no program deletes: theirs, more',
      },
    ])
    expect(findings[0]?.remedy).toContain('kubectl -n openstack delete ipset theirs')
    expect(waits).toContain('waits for 2 IPSets of openstack to be gone (theirs first)')
    expect(left).toEqual(['theirs', 'more'])
  })

  it('names the owner of an IPSet that stays', async () => {
    const owner = { apiVersion: 'v1', kind: 'OpenStackDataPlaneNodeSet', name: 'theirs', uid: '1' }
    const { findings } = await takeDown([ipSet('host', { ownerReferences: [owner] })])
    expect(findings[0]?.message).toContain('host of OpenStackDataPlaneNodeSet theirs')
  })

  it('ends with what keeps a namespace, in the words of the namespace controller', async () => {
    const message = 'Some content in the namespace has finalizers remaining: example.com/ipset in 3 resource instances'
    const condition = { type: 'NamespaceFinalizersRemaining', status: 'True', message }
    const { findings } = await takeDown([], { phase: 'Terminating', conditions: [condition] })
    expect(findings).toMatchObject([{ code: 'SL4076' }])
    expect(findings[0]?.message).toContain(message)
  })
})
