/**
 * Renders the resources of the cloud as Terraform: networks, router, flavors, image, keypair, security groups, volume
 * types. It must contain no null_resource and nothing about the VMs of the host.
 */
import { formatValue } from '../../net/address.ts'
import { parseCidr } from '../../net/cidr.ts'
import { instanceNameserver, type Lab, usesCeph, usesLvm, usesTls } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'
import { type HclBlock, modulePath, ref, writeHcl } from './hcl.ts'

export const TERRAFORM_FOLDER = 'terraform/openstack'

export function terraformFiles(lab: Lab): readonly TreeFile[] {
  const file = (name: string, blocks: readonly HclBlock[]): TreeFile => ({
    path: `${TERRAFORM_FOLDER}/${name}.tf`,
    text: `${banner()}\n${writeHcl(blocks)}`,
  })
  return [
    file('provider', provider(lab)),
    file('networks', networks(lab)),
    file('compute', compute(lab)),
    file('security', security()),
    file('volumes', volumeTypes(lab)),
    file('outputs', outputs()),
  ]
}

function resource(kind: string, name: string, block: Omit<HclBlock, 'kind' | 'labels'>): HclBlock {
  return { kind: 'resource', labels: [`openstack_${kind}`, name], ...block }
}

function provider(lab: Lab): readonly HclBlock[] {
  return [
    {
      kind: 'terraform',
      attributes: { required_version: '>= 1.5' },
      blocks: [
        {
          kind: 'required_providers',
          attributes: {
            openstack: { map: { source: 'terraform-provider-openstack/openstack', version: '~> 3.4' } },
          },
        },
      ],
    },
    {
      kind: 'provider',
      labels: ['openstack'],
      comment: 'kolla/clouds.yaml is written by the stage post-deploy; OS_CLIENT_CONFIG_FILE points to it.',
      attributes: {
        cloud: 'kolla-admin',
        ...(usesTls(lab) && { cacert_file: ref('"${path.module}/../../kolla/certificates/ca/root.crt"') }),
      },
    },
  ]
}

function networks(lab: Lab): readonly HclBlock[] {
  const { external } = lab.networks
  const [start = '', end = ''] = external.floating.split('-')
  const tenant = lab.terraform.tenantSubnet
  return [
    resource('networking_network_v2', 'external', {
      comment: 'br-ex is physnet1, untagged.',
      attributes: { name: 'external', external: true, shared: false, admin_state_up: true },
      blocks: [{ kind: 'segments', attributes: { network_type: 'flat', physical_network: 'physnet1' } }],
    }),
    resource('networking_subnet_v2', 'external', {
      comment: 'Floating addresses lie above the DHCP range of macOS, which serves this network too.',
      attributes: {
        name: 'external',
        network_id: ref('openstack_networking_network_v2.external.id'),
        cidr: external.subnet,
        gateway_ip: external.gateway,
        enable_dhcp: false,
      },
      blocks: [{ kind: 'allocation_pool', attributes: { start, end } }],
    }),
    resource('networking_network_v2', 'demo', { attributes: { name: 'demo', admin_state_up: true } }),
    resource('networking_subnet_v2', 'demo', {
      attributes: {
        name: 'demo',
        network_id: ref('openstack_networking_network_v2.demo.id'),
        cidr: tenant,
        gateway_ip: firstAddress(tenant),
        dns_nameservers: [instanceNameserver(lab)],
      },
    }),
    resource('networking_router_v2', 'demo', {
      attributes: { name: 'demo', external_network_id: ref('openstack_networking_network_v2.external.id') },
    }),
    resource('networking_router_interface_v2', 'demo', {
      attributes: {
        router_id: ref('openstack_networking_router_v2.demo.id'),
        subnet_id: ref('openstack_networking_subnet_v2.demo.id'),
      },
    }),
  ]
}

function firstAddress(subnet: string): string {
  const network = parseCidr(subnet)
  return network ? formatValue(network.family, network.base + 1n) : subnet
}

/** Otherwise it is a URL, from which Terraform downloads the image. */
export function isLocalImage(file: string): boolean {
  return !/^[a-z]+:/.test(file)
}

function compute(lab: Lab): readonly HclBlock[] {
  const { image, flavors } = lab.terraform
  const path = image.file.startsWith('/') ? image.file : modulePath(image.file)
  const local = isLocalImage(image.file) ? { local_file_path: path } : { image_source_url: image.file }
  return [
    ...flavors.map(({ name, vcpus, ram, disk }) =>
      resource('compute_flavor_v2', name.replaceAll(/[^A-Za-z0-9_-]/g, '_'), {
        attributes: { name, vcpus, ram, disk, is_public: true },
      }),
    ),
    resource('images_image_v2', 'default', {
      comment: 'The stage `resources` fetches CirrOS; put any other file there first.',
      attributes: {
        name: image.name,
        container_format: 'bare',
        disk_format: 'qcow2',
        visibility: 'public',
        ...local,
        properties: { map: { architecture: lab.arch, hw_firmware_type: 'uefi' } },
      },
    }),
    resource('compute_keypair_v2', 'lab', {
      attributes: {
        name: lab.name,
        public_key: ref('trimspace(file("${path.module}/../../ssh/id_ed25519.pub"))'),
      },
    }),
  ]
}

function security(): readonly HclBlock[] {
  const rule = (name: string, attributes: HclBlock['attributes']): HclBlock =>
    resource('networking_secgroup_rule_v2', name, {
      attributes: {
        direction: 'ingress',
        ethertype: 'IPv4',
        ...attributes,
        remote_ip_prefix: '0.0.0.0/0',
        security_group_id: ref('openstack_networking_secgroup_v2.lab.id'),
      },
    })
  return [
    resource('networking_secgroup_v2', 'lab', {
      attributes: { name: 'lab', description: 'SSH and ping from everywhere in the lab' },
    }),
    rule('ssh', { protocol: 'tcp', port_range_min: 22, port_range_max: 22 }),
    rule('ping', { protocol: 'icmp' }),
  ]
}

function volumeTypes(lab: Lab): readonly HclBlock[] {
  const kind = (name: string, backend: string): HclBlock =>
    resource('blockstorage_volume_type_v3', name, {
      attributes: { name, extra_specs: { map: { volume_backend_name: backend } } },
    })
  return [...(usesLvm(lab) ? [kind('lvm', 'lvm-1')] : []), ...(usesCeph(lab) ? [kind('ceph', 'rbd-1')] : [])]
}

function outputs(): readonly HclBlock[] {
  const output = (name: string, value: string): HclBlock => ({
    kind: 'output',
    labels: [name],
    attributes: { value: ref(value) },
  })
  return [
    output('external_network', 'openstack_networking_network_v2.external.name'),
    output('demo_network', 'openstack_networking_network_v2.demo.name'),
    output('router_address', 'openstack_networking_router_v2.demo.external_fixed_ip[0].ip_address'),
  ]
}
