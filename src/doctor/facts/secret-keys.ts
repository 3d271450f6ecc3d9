/**
 * Keys that a cloud's Secrets must have, by the service that reads them: upstream's defaults. A control plane may name
 * others (`passwordSelectors`), so a service that does is not judged.
 */

import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { getField } from '../../api/raw-object.ts'

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

/** What the Secret of a control plane or of a node set lacks, or has with nothing in it. */
export function missingKeys(owner: KubeObject, secret: KubeObject): readonly MissingKeys[] {
  const data = asRecord(secret['data'])
  const lacking = (service: string, keys: readonly string[]): readonly MissingKeys[] => {
    const missing = keys.filter((key) => !data[key])
    return missing.length === 0 ? [] : [{ service, keys: missing }]
  }
  if (owner.kind === 'OpenStackDataPlaneNodeSet') return lacking('Ansible', ['ssh-privatekey'])
  return Object.entries(requiredKeys).flatMap(([service, keys]) => {
    const settings = asRecord(getField(owner, 'spec', service))
    if (settings['enabled'] !== true) return []
    const own = JSON.stringify(settings).includes('"passwordSelectors"')
    return own ? [] : lacking(service, keys)
  })
}
