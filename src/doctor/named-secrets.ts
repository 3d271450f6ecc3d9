/**
 * The Secrets that a cloud's own objects name, and of each only the keys: a doctor needs to know what is there, never
 * what it says.
 */
import type { KubeObject } from '../api/object.ts'
import { textAt } from '../api/raw-object.ts'
import { groupKindOf, type Snapshot } from '../api/snapshot.ts'
import { recordOf } from '../yaml/loose.ts'

export interface SecretName {
  readonly namespace: string
  readonly name: string
}

export function namedSecrets({ objects }: Snapshot): readonly SecretName[] {
  const found = new Map<string, SecretName>()
  for (const object of objects) {
    const name = secretOf(object)
    const { namespace } = object.metadata
    if (name === undefined || namespace === undefined) continue
    found.set(`${namespace}/${name}`, { namespace, name })
  }
  return [...found.values()]
}

/** The Secret that an object cannot do without. */
export function secretOf(object: KubeObject): string | undefined {
  switch (groupKindOf(object)) {
    case 'core.openstack.org/OpenStackControlPlane':
      return textAt(object, 'spec', 'secret') ?? 'osp-secret'
    case 'dataplane.openstack.org/OpenStackDataPlaneNodeSet':
      return textAt(object, 'spec', 'nodeTemplate', 'ansibleSSHPrivateKeySecret')
    default:
      return undefined
  }
}

/** A Secret without its values. Empty ones stay empty: that is a cause, too. */
export function keysOnly(secret: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = secret
  const { name, namespace } = metadata
  const data = Object.entries(recordOf(secret['data'])).map(([key, value]) => [key, value ? 'given' : ''])
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    data: Object.fromEntries(data) as Readonly<Record<string, string>>,
  }
}
