/** Selects the objects of a cloud that a backup has, cleans them, and lists the addresses that a restore must bring back. Pure. */
import { asList, asRecord, asString } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { getList, getString } from '../api/raw-object.ts'
import type { BackupKind } from './backup-kinds.ts'

/** Set by upstream's OpenStackBackupConfig and operators on what must be restored although an operator owns it. */
const RESTORE_LABEL = 'backup.openstack.org/restore'
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const CERTIFICATE_NAME = 'cert-manager.io/certificate-name'

/** Every namespace gets these from the cluster. */
const clusterConfigMaps: ReadonlySet<string> = new Set(['kube-root-ca.crt', 'openshift-service-ca.crt'])
const clusterSecretTypes: ReadonlySet<string> = new Set([
  'kubernetes.io/service-account-token',
  'kubernetes.io/dockercfg',
  'helm.sh/release.v1',
])

export function isInBackup(object: KubeObject, { select }: Pick<BackupKind, 'select'>): boolean {
  const { labels = {}, ownerReferences = [], deletionTimestamp, name } = object.metadata
  if (deletionTimestamp !== undefined || labels[RESTORE_LABEL] === 'false') return false
  if (object.kind === 'ConfigMap' && clusterConfigMaps.has(name)) return false
  if (object.kind === 'Secret' && !isUserSecret(object)) return false
  return select === 'all' || labels[RESTORE_LABEL] === 'true' || ownerReferences.length === 0
}

/** cert-manager issues its certificates again; a CA must stay the same, because hosts trust it. */
function isUserSecret(secret: KubeObject): boolean {
  const { name, annotations = {}, labels = {} } = secret.metadata
  if (clusterSecretTypes.has(getString(secret, 'type') ?? '')) return false
  return !(CERTIFICATE_NAME in annotations) || labels[RESTORE_LABEL] === 'true' || name.startsWith('rootca-')
}

/** Without what the API server, controllers and an earlier cluster wrote. Owners of fields stay: they decide what `up` may change. */
export function cleanObject(object: KubeObject): KubeObject {
  const { status: _status, metadata, ...rest } = object
  const { name, namespace, labels, annotations = {}, managedFields = [] } = metadata
  const owners = managedFields.filter(({ subresource }) => subresource === undefined)
  const { [LAST_APPLIED]: _applied, ...kept } = annotations
  return {
    ...rest,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(Object.keys(kept).length > 0 && { annotations: kept }),
      ...(owners.length > 0 && { managedFields: owners }),
    },
  }
}

/** An address that an object has: of a host by an IPSet, or of a Service by MetalLB. */
export interface HeldAddress {
  /** `IPSet compute-0`, `Service keystone-internal`. */
  readonly holder: string
  /** The network of an IPSet. */
  readonly network?: string
  readonly address: string
}

export function heldAddresses(objects: readonly KubeObject[]): readonly HeldAddress[] {
  return objects.flatMap((object): readonly HeldAddress[] => {
    const holder = `${object.kind} ${object.metadata.name}`
    if (object.kind === 'IPSet') {
      return getList(object, 'status', 'reservations').flatMap((entry) => {
        const { network, address } = asRecord(entry)
        return typeof network === 'string' && typeof address === 'string' ? [{ holder, network, address }] : []
      })
    }
    if (object.kind !== 'Service') return []
    return asList(asRecord(asRecord(object['status'])['loadBalancer'])['ingress']).flatMap((entry) => {
      const address = asString(asRecord(entry)['ip'])
      return address === undefined ? [] : [{ holder, address }]
    })
  })
}

/** What is not as it was: `IPSet compute-0 ctlplane: 192.168.122.100 is missing`. */
export function compareAddresses(before: readonly HeldAddress[], after: readonly HeldAddress[]): readonly string[] {
  const known = new Set(after.map(formatHeld))
  return before.filter((held) => !known.has(formatHeld(held))).map((held) => `${formatHeld(held)} is missing`)
}

function formatHeld({ holder, network, address }: HeldAddress): string {
  return network === undefined ? `${holder}: ${address}` : `${holder} ${network}: ${address}`
}
