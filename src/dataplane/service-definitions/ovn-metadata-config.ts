/** Renders the configuration files of the OVN metadata agent. Pure. */
import { type ConfigFiles, iniSection, journalOptions, renderConfigFiles } from './config-files.ts'

export const METADATA_GENERATED = '01-neutron-metadata.conf'
export const METADATA_OVERRIDE = '02-neutron-metadata-override.conf'

export interface MetadataFacts {
  readonly ovnSbConnection: string
  /** The chassis name of this node in OVN. */
  readonly host: string
  readonly novaMetadataHost: string
  readonly novaMetadataPort?: number
  readonly novaMetadataProtocol?: 'http' | 'https'
  readonly sharedSecret: string
}

/** Where the playbook writes the files of `stackloom_ovn_tls`; root owns those of ovn-controller, and the agent is not root. */
const FOLDER = '/var/lib/openstack/config/ovn-metadata'

export function renderMetadataConfig(facts: MetadataFacts, customServiceConfig = ''): ConfigFiles {
  const certificates = facts.ovnSbConnection.startsWith('ssl:')
    ? {
        ovn_sb_private_key: `${FOLDER}/key.pem`,
        ovn_sb_certificate: `${FOLDER}/certificate.pem`,
        ovn_sb_ca_cert: `${FOLDER}/ca.pem`,
      }
    : {}
  return renderConfigFiles(
    METADATA_GENERATED,
    [
      ...iniSection('DEFAULT', {
        host: facts.host,
        nova_metadata_host: facts.novaMetadataHost,
        nova_metadata_port: String(facts.novaMetadataPort ?? 8775),
        nova_metadata_protocol: facts.novaMetadataProtocol ?? 'http',
        metadata_proxy_shared_secret: facts.sharedSecret,
        state_path: '/var/lib/neutron',
        ...journalOptions,
      }),
      ...iniSection('agent', { root_helper: 'sudo neutron-rootwrap /etc/neutron/rootwrap.conf' }),
      ...iniSection('ovn', { ovn_sb_connection: facts.ovnSbConnection, ...certificates }),
      ...iniSection('ovs', { ovsdb_connection: 'tcp:127.0.0.1:6640' }),
    ],
    { [METADATA_OVERRIDE]: customServiceConfig },
  )
}
