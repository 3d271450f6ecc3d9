/**
 * Renders globals.yml, with every setting explicit, because Kolla's defaults are not those of the lab.
 *
 * Kolla passes it as extra variables, which override all others, so it contains nothing that differs between nodes.
 */
import { writeYaml } from '../../yaml/write.ts'
import { externalFqdn, internalFqdn, type Lab, usesLvm, usesTls } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'
import { imageTagSuffix, tlsGaps } from './release.ts'

interface Section {
  readonly comments: readonly string[]
  readonly variables: Readonly<Record<string, unknown>>
}

const yesNo = (enabled: boolean): string => (enabled ? 'yes' : 'no')

export function buildGlobals(lab: Lab): Readonly<Record<string, unknown>> {
  const sections = buildSections(lab).map((section) => section.variables)
  return Object.assign({}, ...sections, lab.overrides.globals) as Record<string, unknown>
}

export function globalsFile(lab: Lab): TreeFile {
  const { globals } = lab.overrides
  const sections = buildSections(lab).map(({ comments, variables }) => {
    const notOverridden = Object.entries(variables).filter(([name]) => !(name in globals))
    return renderSection({ comments, variables: Object.fromEntries(notOverridden) })
  })
  const overrides =
    Object.keys(globals).length > 0
      ? [renderSection({ comments: ['From openstack.globals of the lab file.'], variables: globals })]
      : []
  return { path: 'kolla/globals.yml', text: `---\n${banner()}\n${[...sections, ...overrides].join('\n')}` }
}

function renderSection({ comments, variables }: Section): string {
  return comments.map((line) => `# ${line}\n`).join('') + writeYaml(variables)
}

function buildSections(lab: Lab): readonly Section[] {
  return [images(lab), addresses(lab), usesTls(lab) ? tls(lab) : noTls(), network(), services(lab), sizes()]
}

function images(lab: Lab): Section {
  const { base, registry } = lab.containers
  return {
    comments: [
      'For aarch64 upstream publishes Debian images only; the nodes themselves are Ubuntu.',
      'Ubuntu images would have to be built: containers.build in the lab file.',
    ],
    variables: {
      kolla_base_distro: base,
      openstack_release: lab.release,
      openstack_tag_suffix: imageTagSuffix(lab),
      kolla_container_engine: 'docker',
      ...(registry !== undefined && { docker_registry: registry, docker_registry_insecure: 'yes' }),
    },
  }
}

function addresses(lab: Lab): Section {
  return {
    comments: [
      'Both VIPs are outside every DHCP range. The external one is on an interface of its own beside the raw port.',
    ],
    variables: {
      kolla_internal_vip_address: lab.vips.internal,
      kolla_internal_fqdn: internalFqdn(lab),
      kolla_external_vip_address: lab.vips.external,
      kolla_external_fqdn: externalFqdn(lab),
      keepalived_virtual_router_id: String(lab.vips.routerId),
    },
  }
}

function tls(lab: Lab): Section {
  const { internal, external, backend } = lab.tls
  return {
    comments: [
      'TLS with the CA of this lab (certificates/). Without TLS in this release:',
      ...tlsGaps(lab).map(({ what, where }) => `  ${what}: ${where}`),
    ],
    variables: {
      kolla_enable_tls_internal: yesNo(internal),
      kolla_enable_tls_external: yesNo(external),
      kolla_enable_tls_backend: yesNo(backend),
      kolla_copy_ca_into_containers: 'yes',
      openstack_cacert: '/etc/ssl/certs/ca-certificates.crt',
      kolla_admin_openrc_cacert: '{{ kolla_certificates_dir }}/ca/root.crt',
      rabbitmq_enable_tls: yesNo(backend),
      libvirt_tls: yesNo(backend),
    },
  }
}

function noTls(): Section {
  return {
    comments: ['No TLS: the lab file turned it off.'],
    variables: {
      kolla_enable_tls_internal: 'no',
      kolla_enable_tls_external: 'no',
      kolla_enable_tls_backend: 'no',
    },
  }
}

function network(): Section {
  return {
    comments: [
      'OVN carries tenant traffic in Geneve, not VXLAN: instances have an MTU of 1442.',
      'Compute nodes have no external NIC, so floating addresses pass the network node.',
    ],
    variables: {
      neutron_plugin_agent: 'ovn',
      neutron_ovn_distributed_fip: 'no',
      enable_neutron_provider_networks: 'no',
    },
  }
}

function services(lab: Lab): Section {
  const lvm = usesLvm(lab)
  return {
    comments: [
      'The core six, and nothing else. Backup needs Ceph, so it is off before phase 2.',
      'Instances are emulated inside the nodes: config/nova/nova-compute.conf has the CPU model for it.',
    ],
    variables: {
      enable_openstack_core: 'yes',
      enable_keystone: 'yes',
      enable_glance: 'yes',
      enable_nova: 'yes',
      enable_neutron: 'yes',
      enable_horizon: 'yes',
      // Cinder needs a backend from its first start; with Ceph alone it is deployed in phase 2.
      enable_cinder: yesNo(lvm),
      enable_cinder_backend_lvm: yesNo(lvm),
      cinder_volume_group: 'cinder-volumes',
      enable_cinder_backup: 'no',
      // For `stackloom lab backup`.
      enable_mariabackup: 'yes',
      enable_heat: 'no',
      enable_designate: 'no',
      nova_compute_virt_type: 'qemu',
      enable_prometheus: yesNo(lab.monitoring.prometheus),
      enable_grafana: yesNo(lab.monitoring.grafana),
      enable_central_logging: yesNo(lab.logging === 'opensearch'),
      enable_opensearch: yesNo(lab.logging === 'opensearch'),
    },
  }
}

function sizes(): Section {
  return {
    comments: ['Small: one worker per service, and a redo log that fits the disk.'],
    variables: {
      openstack_service_workers: '1',
      openstack_service_rpc_workers: '1',
      mariadb_innodb_log_file_size_mb: '256',
    },
  }
}

/** Kolla-Ansible reads `kolla/globals.d/` after globals.yml, so the file takes effect when it is in that folder. */
function buildCephGlobals(lab: Lab): Readonly<Record<string, unknown>> {
  const monitor = lab.nodes.find((node) => node.roles.includes('ceph-mon'))
  return {
    enable_cinder: 'yes',
    enable_cinder_backend_lvm: yesNo(usesLvm(lab)),
    cinder_backend_ceph: 'yes',
    glance_backend_ceph: 'yes',
    glance_backend_file: 'no',
    nova_backend_ceph: 'yes',
    enable_cinder_backup: 'yes',
    cinder_backup_driver: 'ceph',
    ...(lab.monitoring.prometheus &&
      monitor && {
        enable_prometheus_ceph_mgr_exporter: 'yes',
        prometheus_ceph_mgr_exporter_endpoints: [`${monitor.address}:9283`],
      }),
  }
}

export function cephGlobalsFiles(lab: Lab, ready: boolean): readonly TreeFile[] {
  const text = `---\n${banner('Phase 2: the stage `ceph` puts it into kolla/globals.d when the cluster is up.')}${writeYaml(buildCephGlobals(lab))}`
  const waiting = { path: 'ceph/20-ceph.yml', text }
  return ready ? [waiting, { path: 'kolla/globals.d/20-ceph.yml', text }] : [waiting]
}
