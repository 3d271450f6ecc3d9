import { describe, expect, it } from 'vitest'
import { neverAborted } from '../../test/never-aborted.ts'
import type { KubeObject } from '../api/object.ts'
import { finding } from '../errors/finding.ts'
import { ApiError, type ApiErrorDetails } from '../kube/api-error.ts'
import { objectRefused } from '../kube/findings/api-server.ts'
import { compareObject } from './object-changes.ts'
import { findRefusedUpdates } from './refused-updates.ts'

const nodeSet = (name: string, hosts: readonly string[]): KubeObject => ({
  apiVersion: 'dataplane.openstack.org/v1beta1',
  kind: 'OpenStackDataPlaneNodeSet',
  metadata: { name, namespace: 'openstack' },
  spec: { nodes: Object.fromEntries(hosts.map((host) => [host, { hostName: host }])) },
})

const refusal = (details: Partial<ApiErrorDetails>): ApiError =>
  new ApiError({
    kind: 'denied',
    finding: finding(objectRefused, { object: 'a', reasons: ['no'] }),
    causes: [{ path: 'spec.nodes', message: 'no' }],
    ...details,
  })

/** An API server that refuses every write of an object named `a`. */
const refuse = (details: Partial<ApiErrorDetails> = {}) => ({
  apply: async (object: KubeObject): Promise<KubeObject> => {
    if (object.metadata.name === 'a') throw refusal(details)
    return object
  },
})

const options = { force: false, signal: neverAborted() }

describe('findRefusedUpdates', () => {
  const update = compareObject(nodeSet('a', ['compute-0', 'compute-1']), nodeSet('a', ['compute-0']))

  it('names the object and the fields that the cluster refuses', async () => {
    const [found] = await findRefusedUpdates([update], refuse({ status: 422 }), options)
    expect(found).toMatchObject({
      code: 'SL4030',
      message: 'the cluster refuses the update of OpenStackDataPlaneNodeSet openstack/a: spec.nodes: no',
    })
  })

  it('does not ask about objects that are created, unchanged, or of other programs', async () => {
    const pool = (address: string): KubeObject => ({
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      metadata: { name: 'a' },
      spec: { addresses: [address] },
    })
    const changes = [
      compareObject(nodeSet('a', []), undefined),
      { ...update, change: 'unchanged' as const },
      compareObject(pool('192.0.2.1/32'), pool('192.0.2.2/32')),
    ]
    expect(await findRefusedUpdates(changes, refuse(), options)).toEqual([])
  })

  it('ignores a refusal that passes: a running deployment, or a host that leaves another node set in this run', async () => {
    expect(await findRefusedUpdates([update], refuse({ status: 409 }), options)).toEqual([])
    const left = { ...update, desired: nodeSet('b', []), live: nodeSet('b', ['compute-1']) }
    expect(await findRefusedUpdates([update, left], refuse(), options)).toEqual([])
  })

  it('leaves failures of the server to the run, which retries them', async () => {
    expect(await findRefusedUpdates([update], refuse({ kind: 'webhook' }), options)).toEqual([])
  })
})
