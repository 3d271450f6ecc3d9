/** nova-compute and libvirt on a node, as data for the service engine. */
import type { NovaCell } from '../../../api/nova-cell.ts'
import { novaCells } from '../../../api/nova-cell.ts'
import { novaCellAnnotation } from '../../../api/service-annotation.ts'
import { novaImages } from '../../../api/service-images.ts'
import { computeBinding } from '../../../ini/binding.ts'
import type { Option } from '../../../ini/write.ts'
import type { ServiceDefinition } from '../service-definition.ts'

const TRANSPORT_URL = 'transport_url'
const PASSWORD = 'ServicePassword'

export const novaService: ServiceDefinition = {
  name: 'nova',
  annotation: novaCellAnnotation,
  images: novaImages,
  dependency: {
    kind: novaCells,
    nameOf: ({ spec }) => spec['cellName'] as string | undefined,
    condition: 'NovaCellReady',
  },
  needs: (_, cell) => {
    const { cellMessageBusSecretName = '', secret = '' } = (cell as NovaCell).spec
    return [
      { secret: cellMessageBusSecretName, keys: [TRANSPORT_URL] },
      { secret, keys: [PASSWORD] },
    ]
  },
  facts: (_, cell, valueOf) => {
    const {
      cellMessageBusSecretName = '',
      secret = '',
      serviceUser = 'nova',
      keystoneAuthURL = '',
    } = (cell as NovaCell).spec
    return {
      // The bus is what binds a compute to its cell; the cell's name appears nowhere in the file.
      transportUrl: valueOf(cellMessageBusSecretName, TRANSPORT_URL),
      password: valueOf(secret, PASSWORD),
      user: serviceUser,
      authUrl: keystoneAuthURL,
    }
  },
  generate: (facts) => [
    ...options('DEFAULT', [
      ['transport_url', escaped(facts['transportUrl'])],
      ['state_path', '/var/lib/nova'],
      ['compute_driver', 'libvirt.LibvirtDriver'],
      ['max_concurrent_live_migrations', '1'],
      ['allow_resize_to_same_host', 'true'],
      ['force_config_drive', 'True'],
      ['initial_cpu_allocation_ratio', '4.0'],
      ['initial_ram_allocation_ratio', '1.0'],
      ['initial_disk_allocation_ratio', '0.9'],
      ['log_file', '/var/log/containers/nova/nova-compute.log'],
    ]),
    ...options('oslo_concurrency', [['lock_path', '/var/lib/nova/tmp']]),
    ...options('oslo_messaging_rabbit', [
      ['amqp_durable_queues', 'false'],
      ['amqp_auto_delete', 'false'],
      ['heartbeat_in_pthread', 'false'],
    ]),
    ...options('oslo_messaging_notifications', [['driver', 'noop']]),
    ...options('vnc', [
      ['enabled', 'True'],
      ['server_listen', '::0'],
      ['server_proxyclient_address', '$my_ip'],
    ]),
    ...options('libvirt', [
      ['live_migration_permit_post_copy', 'true'],
      ['live_migration_permit_auto_converge', 'true'],
      ['cpu_mode', 'host-model'],
      ['hw_machine_type', 'x86_64=q35'],
      ['num_pcie_ports', '24'],
      ['images_type', 'qcow2'],
      ['rx_queue_size', '512'],
      ['tx_queue_size', '512'],
      ['swtpm_enabled', 'True'],
    ]),
    ...['keystone_authtoken', 'placement', 'glance', 'neutron', 'cinder'].flatMap((section) =>
      credentials(section, facts),
    ),
    ...credentials('service_user', facts),
    ...options('service_user', [['send_service_user_token', 'true']]),
  ],
  configSecret: (name) => `${name}-config-data`,
  generatedFile: '01-nova.conf',
  overrideFile: '02-nova-override.conf',
  files: { 'nova-blank.conf': '' },
  binding: computeBinding,
  // nova-compute needs libvirt's sockets.
  steps: [
    {
      name: 'libvirt',
      playbook: 'libvirt.yaml',
      extraVars: ({ spec }) => ({ edpm_libvirt_image: spec['novaLibvirtContainerImage'] }),
    },
    {
      name: 'nova',
      playbook: 'nova.yaml',
      extraVars: ({ spec }) => ({ edpm_nova_compute_image: spec['novaComputeContainerImage'] }),
    },
  ],
  controlPlane: 'compute-host',
}

function credentials(section: string, facts: Readonly<Record<string, string>>): readonly Option[] {
  return options(section, [
    ['auth_type', 'password'],
    ['auth_url', escaped(facts['authUrl'])],
    ['username', escaped(facts['user'])],
    ['password', escaped(facts['password'])],
    ['project_name', 'service'],
    ['user_domain_name', 'Default'],
    ['project_domain_name', 'Default'],
    ['region_name', 'regionOne'],
  ])
}

function options(section: string, pairs: readonly (readonly [string, string])[]): readonly Option[] {
  return pairs.map(([key, value]) => ({ section, key, value }))
}

/** A dollar sign in a password or URL is one, not the name of another option. */
function escaped(value = ''): string {
  return value.replaceAll('$', '$$$$')
}
