/**
 * Renders what a new machine reads at its first boot: its users and its control plane address.
 *
 * Pure. Both are JSON, which cloud-init reads as YAML.
 */

import { parseAddress } from '../../net/address.ts'
import type { BaremetalTemplate } from '../kinds/baremetal-template.ts'

export interface FirstBoot {
  readonly hostName: string
  readonly authorizedKeys: string
  readonly rootPassword: string | undefined
}

export function renderUserData(
  template: BaremetalTemplate,
  { hostName, authorizedKeys, rootPassword }: FirstBoot,
): string {
  const fqdn = template.domainName ? `${hostName}.${template.domainName}` : hostName
  const content = {
    hostname: hostName,
    fqdn,
    users: [
      {
        name: template.cloudUserName ?? 'cloud-admin',
        lock_passwd: true,
        sudo: 'ALL=(ALL) NOPASSWD:ALL',
        ssh_authorized_keys: authorizedKeys.split('\n').filter((line) => line.trim() !== ''),
      },
    ],
    ...(rootPassword !== undefined && {
      chpasswd: { expire: false, list: `root:${rootPassword}` },
      disable_root: false,
    }),
  }
  return `#cloud-config\n${JSON.stringify(content, null, 2)}\n`
}

/** OpenStack's network_data with one link and one address. */
export function renderNetworkData(template: BaremetalTemplate, address: string): string {
  const link = template.ctlplaneInterface
  const [ip = ''] = address.split('/')
  const family = parseAddress(ip)?.family
  const content = {
    links: [{ id: link, name: link, type: 'vif' }],
    networks:
      family === undefined
        ? []
        : [
            {
              id: 'ctlplane',
              link,
              type: family === 6 ? 'ipv6' : 'ipv4',
              ip_address: ip,
              netmask: template.ctlplaneNetmask ?? '255.255.255.0',
              routes: template.ctlplaneGateway
                ? [
                    {
                      network: family === 6 ? '::' : '0.0.0.0',
                      netmask: family === 6 ? '::' : '0.0.0.0',
                      gateway: template.ctlplaneGateway,
                    },
                  ]
                : [],
            },
          ],
    services: (template.bootstrapDns ?? []).map((address) => ({ type: 'dns', address })),
  }
  return `${JSON.stringify(content, null, 2)}\n`
}
