/** Renders the configuration files of cinder-volume on a node. Pure. */
import { type ConfigFiles, iniSection, journalOptions, renderConfigFiles } from './config-files.ts'

export const CINDER_VOLUME_GENERATED = '01-cinder-volume.conf'
const CINDER_VOLUME_OVERRIDE = '02-cinder-volume-override.conf'

export interface CinderVolumeFacts {
  readonly transportUrl: string
  /** The URL of the database. */
  readonly connection: string
  /** The first part of the names of its backends: `edpm-storage-0@lvm`. */
  readonly host: string
  /** In the control plane network: where its volumes are exported unless a backend says otherwise. */
  readonly myIp?: string
}

/** Backends depend on the disks of the host: customServiceConfig sets `enabled_backends` and their sections. */
export function renderCinderVolumeConfig(
  { transportUrl, connection, host, myIp }: CinderVolumeFacts,
  customServiceConfig = '',
): ConfigFiles {
  return renderConfigFiles(
    CINDER_VOLUME_GENERATED,
    [
      ...iniSection('DEFAULT', {
        host,
        my_ip: myIp,
        transport_url: transportUrl,
        state_path: '/var/lib/cinder',
        ...journalOptions,
      }),
      ...iniSection('database', { connection }),
      ...iniSection('oslo_concurrency', { lock_path: '/var/lib/cinder/tmp' }),
      ...iniSection('oslo_messaging_rabbit', { heartbeat_in_pthread: 'false' }),
    ],
    { [CINDER_VOLUME_OVERRIDE]: customServiceConfig },
  )
}
