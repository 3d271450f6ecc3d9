import { describe, expect, it } from 'vitest'
import type { KubeObject } from './object.ts'
import {
  controllerReference,
  findController,
  isAppliedBy,
  isManagedByStackloom,
  isOwnedBy,
  mapToOwner,
} from './ownership.ts'

const owner: KubeObject = { apiVersion: 'v1', kind: 'IPSet', metadata: { name: 'a', namespace: 'ns', uid: 'u1' } }
const child: KubeObject = {
  apiVersion: 'v1',
  kind: 'DNSData',
  metadata: { name: 'a-ipset', namespace: 'ns', ownerReferences: [controllerReference(owner)] },
}

describe('ownership', () => {
  it('is by UID: a later owner with the same name does not own the object', () => {
    expect(isOwnedBy(child, owner)).toBe(true)
    expect(isOwnedBy(child, { ...owner, metadata: { ...owner.metadata, uid: 'u2' } })).toBe(false)
  })

  it('maps an object to its controller of the given kind only', () => {
    expect(findController(child)).toMatchObject({ kind: 'IPSet', name: 'a', controller: true })
    expect(mapToOwner('IPSet')(child)).toEqual(['ns/a'])
    expect(mapToOwner('DNSMasq')(child)).toEqual([])
  })

  it('recognises what Stackloom rendered by its label', () => {
    const labels = { 'app.kubernetes.io/managed-by': 'stackloom' }
    expect(isManagedByStackloom({ metadata: { name: 'a', labels } })).toBe(true)
    expect(isManagedByStackloom(child)).toBe(false)
  })

  it('recognises what a field manager applied, and not what it only updated', () => {
    const written = (operation: 'Apply' | 'Update'): KubeObject => ({
      ...owner,
      metadata: { ...owner.metadata, managedFields: [{ manager: 'stackloom', operation, apiVersion: 'v1' }] },
    })
    expect(isAppliedBy(written('Apply'), 'stackloom')).toBe(true)
    expect(isAppliedBy(written('Update'), 'stackloom')).toBe(false)
    expect(isAppliedBy(written('Apply'), 'kubectl')).toBe(false)
  })
})
