/** Lists the kinds that a backup has and the order in which they are restored, as upstream's backup controller orders them. */
import type { GroupVersionKind } from '../api/object.ts'

export interface BackupKind extends GroupVersionKind {
  /** Kinds of a lower order are restored first. */
  readonly order: number
  /**
   * `unowned`: what an operator creates from another object is created again by it. `all`: the object holds a decision,
   * such as an address, that must not be made again.
   */
  readonly select: 'unowned' | 'all'
}

const unowned = (order: number, apiVersion: string, kind: string): BackupKind => ({
  order,
  apiVersion,
  kind,
  select: 'unowned',
})
const all = (order: number, apiVersion: string, kind: string): BackupKind => ({
  order,
  apiVersion,
  kind,
  select: 'all',
})

const core = 'core.openstack.org/v1beta1'
const network = 'network.openstack.org/v1beta1'
const rabbitmq = 'rabbitmq.openstack.org/v1beta1'
const dataplane = 'dataplane.openstack.org/v1beta1'

/** OpenStackDataPlaneDeployments are left out: restoring one would run Ansible on every host again. */
export const backupKinds: readonly BackupKind[] = [
  unowned(10, 'v1', 'Secret'),
  unowned(10, 'v1', 'ConfigMap'),
  unowned(10, 'k8s.cni.cncf.io/v1', 'NetworkAttachmentDefinition'),
  unowned(20, 'cert-manager.io/v1', 'Issuer'),
  unowned(20, 'topology.openstack.org/v1beta1', 'Topology'),
  unowned(20, network, 'BGPConfiguration'),
  unowned(20, network, 'NetConfig'),
  unowned(20, network, 'DNSMasq'),
  unowned(20, network, 'DNSData'),
  unowned(20, core, 'OpenStackVersion'),
  unowned(20, 'backup.openstack.org/v1beta1', 'OpenStackBackupConfig'),
  all(30, network, 'Reservation'),
  all(40, network, 'IPSet'),
  unowned(50, core, 'OpenStackControlPlane'),
  unowned(51, rabbitmq, 'RabbitMQVhost'),
  unowned(52, rabbitmq, 'RabbitMQUser'),
  unowned(52, rabbitmq, 'RabbitMQPolicy'),
  unowned(60, 'mariadb.openstack.org/v1beta1', 'GaleraBackup'),
  unowned(70, 'instanceha.openstack.org/v1beta1', 'InstanceHa'),
  unowned(70, dataplane, 'OpenStackDataPlaneService'),
  unowned(80, dataplane, 'OpenStackDataPlaneNodeSet'),
]

/** Objects of a cloud outside of its namespace: they are ours, and their names begin with its namespace. */
export const outsideKinds: readonly BackupKind[] = [
  unowned(20, 'metallb.io/v1beta1', 'IPAddressPool'),
  unowned(20, 'metallb.io/v1beta1', 'L2Advertisement'),
  unowned(20, 'metallb.io/v1beta1', 'BGPAdvertisement'),
]

export const CONTROL_PLANE = { apiVersion: core, kind: 'OpenStackControlPlane' } as const
export const GALERA = { apiVersion: 'mariadb.openstack.org/v1beta1', kind: 'Galera' } as const
export const GALERA_BACKUP = { apiVersion: 'mariadb.openstack.org/v1beta1', kind: 'GaleraBackup' } as const
export const GALERA_RESTORE = { apiVersion: 'mariadb.openstack.org/v1beta1', kind: 'GaleraRestore' } as const
export const BACKUP_CONFIG = { apiVersion: 'backup.openstack.org/v1beta1', kind: 'OpenStackBackupConfig' } as const
export const SERVICE = { apiVersion: 'v1', kind: 'Service' } as const
