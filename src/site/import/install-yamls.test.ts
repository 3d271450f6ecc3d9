import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { SiteFile, SiteFileNetwork } from '../../api/site.ts'
import { readSite } from '../read.ts'
import * as problems from './findings/install-yamls.ts'
import type { Imported, ImportSource } from './imported-site.ts'
import { importInstallYamls } from './install-yamls.ts'

const folder = path.join(import.meta.dirname, '../../../examples/install-yamls')
const document000 = ['rhoso1-config.env', 'rhoso2-config.env'].map((file) => ({
  file,
  text: readFileSync(path.join(folder, file), 'utf8'),
}))

function importing(...texts: readonly string[]): Imported {
  const sources: readonly ImportSource[] = texts.map((text, index) => ({ file: `${index + 1}.env`, text }))
  return importInstallYamls(sources, { name: 'lab', nodes: [{ name: 'worker-0', nic: 'enp6s0' }] })
}

function siteOf({ text = '' }: Imported): SiteFile {
  return parse(text) as SiteFile
}

function network(site: SiteFile, cloud: number, name: string): SiteFileNetwork {
  return site.spec.clouds[cloud]?.networks?.[name] as SiteFileNetwork
}

describe('importing environment files of install_yamls', () => {
  const imported = importInstallYamls(document000, { name: 'document-000' })
  const site = siteOf(imported)

  it('writes a readable file without findings', async () => {
    expect(readSite(imported.text ?? '', 'site.yaml').findings).toEqual([])
    await expect(imported.text).toMatchFileSnapshot('__golden__/document-000.yaml')
  })

  it('keeps the numbers of the two files exactly', () => {
    const vips = site.spec.clouds.map((_, index) => network(site, index, 'ctlplane').subnets?.[0]?.spans?.vips)
    expect(vips).toEqual(['192.168.122.80-192.168.122.90', '192.168.122.100-192.168.122.110'])
    const cidrs = (name: string) => [0, 1].map((cloud) => network(site, cloud, name).subnets?.[0]?.cidr)
    expect(cidrs('internalapi')).toEqual(['172.17.0.0/24', '172.27.0.0/24'])
    expect(cidrs('storage')).toEqual(['172.18.0.0/24', '172.29.0.0/24'])
    expect(cidrs('tenant')).toEqual(['172.19.0.0/24', '172.31.0.0/24'])
    expect(network(site, 1, 'tenant').subnets?.[0]?.spans?.hosts).toBe('172.31.0.100-172.31.0.250')
  })

  it('imports the networks that no variable sets, and leaves those of a second cloud to the planner', () => {
    expect(network(site, 0, 'octavia')).toEqual({
      vlan: 24,
      subnets: [{ cidr: '172.23.0.0/24', spans: { pods: '172.23.0.30-172.23.0.70' } }],
    })
    expect(network(site, 0, 'external')).toEqual({
      nic: false,
      subnets: [{ cidr: '10.0.0.0/24', gateway: '10.0.0.1', spans: { hosts: '10.0.0.100-10.0.0.250' } }],
    })
    expect(network(site, 1, 'octavia')).toEqual({ vlan: 24 })
    expect(network(site, 1, 'external')).toEqual({ nic: false })
  })

  it('shares VLANs 20 to 26 of which 24 is that of octavia', () => {
    const names = ['internalapi', 'storage', 'tenant', 'storagemgmt', 'designate', 'designateext']
    for (const cloud of [0, 1]) {
      expect(names.map((name) => network(site, cloud, name).vlan)).toEqual([20, 21, 22, 23, 25, 26])
      expect(network(site, cloud, 'ctlplane')).toMatchObject({ vlan: 'untagged', bridge: 'ospbr' })
    }
    expect(site.spec.addressing?.isolation).toBe('shared-vlan')
  })

  it('reports what cannot work with install_yamls, at the variable', () => {
    const told = imported.findings.map(({ code, where }) => [code, where])
    expect(told).toEqual([
      ['SL2074', { file: 'rhoso1-config.env', line: 1, column: 1 }],
      ['SL2079', { file: 'rhoso1-config.env', line: 1, column: 1 }],
      ['SL2075', { file: 'rhoso2-config.env', line: 5, column: 43 }],
      ['SL2080', { file: 'rhoso2-config.env', line: 3, column: 18 }],
      ['SL2081', { file: 'rhoso2-config.env', line: 1, column: 1 }],
      ['SL2078', { file: 'rhoso2-config.env', line: 4, column: 21 }],
      ['SL2076', { file: 'rhoso2-config.env', line: 1, column: 1 }],
      ['SL2077', { file: 'rhoso2-config.env', line: 4, column: 21 }],
    ])
    const clash = imported.findings.find(({ code }) => code === 'SL2078')
    expect(clash?.remedy).toContain('192.168.122.121-192.168.122.131')
  })

  it('gives a cloud on another NIC its own segments', () => {
    const two = siteOf(importing('NAMESPACE=a\n', 'NAMESPACE=b\nNNCP_INTERFACE=enp7s0\nNETWORK_VLAN_START=30\n'))
    expect(two.spec.cluster.nodes).toEqual([{ name: 'worker-0', nics: { main: 'enp6s0', enp7s0: 'enp7s0' } }])
    expect(network(two, 1, 'internalapi')).toMatchObject({ nic: 'enp7s0', vlan: 30 })
    expect(two.spec.addressing?.isolation).toBe('vlan-per-cloud')
  })

  it('imports both families, BGP, another ctlplane and the mtu', () => {
    const text = [
      'NAMESPACE=a',
      'NETWORK_ISOLATION_IPV6=true',
      'NETWORK_BGP=true',
      'NETWORK_ISOLATION_USE_DEFAULT_NETWORK=false',
      'NETWORK_MTU=9000',
      "NNCP_NODES='worker-0 worker-1'",
    ].join('\n')
    const one = siteOf(importInstallYamls([{ file: 'a.env', text }], { name: 'lab' }))
    expect(one.spec.addressing?.families).toEqual([4, 6])
    expect(network(one, 0, 'ctlplane').subnets?.map(({ cidr, gateway }) => [cidr, gateway])).toEqual([
      ['172.16.1.0/24', '172.16.1.1'],
      ['fd00:aaaa::/64', 'fd00:aaaa::1'],
    ])
    expect(network(one, 0, 'internalapi').subnets?.[1]?.spans?.vips).toBe('fd00:bbbb::80-fd00:bbbb::90')
    expect(one.spec.cluster.metallb).toMatchObject({
      mode: 'bgp',
      asn: 64999,
      peers: [{ address: '100.65.4.1' }, {}],
    })
    expect(one.spec.cluster.nodes).toEqual([
      { name: 'worker-0', nic: 'enp6s0', mtu: 9000 },
      { name: 'worker-1', nic: 'enp6s0', mtu: 9000 },
    ])
  })
})

/** For every problem, environment files that have it. */
const triggers: Readonly<Record<keyof typeof problems, readonly string[]>> = {
  envLine: ['NAMESPACE=a\nsource ./other.env\n'],
  envValue: ['NAMESPACE=a\nNETWORK_TENANT_ADDRESS_PREFIX=172.19\n'],
  envUnknown: ['NETWORK_INTERNALAPI_ADRESS_PREFIX=172.27.0\n'],
  envIgnored: ['GLANCE_PASSWORD=x\n'],
  nodesUnknown: [''],
  netConfigStays: ['NETWORK_TENANT_ADDRESS_PREFIX=172.22.0\n'],
  nncpOverwritten: ['NAMESPACE=a\n', 'NAMESPACE=b\n'],
  poolsDeleted: ['NAMESPACE=a\n', 'NAMESPACE=b\nNNCP_INTERFACE=enp7s0\n'],
  poolOnHosts: ['METALLB_POOL=192.168.122.115-192.168.122.125\n'],
  publicPrefix: ['NETWORK_DESIGNATE_EXT_ADDRESS_PREFIX=172.50.0\n'],
  duplicateDefault: ['NAMESPACE=a\n', 'NAMESPACE=b\n'],
  sharedSubnet: ['NAMESPACE=a\n', 'NAMESPACE=b\n'],
  literalStays: ['NETWORK_VLAN_START=40\n'],
  upstreamDualStack: ['NETWORK_ISOLATION_IPV6=true\n'],
  upstreamBgp: ['NETWORK_BGP=true\n'],
  notImported: ['STORAGE_HOST_ROUTES=172.40.0.0/24\n'],
}

describe('every problem of environment files', () => {
  const listed = Object.entries(problems) as [keyof typeof problems, { readonly code: string }][]

  it.each(listed.map(([name, { code }]) => [code, name] as const))('%s is found and has a place', (code, name) => {
    const sources = triggers[name].map((text, index) => ({ file: `${index + 1}.env`, text }))
    const { findings } = importInstallYamls(sources, { name: 'lab' })
    const found = findings.filter((finding) => finding.code === code)
    expect(found).toHaveLength(1)
    expect(found[0]).toHaveProperty('where.line')
  })

  it('reads the names that the scripts for several clouds use: OPENSTACK_NAMESPACE, CTLPLANE_METALLB_POOL', () => {
    const imported = siteOf(
      importing(
        'NAMESPACE=openstack\n',
        'NAMESPACE=ignored\nOPENSTACK_NAMESPACE=openstack2\nCTLPLANE_METALLB_POOL=192.168.122.110-192.168.122.120\n',
      ),
    )
    const { clouds } = imported.spec

    expect(clouds[1]).toMatchObject({ name: 'openstack2', namespace: 'openstack2' })
    const subnets = clouds.map((_, index) => network(imported, index, 'ctlplane').subnets?.[0])
    expect(subnets.map((subnet) => subnet?.spans?.vips)).toEqual([
      '192.168.122.80-192.168.122.90',
      '192.168.122.110-192.168.122.120',
    ])
  })

  it('finds the pool of CTLPLANE_METALLB_POOL on the hosts of NetConfig', () => {
    const { findings } = importing('CTLPLANE_METALLB_POOL=192.168.122.110-192.168.122.120\n')
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: problems.poolOnHosts.code,
        where: expect.objectContaining({ line: 1 }) as object,
      }),
    )
  })

  it('expands defaults of a reference, and skips a line with another form of expansion', () => {
    const { findings, text = '' } = importing('export NAMESPACE="${NAMESPACE:-cloud7}"\nNNCP_BRIDGE=${A:-br}${B-0}\n')
    expect(findings.map(({ code }) => code)).toEqual([problems.publicPrefix.code])
    expect(siteOf({ text, findings }).spec.clouds[0]).toMatchObject({
      namespace: 'cloud7',
      networks: { ctlplane: { bridge: 'br0' } },
    })
    const refused = importing('NAMESPACE=${OTHER%%-*}\n')
    expect(refused.findings).toContainEqual(expect.objectContaining({ code: problems.envLine.code }))
    expect(refused.text).not.toContain('${')
  })

  it('reports every variable that it knows and does not use, with its line', () => {
    const { findings } = importing('NAMESPACE=a\n', 'NAMESPACE=b\nNNCP_DNS_SERVER=10.0.0.53\nBGP_ASN=65001\n')
    const left = findings.filter(({ code }) => code === problems.notImported.code)
    expect(left.map(({ message, where }) => [message, (where as { line: number }).line])).toEqual([
      ['NNCP_DNS_SERVER was left out: a site has one value for all its clouds, that of 1.env', 2],
      ['BGP_ASN was left out: a site has one value for all its clouds, that of 1.env', 3],
    ])
  })
})
