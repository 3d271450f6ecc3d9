/**
 * Imports environment files of install_yamls, one cloud each, as one site file; and reports what cannot work there.
 *
 * Pure. What a file sets is kept exactly; upstream's defaults are kept for the first cloud and replaced for the others.
 */
import type { SiteFile, SiteFileCloud, SiteFileNetwork } from '../../api/site.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import {
  type EarlierClouds,
  type EnvCloud,
  type EnvSettings,
  envCloud,
  envSettings,
  formatSpan,
  hasSubnet,
  ipv6Base,
  isDefaultTwice,
  readEnvFile,
} from './env-file.ts'
import { nodesUnknown, notImported } from './findings/install-yamls.ts'
import {
  buildNode,
  type Comment,
  detectIsolation,
  type FileNode,
  formatSite,
  type Imported,
  type ImportSource,
  type NicRoles,
  nicRoles,
  withMtu,
} from './imported-site.ts'
import { type CtlplaneNetwork, planCtlplanes } from './install-yamls-ctlplane.ts'
import { type FixedNetwork, fixedNetworks, upstreamNetworks } from './install-yamls-defaults.ts'
import { reportUpstream } from './install-yamls-report.ts'

export interface InstallYamlsOptions {
  /** The name of the site. */
  readonly name: string
  /** `worker-0=enp6s0`: nodes that the files do not name. */
  readonly nodes?: readonly { readonly name: string; readonly nic?: string }[]
  /** The clouds of the site file that the import is added to. */
  readonly existing?: readonly SiteFileCloud[]
}

export function importInstallYamls(sources: readonly ImportSource[], options: InstallYamlsOptions): Imported {
  const clouds = sources.map((source) => envCloud(envSettings(readEnvFile(source))))
  const [first] = clouds
  if (!first) return { findings: [] }
  const { existing = [] } = options
  const ctlplanes = planCtlplanes(clouds, existing)
  const nics = nicRoles(clouds.map(({ nic }) => nic))
  const nodes = nodesOf(first.env, nics, options)
  const siteClouds = clouds.map((cloud, index) =>
    siteCloud(cloud, { files: clouds.slice(0, index), site: existing }, ctlplanes[index], nics),
  )
  const site: SiteFile = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: options.name },
    spec: {
      cluster: {
        platform: 'openshift',
        nodes: withMtu(nodes, siteClouds),
        dns: dnsOf(first),
        storageClass: first.env.text('STORAGE_CLASS'),
        metallb: metallbOf(first.env),
      },
      addressing: { isolation: detectIsolation(siteClouds), families: first.families },
      clouds: siteClouds,
    },
  }
  const upstream = reportUpstream(clouds, ctlplanes, existing)
  // Last: every part of the import has read its variables.
  const unread = clouds.flatMap(({ env }) => env.unread().flatMap((name) => reportUnread(env, name, first.env)))
  const findings = [
    ...clouds.flatMap(({ env }) => env.findings),
    ...(options.nodes || first.env.sets('NNCP_NODES') ? [] : [unknownNodes(first.env, nodes)]),
    ...upstream,
    ...unread,
  ]
  const head = `Imported from ${sources.map(({ file }) => file).join(', ')} (install_yamls).\nEvery value is a pin: what stands here does not move.`
  return { text: formatSite(site, head, commentsFor(clouds, site)), findings }
}

/** Nodes, DNS, storage class and BGP are those of the site, which the first file decides. */
const SITE_WIDE = /^(?:NNCP_NODES|NNCP_DNS_SERVER(?:_IPV6)?|STORAGE_CLASS|BGP_\w+)$/

/** A variable that no part of the import reads, unless the first file has the same value for the site. */
function reportUnread(env: EnvSettings, name: string, first: EnvSettings): readonly Finding[] {
  if (SITE_WIDE.test(name) && env.text(name) === first.text(name)) return []
  const why = SITE_WIDE.test(name)
    ? `a site has one value for all its clouds, that of ${first.file}`
    : 'nothing that the file asks for uses it'
  return [finding(notImported, { name, why }, env.locate(name))]
}

function siteCloud(
  cloud: EnvCloud,
  earlier: EarlierClouds,
  ctlplane: CtlplaneNetwork | undefined,
  nics: NicRoles,
): SiteFileCloud {
  const { name, namespace, mtu } = cloud
  const role = nics.get(cloud.nic)
  const common: SiteFileNetwork = {
    ...(role !== undefined && role !== 'main' && { nic: role }),
    ...(mtu !== 1500 && { mtu }),
  }
  const networks: Record<string, SiteFileNetwork> = {
    ctlplane: {
      vlan: 'untagged',
      bridge: cloud.env.text('NNCP_BRIDGE'),
      ...common,
      ...(ctlplane && { subnets: [...ctlplane.subnets] }),
    },
  }
  for (const network of upstreamNetworks) {
    const open = isDefaultTwice(cloud, network.prefix, earlier)
    const subnets = open ? undefined : subnetsOf(cloud, network, countEarlier(earlier))
    networks[network.name] = {
      vlan: cloud.vlanOf(network.step),
      ...common,
      ...(subnets && { subnets }),
    }
  }
  for (const network of fixedNetworks) networks[network.name] = fixedNetwork(cloud, network, earlier, common)
  return { name, namespace, networks }
}

/** The first cloud has the numbers that install_yamls gives to every cloud; the planner chooses those of the others. */
function fixedNetwork(
  { families, vlanOf }: EnvCloud,
  { step, ipv4, ipv6, spans, gateway }: FixedNetwork,
  earlier: EarlierClouds,
  common: SiteFileNetwork,
): SiteFileNetwork {
  const { nic: _, ...hostsOnly } = common
  const place: SiteFileNetwork = step === undefined ? { nic: false, ...hostsOnly } : { vlan: vlanOf(step), ...common }
  if (earlier.files.length > 0 || hasSubnet(earlier.site, `${ipv4}.0/24`)) return place
  const subnets = families.map((family) => {
    const base = family === 4 ? `${ipv4}.` : ipv6
    return {
      cidr: family === 4 ? `${base}0/24` : `${base}/64`,
      ...(gateway !== undefined && { gateway: `${base}${gateway}` }),
      spans: Object.fromEntries(Object.entries(spans).map(([role, text]) => [role, formatSpan(base, text)])),
    }
  })
  return { ...place, subnets }
}

function countEarlier({ files, site }: EarlierClouds): number {
  return files.length + site.length
}

type Subnets = NonNullable<SiteFileNetwork['subnets']>

function subnetsOf(cloud: EnvCloud, network: (typeof upstreamNetworks)[number], index: number): Subnets {
  const { env, families } = cloud
  return families.map((family) => {
    // No variable sets the IPv6 prefixes, so every further cloud takes the next one.
    const base = family === 4 ? `${env.prefix(network.prefix)}.` : ipv6Base(network.ipv6, index)
    const cidr = family === 4 ? `${base}0/24` : `${base}/64`
    const spans = Object.fromEntries(
      Object.entries(network.spans).map(([role, text]) => [role, formatSpan(base, text)]),
    )
    return { cidr, spans }
  })
}

function nodesOf(env: EnvSettings, nics: NicRoles, options: InstallYamlsOptions): FileNode[] {
  const named = env
    .text('NNCP_NODES')
    .split(/[\s,]+/)
    .filter(Boolean)
  const given: InstallYamlsOptions['nodes'] =
    options.nodes ?? (named.length > 0 ? named : ['worker-0']).map((name) => ({ name }))
  return given.map(({ name, nic }) => buildNode(name, nics, nic))
}

function unknownNodes(env: EnvSettings, nodes: readonly FileNode[]): Finding {
  const node = nodes[0]?.name ?? ''
  return finding(nodesUnknown, { node, nic: env.text('NNCP_INTERFACE') }, env.locate('NNCP_NODES'))
}

function dnsOf({ env, families }: EnvCloud): string[] {
  return families.map((family) => env.address(family === 4 ? 'NNCP_DNS_SERVER' : 'NNCP_DNS_SERVER_IPV6'))
}

function metallbOf(env: EnvSettings): NonNullable<SiteFile['spec']['cluster']['metallb']> {
  if (!env.flag('NETWORK_BGP')) return { mode: 'layer2' }
  const asn = env.number('BGP_PEER_ASN')
  const peers = ['BGP_LEAF_1', 'BGP_LEAF_2'].map((leaf) => ({ address: env.address(leaf), asn }))
  return { mode: 'bgp', asn: env.number('BGP_ASN'), peers }
}

function commentsFor(clouds: readonly EnvCloud[], site: SiteFile): readonly Comment[] {
  const comments: Comment[] = clouds.map(({ env }, index) => ({
    path: ['spec', 'clouds', index],
    text: `from ${env.file}`,
  }))
  if (site.spec.addressing?.isolation === 'shared-vlan') {
    const text =
      'The files put the same VLANs under every cloud: one L2 domain, in which clouds can reach each other.\nvlan-per-cloud, without the vlan pins below, keeps them apart.'
    comments.push({ path: ['spec', 'addressing'], text })
  }
  return comments
}
