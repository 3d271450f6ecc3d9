import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { missingNamespaceError } from '../../kube/api-error.ts'
import { decideOwnership, tryOwnedWrite } from './ownership.ts'
import { createWriter } from './writes.ts'

const owner = (name: string, uid: string, kind = 'DNSMasq'): OwnerReference => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind,
  name,
  uid,
  controller: true,
})
const secret = (...ownerReferences: readonly OwnerReference[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'a', namespace: 'ns', ownerReferences },
  data: { key: 'old' },
})
const desired = { ...secret(owner('dns', 'u1')), data: { key: 'new' } }

describe('decideOwnership', () => {
  it('accepts the UID of the owner, and nothing else', () => {
    expect(decideOwnership(secret(owner('dns', 'u1')), desired).kind).toBe('owned')
    expect(decideOwnership(secret(owner('dns', 'u0')), desired).kind).toBe('stale')
    expect(decideOwnership(secret(owner('dns', 'u0'), owner('b', 'u2')), desired).kind).toBe('foreign')
    expect(decideOwnership(secret(owner('dns', 'u0', 'IPSet')), desired)).toMatchObject({
      facts: { owner: 'IPSet dns owns it' },
    })
    expect(decideOwnership(secret(), desired)).toMatchObject({ facts: { owner: 'no DNSMasq owns it' } })
  })
})

describe('a writer', () => {
  const writes = {
    replaceField: (cluster: ReturnType<typeof memoryCluster>) =>
      createWriter({ client: cluster.client, fieldManager: 'test' }).replaceField(
        { note: () => true },
        undefined,
        desired,
        'data',
        neverAborted(),
      ),
    applyIfChanged: (cluster: ReturnType<typeof memoryCluster>) =>
      createWriter({ client: cluster.client, fieldManager: 'test' }).applyIfChanged(undefined, desired, neverAborted()),
  }

  it.each(Object.entries(writes))('refuses a foreign object that its cache does not hold: %s', async (_, write) => {
    const cluster = memoryCluster()
    await cluster.client.create(secret())
    expect(await tryOwnedWrite<unknown>(write(cluster))).toMatchObject({
      kind: 'refused',
      finding: { code: 'SL1030', message: 'Secret ns/a exists already, and no DNSMasq owns it' },
    })
    expect(cluster.objects('Secret')).toMatchObject([{ data: { key: 'old' } }])
  })

  it('reports an object that the API server refuses, which no retry would change', async () => {
    const where = { apiVersion: 'v1', kind: 'Secret', name: 'a' }
    const write = Promise.reject(missingNamespaceError(where, 'v1/Secret a'))
    expect(await tryOwnedWrite(write)).toMatchObject({ kind: 'refused', finding: { code: 'SL1111' } })
  })
})
