/**
 * Lints a site before addresses are assigned: namespaces, hosts, limits, pool names.
 *
 * Pure. Other names, and references between them, are checked when the file is read.
 */
import { explainReservedNamespace } from '../../api/reserved-namespace.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Cloud, Site } from '../../site/site.ts'
import { formatOwner, type Locate } from '../address-reader.ts'
import { NAME_LIMIT } from '../draft/interfaces.ts'
import { slotUnknown } from '../findings/capacity.ts'
import {
  badNamespace,
  bridgesPassTags,
  domainUnused,
  duplicateHost,
  duplicateNamespace,
  interfaceTooLong,
  manyClouds,
  manyHosts,
  nodesAnswerAnywhere,
  nodesForward,
  poolNameRequested,
} from '../findings/site.ts'
import type { CloudRequest } from '../requests.ts'
import { lintNodeSets } from './node-set-lints.ts'

/** What the vendor supports. */
const MAX_CLOUDS = 5
const MAX_HOSTS = 250

export function lintSite(site: Site, clouds: readonly CloudRequest[], locate: Locate): readonly Finding[] {
  return [
    ...lintNamespaces(site.clouds, locate),
    ...lintHosts(site.clouds, locate),
    ...site.clouds.flatMap((cloud) => lintNodeSets(cloud, locate)),
    ...lintLimits(site, locate),
    ...lintDomain(site, locate),
    ...lintIsolation(site, locate),
    ...lintPools(site.clouds, locate),
    ...clouds.flatMap((cloud) => lintSlots(cloud, locate)),
    ...lintNics(site, locate),
  ]
}

function lintDomain({ cluster: { domain } }: Site, locate: Locate): readonly Finding[] {
  if (domain === undefined) return []
  return [finding(domainUnused, { domain }, { where: locate(['spec', 'cluster', 'domain']) })]
}

/** Ways between clouds that the site leaves open; one cloud has no other to reach. */
function lintIsolation(
  { cluster: { isolation }, clouds: { length: clouds } }: Site,
  locate: Locate,
): readonly Finding[] {
  if (clouds < 2) return []
  const where = (field: string) => ({ where: locate(['spec', 'cluster', 'isolation', field]) })
  return [
    ...(isolation.forwarding === 'allow' ? [finding(nodesForward, { clouds }, where('forwarding'))] : []),
    ...(isolation.nodeAddresses === 'any-segment'
      ? [finding(nodesAnswerAnywhere, { clouds }, where('nodeAddresses'))]
      : []),
    ...(isolation.taggedFrames === 'allow' ? [finding(bridgesPassTags, { clouds }, where('taggedFrames'))] : []),
  ]
}

function lintNamespaces(clouds: readonly Cloud[], locate: Locate): readonly Finding[] {
  const findings: Finding[] = []
  const users = new Map<string, Cloud>()
  for (const cloud of clouds) {
    const { namespace, path } = cloud
    const namespacePath = [...path, 'namespace']
    const reason = explainInvalidLabel(namespace) ?? explainReservedNamespace(namespace)
    if (reason !== undefined) {
      const facts = { cloud: cloud.name, namespace, reason, offer: offerNamespace(cloud) }
      findings.push(finding(badNamespace, facts, { where: locate(namespacePath) }))
    }
    const user = users.get(namespace)
    if (user) {
      const owners = [user, cloud].map((cloud) => formatOwner(cloud.name, [...cloud.path, 'namespace'], locate))
      const facts = { a: user.name, b: cloud.name, namespace }
      findings.push(finding(duplicateNamespace, facts, { where: locate(namespacePath), owners }))
    } else users.set(namespace, cloud)
  }
  return findings
}

function explainInvalidLabel(name: string): string | undefined {
  const character = /[^a-z0-9-]/u.exec(name)?.[0]
  if (character !== undefined) return `"${character}" is not allowed in it`
  if (name.length > 63) return `it has ${name.length} characters, and 63 are allowed`
  return /^-|-$/.test(name) ? 'it must start and end with a letter or digit' : undefined
}

/** A namespace that the cluster or another cloud has is not offered. */
function offerNamespace({ name, namespace }: Cloud): string | undefined {
  return [namespace, name].map(toLabel).find((label) => label !== undefined && !explainReservedNamespace(label))
}

function toLabel(name: string): string | undefined {
  const label = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
  return label === '' ? undefined : label
}

function lintHosts(clouds: readonly Cloud[], locate: Locate): readonly Finding[] {
  const findings: Finding[] = []
  const users = new Map<string, { readonly cloud: Cloud; readonly index: number }>()
  for (const cloud of clouds) {
    for (const [index, host] of (cloud.file.hosts ?? []).entries()) {
      const user = users.get(host.name)
      if (!user) users.set(host.name, { cloud, index })
      else if (user.cloud !== cloud) {
        const paths = [
          [...user.cloud.path, 'hosts', user.index, 'name'],
          [...cloud.path, 'hosts', index, 'name'],
        ]
        const owners = [formatOwner(user.cloud.name, paths[0], locate), formatOwner(cloud.name, paths[1], locate)]
        const facts = { host: host.name, a: user.cloud.name, b: cloud.name }
        findings.push(finding(duplicateHost, facts, { where: locate(paths[1]), owners }))
      }
    }
  }
  return findings
}

function lintLimits({ clouds }: Site, locate: Locate): readonly Finding[] {
  const findings = clouds
    .filter(({ file }) => (file.hosts ?? []).length > MAX_HOSTS)
    .map(({ name, file, path }) => {
      const facts = { cloud: name, count: file.hosts?.length ?? 0, limit: MAX_HOSTS }
      return finding(manyHosts, facts, { where: locate([...path, 'hosts']) })
    })
  const facts = { count: clouds.length, limit: MAX_CLOUDS }
  const many = clouds.length > MAX_CLOUDS ? [finding(manyClouds, facts, { where: locate(['spec', 'clouds']) })] : []
  return [...many, ...findings]
}

/** Only `<namespace>-<network>` is possible: MetalLB knows a pool by its name alone. */
function lintPools(clouds: readonly Cloud[], locate: Locate): readonly Finding[] {
  return clouds.flatMap((cloud) => {
    const { pool } = cloud.file
    if (pool === undefined || pool === `${cloud.namespace}-<network>`) return []
    const other = clouds.find((candidate) => candidate !== cloud && candidate.file.pool === pool)?.name
    const facts = { cloud: cloud.name, pool, other, planned: `${cloud.namespace}-<network>` }
    return [finding(poolNameRequested, facts, { where: locate([...cloud.path, 'pool']) })]
  })
}

function lintSlots({ cloud, pinnedVips, uses }: CloudRequest, locate: Locate): readonly Finding[] {
  const known = uses.map(({ name }) => name)
  return [...pinnedVips.keys()]
    .filter((slot) => !known.includes(slot))
    .map((slot) => {
      const facts = { cloud: cloud.name, slot, meant: similarSlots(slot, known) }
      return finding(slotUnknown, facts, { where: locate([...cloud.path, 'vips', slot]) })
    })
}

/** The closest slot; or all slots of the service, when only the service is right. */
function similarSlots(slot: string, known: readonly string[]): readonly string[] {
  const [service] = slot.split('.')
  const mistyped = closestMatch(slot, known)
  return mistyped === undefined ? known.filter((name) => name.split('.')[0] === service) : [mistyped]
}

function lintNics({ cluster }: Site, locate: Locate): readonly Finding[] {
  return cluster.nodes.flatMap((node) =>
    Object.values(node.nics)
      .filter((name) => name.length > NAME_LIMIT)
      .map((name) => finding(interfaceTooLong, { owner: `node ${node.name}`, name }, { where: locate(node.path) })),
  )
}
