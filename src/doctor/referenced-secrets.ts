/** Finds the Secrets that cloud objects refer to, and the required keys that they lack. Values are never kept. */

import { asRecord } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { getField, getString } from '../api/raw-object.ts'
import { formatGroupKind, type Snapshot } from '../api/snapshot.ts'

export interface SecretRef {
  readonly namespace: string
  readonly name: string
}

export function referencedSecrets({ objects }: Snapshot): readonly SecretRef[] {
  const found = new Map<string, SecretRef>()
  for (const object of objects) {
    const name = referencedSecret(object)
    const { namespace } = object.metadata
    if (name === undefined || namespace === undefined) continue
    found.set(`${namespace}/${name}`, { namespace, name })
  }
  return [...found.values()]
}

/** The Secret that an object requires. */
export function referencedSecret(object: KubeObject): string | undefined {
  switch (formatGroupKind(object)) {
    case 'core.openstack.org/OpenStackControlPlane':
      return getString(object, 'spec', 'secret') ?? 'osp-secret'
    case 'dataplane.openstack.org/OpenStackDataPlaneNodeSet':
      return getString(object, 'spec', 'nodeTemplate', 'ansibleSSHPrivateKeySecret')
    default:
      return undefined
  }
}

/** Replaces the values of a Secret. Empty values stay empty, because they are a cause too. */
export function redactValues(secret: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = secret
  const { name, namespace } = metadata
  const data = Object.entries(asRecord(secret['data'])).map(([key, value]) => [key, value ? 'given' : ''])
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    data: Object.fromEntries(data) as Readonly<Record<string, string>>,
  }
}

const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  galera: ['DbRootPassword'],
  keystone: ['AdminPassword'],
  placement: ['PlacementPassword'],
  glance: ['GlancePassword'],
  neutron: ['NeutronPassword'],
  nova: ['NovaPassword', 'MetadataSecret'],
  swift: ['SwiftPassword'],
  cinder: ['CinderPassword'],
  barbican: ['BarbicanPassword', 'BarbicanSimpleCryptoKEK'],
  heat: ['HeatPassword', 'HeatAuthEncryptionKey'],
  manila: ['ManilaPassword'],
  designate: ['DesignatePassword'],
  octavia: ['OctaviaPassword', 'OctaviaHeartbeatKey'],
  ironic: ['IronicPassword', 'IronicInspectorPassword'],
  watcher: ['WatcherPassword'],
}

export interface MissingKeys {
  readonly service: string
  readonly keys: readonly string[]
}

/** Required keys that are missing or empty in the Secret of a control plane or node set. */
export function missingKeys(owner: KubeObject, secret: KubeObject): readonly MissingKeys[] {
  const data = asRecord(secret['data'])
  const checkKeys = (service: string, keys: readonly string[]): readonly MissingKeys[] => {
    const missing = keys.filter((key) => !data[key])
    return missing.length === 0 ? [] : [{ service, keys: missing }]
  }
  if (owner.kind === 'OpenStackDataPlaneNodeSet') return checkKeys('Ansible', ['ssh-privatekey'])
  return Object.entries(requiredKeys).flatMap(([service, keys]) => {
    const settings = asRecord(getField(owner, 'spec', service))
    if (settings['enabled'] !== true) return []
    const isCustom = JSON.stringify(settings).includes('"passwordSelectors"')
    return isCustom ? [] : checkKeys(service, keys)
  })
}
