/** Checks settings of the lab file that Kolla-Ansible would refuse or silently ignore. */
import { type FileLocation, type Finding, finding } from '../../errors/finding.ts'
import {
  imagesNotPublished,
  imageWithoutChecksum,
  invalidRouterId,
  managedVariable,
  perNodeInGlobals,
  refusedByPrechecks,
  removedVariable,
  tgtdWithoutTarget,
  unknownVariable,
  vipsEqual,
} from '../findings/kolla.ts'
import { type KnownVariables, knownVariables } from '../kolla/release.ts'
import type { CheckContext } from './check-lab.ts'

/** Variables that differ between nodes, so they belong in host_vars. */
const PER_NODE = new Set([
  'network_interface',
  'api_interface',
  'tunnel_interface',
  'migration_interface',
  'dns_interface',
  'neutron_external_interface',
  'kolla_external_vip_interface',
  'tgtd_interface_address',
  'ansible_host',
  'ansible_user',
  'ansible_ssh_private_key_file',
])

/** Variables that another field of the lab file sets. */
const MANAGED: Readonly<Record<string, string>> = {
  kolla_internal_vip_address: 'vips.internal',
  kolla_external_vip_address: 'vips.external',
  kolla_internal_fqdn: 'dns.domain',
  kolla_external_fqdn: 'dns.domain',
  keepalived_virtual_router_id: 'vips.routerId',
  openstack_release: 'openstack.release',
  kolla_base_distro: 'containers.base',
  openstack_tag_suffix: 'vm.arch',
  kolla_enable_tls_internal: 'tls.internal',
  kolla_enable_tls_external: 'tls.external',
  kolla_enable_tls_backend: 'tls.backend',
  enable_cinder_backend_lvm: 'storage.phase',
  cinder_backend_ceph: 'storage.phase',
  glance_backend_ceph: 'storage.phase',
  nova_backend_ceph: 'storage.phase',
  enable_prometheus: 'monitoring.prometheus',
  enable_grafana: 'monitoring.grafana',
  enable_central_logging: 'logging',
  docker_registry: 'containers.registry',
}

/** Variables that Kolla-Ansible removed, with the remedy. */
const REMOVED: Readonly<Record<string, string>> = {
  storage_interface: 'remove it: tgtd_interface_address and target_ip_address put iSCSI on the storage network already',
  swift_storage_interface: 'remove it: Kolla-Ansible no longer deploys Swift',
}

const isEnabled = (value: unknown): boolean => ['yes', 'true', true].includes(value as string | boolean)

/** Why prechecks would refuse a value. */
const REFUSED: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  enable_ceph: (value) => (isEnabled(value) ? 'Kolla-Ansible no longer deploys Ceph; use storage.phase' : undefined),
  enable_redis: (value) => (isEnabled(value) ? 'Redis was replaced by Valkey' : undefined),
  fernet_token_expiry: (value) =>
    Number.isInteger(Number(value)) && Number(value) <= 604_800 && Number(value) > 0
      ? undefined
      : 'it must be a number of seconds up to 604800',
  neutron_dns_domain: (value) =>
    String(value).endsWith('.') ? undefined : 'with DNS integration it must end with a dot',
  kolla_container_engine: (value) =>
    value === 'docker' || value === 'podman' ? undefined : 'it must be docker or podman',
  neutron_plugin_agent: (value) => (value === 'ovn' ? undefined : 'the lab supports only ovn'),
}

export function checkKolla(context: CheckContext): readonly Finding[] {
  return [...checkOverrides(context), ...checkVips(context), ...checkImages(context)]
}

/** Reads the list of known variables, which is long, only when the file sets any. */
function checkOverrides(context: CheckContext): readonly Finding[] {
  const { globals, hostVars } = context.lab.overrides
  if (Object.keys(globals).length === 0 && Object.keys(hostVars).length === 0) return []
  const known = knownVariables(context.lab)
  return [...checkGlobals(context, known), ...checkHostVars(context, known)]
}

function checkGlobals({ lab, locateKey }: CheckContext, known: KnownVariables): readonly Finding[] {
  return Object.entries(lab.overrides.globals).flatMap(([variable, value]): readonly Finding[] => {
    const where = locateKey('openstack', 'globals', variable)
    if (PER_NODE.has(variable)) return [finding(perNodeInGlobals, { variable }, { where })]
    const instead = REMOVED[variable]
    if (instead !== undefined) return [finding(removedVariable, { variable, instead }, { where })]
    const field = MANAGED[variable]
    if (field !== undefined) return [finding(managedVariable, { variable, field }, { where })]
    const why = REFUSED[variable]?.(value)
    if (why !== undefined) return [finding(refusedByPrechecks, { variable, why }, { where })]
    return known.has(variable) ? [] : [reportUnknown(variable, known, where)]
  })
}

function checkHostVars({ lab, locateKey }: CheckContext, known: KnownVariables): readonly Finding[] {
  return Object.entries(lab.overrides.hostVars).flatMap(([node, variables]) =>
    Object.keys(variables).flatMap((variable): readonly Finding[] => {
      const where = locateKey('openstack', 'hostVars', node, variable)
      const instead = REMOVED[variable]
      if (instead !== undefined) return [finding(removedVariable, { variable, instead }, { where })]
      if (variable === 'tgtd_interface_address') {
        const facts = { node, has: variable, lacks: 'target_ip_address' }
        return [finding(tgtdWithoutTarget, facts, { where })]
      }
      return known.has(variable) ? [] : [reportUnknown(variable, known, where)]
    }),
  )
}

function reportUnknown(variable: string, known: KnownVariables, where: FileLocation): Finding {
  return finding(unknownVariable, { variable, nearest: known.nearest(variable) }, { where })
}

function checkVips({ lab, locate }: CheckContext): readonly Finding[] {
  const { vips } = lab
  const found: Finding[] = []
  if (vips.routerId < 1 || vips.routerId > 255)
    found.push(finding(invalidRouterId, { id: vips.routerId }, { where: locate('vips', 'routerId') }))
  if (vips.internal === vips.external)
    found.push(finding(vipsEqual, { address: vips.external }, { where: locate('vips', 'external') }))
  return found
}

function checkImages({ lab, file, locate }: CheckContext): readonly Finding[] {
  const found: Finding[] = []
  const { base, build } = lab.containers
  if (base === 'ubuntu' && lab.arch === 'aarch64' && Array.isArray(build) && !file.spec.containers?.registry) {
    const facts = { tag: `${lab.release}-ubuntu-noble-aarch64` }
    found.push(finding(imagesNotPublished, facts, { where: locate('containers', 'build') }))
  }
  if (lab.image.sha256 === undefined) {
    const image = lab.image.kind === 'path' ? lab.image.path : `Ubuntu 24.04 of ${lab.image.date}`
    found.push(finding(imageWithoutChecksum, { image }, { where: locate('vm', 'image') }))
  }
  return found
}
