/**
 * Renders the Ceph configuration of cinder, glance, manila and nova, and the mount of its Secret. Pure.
 *
 * nova-compute runs on the hosts, so its configuration belongs to the data plane.
 */
import type { SiteFileCloud } from '../../api/site.ts'

export type Ceph = NonNullable<SiteFileCloud['ceph']>

const CONF = '/etc/ceph/ceph.conf'

function cephUser(ceph: Ceph): string {
  return ceph.user ?? 'openstack'
}

export function cephMounts(ceph: Ceph): readonly unknown[] {
  return [
    {
      name: 'v1',
      region: 'r1',
      extraVol: [
        {
          propagation: ['CinderVolume', 'CinderBackup', 'GlanceAPI', 'ManilaShare'],
          extraVolType: 'Ceph',
          volumes: [{ name: 'ceph', projected: { sources: [{ secret: { name: ceph.secret } }] } }],
          mounts: [{ name: 'ceph', mountPath: '/etc/ceph', readOnly: true }],
        },
      ],
    },
  ]
}

/** Formats sections and options for oslo.config. */
function formatIni(sections: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  return Object.entries(sections)
    .map(([name, options]) => {
      const lines = Object.entries(options).map(([key, value]) => `${key} = ${value}\n`)
      return `[${name}]\n${lines.join('')}`
    })
    .join('')
}

export function cinderVolumeConfig(ceph: Ceph): string {
  return formatIni({
    DEFAULT: { enabled_backends: 'ceph' },
    ceph: {
      volume_backend_name: 'ceph',
      volume_driver: 'cinder.volume.drivers.rbd.RBDDriver',
      rbd_ceph_conf: CONF,
      rbd_user: cephUser(ceph),
      rbd_pool: ceph.pools?.cinder ?? 'volumes',
      rbd_flatten_volume_from_snapshot: 'False',
      rbd_secret_uuid: ceph.fsid,
    },
  })
}

export function cinderBackupConfig(ceph: Ceph): string {
  return formatIni({
    DEFAULT: {
      backup_driver: 'cinder.backup.drivers.ceph.CephBackupDriver',
      backup_ceph_pool: 'backups',
      backup_ceph_user: cephUser(ceph),
    },
  })
}

export function glanceConfig(ceph: Ceph): string {
  return formatIni({
    DEFAULT: { enabled_backends: 'default_backend:rbd' },
    glance_store: { default_backend: 'default_backend' },
    default_backend: {
      rbd_store_ceph_conf: CONF,
      store_description: 'RBD backend',
      rbd_store_pool: ceph.pools?.glance ?? 'images',
      rbd_store_user: cephUser(ceph),
    },
  })
}

export function manilaShareConfig(ceph: Ceph): string {
  return formatIni({
    DEFAULT: { enabled_share_backends: 'cephfs', enabled_share_protocols: 'cephfs' },
    cephfs: {
      driver_handles_share_servers: 'False',
      share_backend_name: 'cephfs',
      share_driver: 'manila.share.drivers.cephfs.driver.CephFSDriver',
      cephfs_conf_path: CONF,
      cephfs_auth_id: cephUser(ceph),
      cephfs_cluster_name: 'ceph',
      cephfs_volume_mode: '0755',
      cephfs_protocol_helper_type: 'CEPHFS',
    },
  })
}

/** For nova-compute on the hosts: images and disks are in Ceph. */
export function novaComputeConfig(ceph: Ceph): string {
  return formatIni({
    libvirt: {
      images_type: 'rbd',
      images_rbd_pool: ceph.pools?.nova ?? 'vms',
      images_rbd_ceph_conf: CONF,
      images_rbd_glance_store_name: 'default_backend',
      images_rbd_glance_copy_poll_interval: '15',
      images_rbd_glance_copy_timeout: '600',
      rbd_user: cephUser(ceph),
      rbd_secret_uuid: ceph.fsid,
    },
  })
}
