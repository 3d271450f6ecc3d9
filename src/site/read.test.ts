import { describe, expect, it } from 'vitest'
import { smallSite, smallSiteWith } from '../../test/site-files.ts'
import { judge } from './accept.ts'
import * as siteProblems from './findings.ts'
import { readSite } from './read.ts'

function findingsOf(text: string): readonly object[] {
  return readSite(text, 'site.yaml').findings
}

function at(line: number, column: number): object {
  return { file: 'site.yaml', line, column }
}

const cloud = { name: 'rhoso1', namespace: 'openstack' }
const nodes = [{ name: 'worker-0', nic: 'enp6s0' }]

describe('reading a site file', () => {
  it('needs no more than a cluster, its nodes and two clouds', () => {
    const { site, findings } = readSite(smallSite, 'site.yaml')
    expect(findings).toEqual([])
    expect(site?.clouds.map((cloud) => cloud.networks.map((network) => network.name))).toEqual([
      ['ctlplane', 'internalapi', 'storage', 'tenant', 'storagemgmt', 'designate', 'designateext', 'datacentre'],
      ['ctlplane', 'internalapi', 'storage', 'tenant', 'storagemgmt', 'designate', 'designateext', 'datacentre'],
    ])
    expect(site?.addressing).toMatchObject({ isolation: 'vlan-per-cloud', families: [4] })
    expect(site?.cluster.reserved.map((reservedPrefix) => reservedPrefix.cidr)).toContain('172.30.0.0/16')
  })

  it('gives vips to ctlplane, internalapi, storage, tenant and designateext only', () => {
    const { site } = readSite(smallSite, 'site.yaml')
    const withPool = site?.clouds[0]?.networks.filter((network) => network.settings.roles?.includes('vips'))
    expect(withPool?.map((cloudNetwork) => cloudNetwork.name)).toEqual([
      'ctlplane',
      'internalapi',
      'storage',
      'tenant',
      'designateext',
    ])
  })

  it('reports all placeholders of a file in one finding, and nothing else about them', () => {
    const networks = { internalapi: { vlan: '_replaced_', mtu: 'CHANGEME', subnets: [{ cidr: '<cidr>' }] } }
    const reading = readSite(
      smallSiteWith({ networks, clouds: [{ name: 'CHANGEME', namespace: 'CHANGEME' }] }),
      'site.yaml',
    )
    expect(reading.site).toBeUndefined()
    expect(reading.findings).toMatchObject([{ code: 'SL1048' }])
    expect(reading.findings[0]?.message).toContain('5 values are placeholders')
    expect(reading.findings[0]?.message).toContain('spec.networks.internalapi.subnets[0].cidr (line ')
  })

  it('reports an endpoint that is named twice', () => {
    const endpoints = [
      { name: 'a', address: '172.17.0.20' },
      { name: 'a', address: '172.17.0.21' },
    ]
    expect(findingsOf(smallSiteWith({ networks: { internalapi: { endpoints } } }))[0]).toMatchObject({
      code: 'SL2001',
      message: expect.stringMatching(/^there is an endpoint a already/),
    })
  })

  it('adds external or octavia to a cloud that names them, and removes networks that are false', () => {
    const { site } = readSite(
      smallSiteWith({
        networks: {
          external: {},
          designate: false,
          designateext: false,
          backup: { supernets: ['10.9.0.0/16'] },
        },
        clouds: [
          { ...cloud, services: { octavia: true }, networks: { backup: false } },
          { name: 'rhoso2', namespace: 'openstack2', networks: { designate: { vlan: 99 } } },
        ],
      }),
      'site.yaml',
    )
    const names = site?.clouds.map((cloud) => cloud.networks.map((network) => network.name))
    expect(names?.[0]).toContain('octavia')
    expect(names?.[0]).not.toContain('designate')
    expect(names?.[0]).not.toContain('backup')
    expect(names?.[1]).toEqual(expect.arrayContaining(['external', 'designate', 'backup']))
    expect(names?.[1]).not.toContain('octavia')
  })

  it('merges the built-in template, the site template and the pins of a cloud, in this order', () => {
    const text = smallSiteWith({
      networks: { tenant: { mtu: 9000, vlan: 50 } },
      clouds: [{ ...cloud, networks: { tenant: { vlan: 51 } } }],
    })
    const tenant = readSite(text, 'site.yaml').site?.clouds[0]?.networks.find((network) => network.name === 'tenant')
    expect(tenant?.settings).toMatchObject({ mtu: 9000, vlan: 51, attach: 'macvlan' })
    expect(tenant?.layers.map((layer) => layer.path)).toEqual([
      undefined,
      ['spec', 'networks', 'tenant'],
      ['spec', 'clouds', 0, 'networks', 'tenant'],
    ])
  })

  it('replaces the reserved prefixes of a platform by those that the file names, use by use', () => {
    const text = smallSiteWith({
      cluster: { nodes, platform: 'openshift', reserved: { services: ['10.1.0.0/16'] } },
    })
    const reserved = readSite(text, 'site.yaml').site?.cluster.reserved.map((reservedPrefix) => [
      reservedPrefix.use,
      reservedPrefix.cidr,
    ])
    expect(reserved).toContainEqual(['services', '10.1.0.0/16'])
    expect(reserved).not.toContainEqual(['services', '172.30.0.0/16'])
    expect(reserved).toContainEqual(['pods', '10.128.0.0/14'])
  })

  it('reports a misspelt field once, at its key, with the closest name', () => {
    const found = findingsOf(smallSite.replace('rhoso2, namespace', 'rhoso2, namspace'))
    expect(found).toEqual([expect.objectContaining({ code: 'SL1020', where: at(10, 20) })])
    expect(found[0]).toHaveProperty('message', 'spec.clouds[1] has no field namspace; did you mean namespace?')
  })

  it('reports a missing field at the mapping that lacks it', () => {
    const found = findingsOf(smallSite.replace('rhoso2, namespace: openstack2', 'rhoso2'))
    expect(found).toEqual([expect.objectContaining({ code: 'SL1021', where: at(10, 5) })])
    expect(found[0]).toHaveProperty('message', 'spec.clouds[1] needs the field namespace')
  })

  it.each([
    ['{vlan: "20"}', 'SL1022', /expected a number or untagged, found the text "20"/],
    ['{vlan: 1.5}', 'SL1022', /expected a whole number or untagged, found the number 1.5/],
    ['{mtu: [1500]}', 'SL1022', /expected a number, found a list/],
    ['{attach: ipvlan}', 'SL1023', /"ipvlan" is not allowed; expected one of macvlan, bridge, none/],
    ['{bridge: ""}', 'SL1023', /expected a text that is not empty/],
    ['', 'SL1022', /expected a mapping or false, found nothing/],
    ['true', 'SL1022', /expected a mapping or false, found true/],
    ['{subnets: [{gateway: 172.17.0.1}]}', 'SL1021', /subnets\[0\] needs the field cidr/],
    ['{subnets: [{cidr: 172.17.0.0/24, spans: {vip: 172.17.0.80}}]}', 'SL1020', /did you mean vips/],
  ])('says of internalapi: %s what is wrong, in plain words', (written, code, message) => {
    const text = smallSite.replace(
      'namespace: openstack}',
      `namespace: openstack, networks: {internalapi: ${written}}}`,
    )
    const found = findingsOf(text)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ code, message: expect.stringMatching(message) as string })
    expect(found[0]).toHaveProperty('where.line', 9)
  })

  const peer = { address: '172.30.0.1', asn: 64999 }
  const withPeer = (settings: object) => ({
    cluster: { nodes, metallb: { mode: 'bgp' as const, asn: 64998, peers: [{ ...peer, ...settings }] } },
  })
  const withNetwork = (settings: object) => ({ clouds: [{ ...cloud, networks: { internalapi: settings } }] })
  it.each([
    ['mtu 0', withNetwork({ mtu: 0 }), /mtu: the number 0 is not allowed; expected at least 68/],
    ['mtu -1500', withNetwork({ mtu: -1500 }), /at least 68/],
    ['mtu 65536', withNetwork({ mtu: 65536 }), /at most 9216/],
    ['an interface with a path', withNetwork({ interface: '../x;rm -rf' }), /an interface name of letters/],
    ['a bridge with a blank', withNetwork({ bridge: 'br ex' }), /an interface name of letters/],
    ['a NIC with a slash', { cluster: { nodes: [{ name: 'worker-0', nic: 'eth0/1' }] } }, /an interface name/],
    ['a role with such a NIC', { cluster: { nodes: [{ name: 'w', nics: { main: '$(id)' } }] } }, /an interface name/],
    ['the mtu of a node', { cluster: { nodes: [{ name: 'w', nic: 'eth0', mtu: 1 }] } }, /at least 68/],
    ['replicas -3', { clouds: [{ ...cloud, services: { keystone: { replicas: -3 } } }] }, /at least 0/],
    ['asn -1', withPeer({ asn: -1 }), /asn.*expected at least 1/],
    ['asn of 33 bits', withPeer({ asn: 4_294_967_296 }), /asn.*expected at most 4294967295/],
    ['port 99999', withPeer({ port: 99999 }), /port.*expected at most 65535/],
    ['maxUnavailable 0', { cluster: { nodes, maxUnavailable: 0 } }, /maxUnavailable.*expected/],
    ['maxUnavailable many', { cluster: { nodes, maxUnavailable: 'many' } }, /maxUnavailable.*expected/],
  ])('refuses %s, which no cluster can have', (_, spec, message) => {
    const { site, findings } = readSite(smallSiteWith(spec), 'site.yaml')
    expect(site).toBeUndefined()
    expect(findings).toEqual([expect.objectContaining({ message: expect.stringMatching(message) as string })])
  })

  it('reports a wrong value at the value', () => {
    const text = smallSite.replace('nic: enp6s0', 'nic: 6')
    expect(findingsOf(text)).toEqual([expect.objectContaining({ code: 'SL1022', where: at(7, 29) })])
  })

  it('refuses the key __proto__ at its location, also where names and raw fields are free', () => {
    for (const [found, parent] of [
      ['{services: {__proto__: {a: 1}}', 'spec.clouds[0].services'],
      ['{overrides: {controlPlane: {tls: {__proto__: {a: 1}}}}', 'spec.clouds[0].overrides.controlPlane.tls'],
    ] as const) {
      const text = smallSite.replace('{name: rhoso1', `${found}, name: rhoso1`)
      expect(text).not.toBe(smallSite)
      expect(findingsOf(text)).toEqual([
        expect.objectContaining({ code: 'SL1037', message: expect.stringContaining(parent) as string }),
      ])
    }
  })

  it.each([
    ['an empty file', '', 'SL1016'],
    ['a file of comments', '# nothing\n', 'SL1016'],
    ['a list', '- a\n', 'SL1022'],
    ['text', 'hello\n', 'SL1022'],
  ])('refuses %s', (_, text, code) => {
    expect(findingsOf(text)).toEqual([expect.objectContaining({ code })])
    expect(readSite(text, 'site.yaml').site).toBeUndefined()
  })
})

/** One file for every problem of a site file; each triggers this one and no other. */
const triggers: Readonly<Record<keyof typeof siteProblems, string>> = {
  duplicateName: smallSiteWith({ clouds: [cloud, { ...cloud, namespace: 'other' }] }),
  badName: smallSiteWith({ clouds: [{ name: 'RHOSO_1', namespace: 'openstack' }] }),
  unknownReference: smallSiteWith({ clouds: [{ ...cloud, public: { by: 'vip', network: 'internalap' } }] }),
  nodeWithoutNic: smallSiteWith({ cluster: { nodes: [{ name: 'worker-0' }] } }),
  conflictingNics: smallSiteWith({ cluster: { nodes: [{ name: 'worker-0', nic: 'a', nics: { main: 'b' } }] } }),
  networkWithoutSubnets: smallSiteWith({ clouds: [{ ...cloud, networks: { backup: {} } }] }),
  bgpIncomplete: smallSiteWith({ cluster: { nodes, metallb: { mode: 'bgp', asn: 64999 } } }),
  bgpUnused: smallSiteWith({ cluster: { nodes, metallb: { asn: 64999 } } }),
  badLayout: smallSiteWith({ addressing: { layout: { vips: '172.17.0.80-90' } } }),
  badVlanRange: smallSiteWith({ addressing: { vlans: { first: 400, last: 20 } } }),
  acceptUnknown: smallSiteWith({ accept: [{ code: 'SL2999', reason: 'because' }] }),
  acceptUnused: smallSiteWith({ accept: [{ code: 'SL2001', reason: 'because' }] }),
  familyWithoutSupernet: smallSiteWith({
    addressing: { families: [4, 6] },
    networks: { backup: { supernets: ['10.9.0.0/16'] } },
  }),
  subnetTooLarge: smallSiteWith({ networks: { storage: { subnets: [{ cidr: '0.0.0.0/0' }] } } }),
  tooManyClouds: smallSiteWith({
    clouds: Array.from({ length: 10_001 }, (_, index) => ({ name: `c${index}`, namespace: `c${index}` })),
  }),
  hostsOnlyNetwork: smallSiteWith({ networks: { backup: { supernets: ['10.9.0.0/16'], nic: false } } }),
  unlikelyNetworkName: smallSiteWith({ networks: { tenent: { supernets: ['10.9.0.0/16'] } } }),
}

describe('a problem that a plan would repeat for every address', () => {
  it('is the only finding, and there is nothing to plan', () => {
    for (const name of ['duplicateName', 'subnetTooLarge', 'tooManyClouds'] as const) {
      const { site, findings } = readSite(triggers[name], 'site.yaml')
      expect(site).toBeUndefined()
      expect(new Set(findings.map(({ code }) => code)).size).toBe(1)
    }
  })
})

describe('a network with nearly the name of a built-in one', () => {
  const siteWith = (networks: object): string => smallSiteWith({ clouds: [{ ...cloud, networks }] })
  const added = { supernets: ['10.9.0.0/16'] }

  it.each([
    [{ tenent: {} }, 'SL2006'],
    [{ tenent: added }, 'SL2039'],
    [{ tenent: false }, 'SL2039'],
  ])('is reported with that name: %j', (networks, code) => {
    expect(findingsOf(siteWith(networks))).toMatchObject([
      { code, message: expect.stringContaining('did you mean tenant?'), remedy: expect.stringContaining('tenant') },
    ])
  })

  it.each([{ tenent: added, tenant: {} }, { tenant2: added }, { 'storage-b': added }, { backup: added }])(
    'is not a slip if it looks intended: %j',
    (networks) => {
      expect(findingsOf(siteWith(networks))).toEqual([])
    },
  )
})

describe('every problem of a site file', () => {
  const listed = Object.entries(siteProblems) as [keyof typeof siteProblems, { readonly code: string }][]

  it('has a trigger for each of them', () => {
    expect(listed.length).toBeGreaterThan(12)
    expect(Object.keys(triggers).sort()).toEqual(listed.map(([name]) => name).sort())
  })

  it.each(listed.map(([name, { code }]) => [code, name] as const))(
    '%s is the only finding, at its location',
    (code, name) => {
      const { site, findings, locate } = readSite(triggers[name], 'site.yaml')
      const judges = (judged: string): boolean => judged.startsWith('SL2')
      const judged = judge(findings, site?.accept ?? [], { locate, judges })
      expect(new Set(judged.map((finding) => finding.code))).toEqual(new Set([code]))
      expect(judged.length).toBeGreaterThan(0)
      for (const finding of judged) expect(finding.where).toMatchObject({ file: 'site.yaml' })
    },
  )
})
