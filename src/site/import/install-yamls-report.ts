/** Reports what in environment files cannot work with install_yamls itself, at the variable. */
import type { SiteFileCloud } from '../../api/site.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { cidr } from '../../net/cidr.ts'
import { addressPurposes } from '../../net/special.ts'
import { type EarlierClouds, type EnvCloud, firstEarlier, hasSubnet, isDefaultTwice } from './env-file.ts'
import {
  duplicateDefault,
  literalStays,
  netConfigStays,
  nncpOverwritten,
  notImported,
  poolOnHosts,
  poolsDeleted,
  publicPrefix,
  sharedSubnet,
  upstreamBgp,
  upstreamDualStack,
} from './findings/install-yamls.ts'
import type { CtlplaneNetwork } from './install-yamls-ctlplane.ts'
import { fixedNetworks, installYamlsDefaults, upstreamNetworks } from './install-yamls-defaults.ts'

export function reportUpstream(
  clouds: readonly EnvCloud[],
  ctlplanes: readonly CtlplaneNetwork[],
  site: readonly SiteFileCloud[],
): readonly Finding[] {
  return clouds.flatMap((cloud, index) => [
    ...reportNetworks(cloud, { files: clouds.slice(0, index), site }),
    ...reportCtlplane(cloud, ctlplanes[index]),
    ...reportSecond(cloud, clouds.slice(0, index)),
    ...reportModes(cloud),
    ...reportLeftOut(cloud),
  ])
}

function reportNetworks(cloud: EnvCloud, earlier: EarlierClouds): readonly Finding[] {
  const { env, name, families } = cloud
  if (!families.includes(4)) return []
  const findings: Finding[] = []
  const moved: string[] = []
  const repeated: string[] = []
  let movedAt = env.locate('NAMESPACE')
  for (const network of upstreamNetworks) {
    const prefix = env.prefix(network.prefix)
    const text = `${prefix}.0/24`
    if (isDefaultTwice(cloud, network.prefix, earlier)) {
      repeated.push(network.name)
      continue
    }
    if (prefix !== installYamlsDefaults[network.prefix] && network.spans.hosts) {
      if (moved.length === 0) movedAt = env.locate(network.prefix)
      moved.push(`${network.name} ${text}`)
    }
    if (network.literal && prefix !== network.literal) {
      const facts = {
        what: `the attachments of ${network.name}`,
        variable: network.prefix,
        literal: network.literal,
      }
      findings.push(finding(literalStays, facts, env.locate(network.prefix)))
    }
    if (addressPurposes(cidr(text)).includes('public')) {
      const facts = { cloud: name, network: network.name, cidr: text, variable: network.prefix }
      findings.push(finding(publicPrefix, facts, env.locate(network.prefix)))
    }
  }
  if (moved.length > 0) findings.push(finding(netConfigStays, { cloud: name, networks: moved }, movedAt))
  const first = firstEarlier(earlier)
  for (const network of fixedNetworks) {
    if (earlier.files.length > 0 || hasSubnet(earlier.site, `${network.ipv4}.0/24`)) repeated.push(network.name)
  }
  if (first !== undefined && repeated.length > 0) {
    const facts = { cloud: name, first, networks: repeated }
    findings.push(finding(duplicateDefault, facts, env.locate('NAMESPACE')))
  }
  return findings
}

function reportCtlplane({ env, name }: EnvCloud, ctlplane: CtlplaneNetwork | undefined): readonly Finding[] {
  const findings: Finding[] = []
  if (ctlplane?.shared) {
    const where = env.locate('NNCP_CTLPLANE_IP_ADDRESS_PREFIX')
    findings.push(finding(sharedSubnet, { cloud: name, ...ctlplane.shared }, where))
  }
  if (ctlplane?.clash) {
    findings.push(finding(poolOnHosts, { cloud: name, ...ctlplane.clash }, env.locate('METALLB_POOL')))
  }
  return findings
}

function reportSecond({ env, name, nic }: EnvCloud, earlier: readonly EnvCloud[]): readonly Finding[] {
  const [first] = earlier
  if (!first) return []
  const findings = [finding(poolsDeleted, { cloud: name, first: first.name }, env.locate('METALLB_POOL'))]
  const same = earlier.find((other) => other.nic === nic)
  if (!same) return findings
  return [finding(nncpOverwritten, { cloud: name, first: same.name, nic }, env.locate('NNCP_INTERFACE')), ...findings]
}

function reportModes({ env, name, families, vlanOf }: EnvCloud): readonly Finding[] {
  const findings: Finding[] = []
  if (families.length > 1)
    findings.push(finding(upstreamDualStack, { cloud: name }, env.locate('NETWORK_ISOLATION_IPV6')))
  if (env.flag('NETWORK_BGP')) {
    const peers = [env.address('BGP_LEAF_1'), env.address('BGP_LEAF_2')]
    findings.push(finding(upstreamBgp, { cloud: name, peers }, env.locate('NETWORK_BGP')))
  }
  if (vlanOf(0) !== 20 || vlanOf(1) !== 21) {
    const variable = vlanOf(0) === 20 ? 'NETWORK_VLAN_STEP' : 'NETWORK_VLAN_START'
    const facts = { what: 'the L2Advertisements', variable, literal: 'VLANs 20, 21, 22 and 26' }
    findings.push(finding(literalStays, facts, env.locate(variable)))
  }
  return findings
}

/** Settings that a site file has, but that the variable does not define completely. */
function reportLeftOut({ env }: EnvCloud): readonly Finding[] {
  const routes = ['NNCP_ADDITIONAL_HOST_ROUTES', ...upstreamNetworks.flatMap(({ routes: name }) => name ?? [])]
  const why: readonly (readonly [string, string])[] = [
    ...routes.map((name) => [name, 'its routes have no next hop, and a site file needs one'] as const),
    ['NETWORK_STORAGE_MACVLAN', 'a macvlan interface of the host has no counterpart'],
  ]
  const findings = why
    .filter(([name]) => env.sets(name))
    .map(([name, reason]) => finding(notImported, { name, why: reason }, env.locate(name)))
  if (env.flag('NETWORK_ISOLATION')) return findings
  const reason = 'a cloud without isolated networks is no part of a site; the default networks were imported'
  return [
    ...findings,
    finding(notImported, { name: 'NETWORK_ISOLATION=false', why: reason }, env.locate('NETWORK_ISOLATION')),
  ]
}
