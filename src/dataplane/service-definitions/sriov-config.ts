/** Renders the configuration files of the SR-IOV NIC switch agent. Pure. */
import { type ConfigFiles, iniSection, journalOptions, renderConfigFiles } from './config-files.ts'

export const SRIOV_GENERATED = '01-neutron-sriov.conf'
const SRIOV_OVERRIDE = '02-neutron-sriov-override.conf'

export interface SriovFacts {
  readonly transportUrl: string
  /** The name of the agent, and of the nova-compute whose ports it configures. */
  readonly host: string
}

/** `physical_device_mappings` depend on the NICs of the host: customServiceConfig sets them. */
export function renderSriovConfig({ transportUrl, host }: SriovFacts, customServiceConfig = ''): ConfigFiles {
  return renderConfigFiles(
    SRIOV_GENERATED,
    [
      ...iniSection('DEFAULT', {
        host,
        transport_url: transportUrl,
        state_path: '/var/lib/neutron',
        ...journalOptions,
      }),
      ...iniSection('agent', { root_helper: 'sudo neutron-rootwrap /etc/neutron/rootwrap.conf' }),
      ...iniSection('oslo_concurrency', { lock_path: '/var/lib/neutron/tmp' }),
      ...iniSection('oslo_messaging_rabbit', { heartbeat_in_pthread: 'false' }),
      // The NIC switches packets past the host, so that no firewall of the host sees them.
      ...iniSection('securitygroup', { firewall_driver: 'noop' }),
    ],
    { [SRIOV_OVERRIDE]: customServiceConfig },
  )
}
