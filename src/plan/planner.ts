/**
 * Plans a site: from the site, its lock and a slot table to the plan, the new lock and the findings.
 *
 * Pure and deterministic. Nothing that the lock has moves, unless it is named in `allowMove`.
 */

import { groupBy } from '../api/collections.ts'
import { closestMatch } from '../errors/closest-match.ts'
import { type FileLocation, type Finding, finding } from '../errors/finding.ts'
import { cidrRange } from '../net/cidr.ts'
import { applyAcceptances, withoutDuplicates } from '../site/accept.ts'
import * as siteProblems from '../site/findings.ts'
import type { Cloud, Path, Site } from '../site/site.ts'
import { type AddressReader, createAddressReader, type Locate } from './address-reader.ts'
import { assemblePlan } from './assemble.ts'
import { buildLock } from './build-lock.ts'
import { CELL, type Change, diffLocks } from './changes.ts'
import { findConflicts, findSubnetConflicts } from './conflicts.ts'
import { type Draft, type DraftInput, draftSite } from './draft/draft-site.ts'
import { readLayout } from './draft/layout.ts'
import * as addressProblems from './findings/addresses.ts'
import * as capacityProblems from './findings/capacity.ts'
import * as lockProblems from './findings/lock.ts'
import * as segmentProblems from './findings/segments.ts'
import * as planProblems from './findings/site.ts'
import { buildLedger, type LedgerEntry } from './ledger.ts'
import { lintLocked } from './lints/locked-lints.ts'
import { lintSite } from './lints/site-lints.ts'
import { lintSubnet, type ReservedRange } from './lints/subnet-lints.ts'
import { forget, type HolderKind, holderKinds, isInLock, type Lock, lockEntries } from './lock.ts'
import type { Plan } from './plan.ts'
import { findRelease, loadReleases } from './release/releases.ts'
import { type CloudRequest, readCloudRequest, readNetworkRequests } from './requests.ts'
import { describeCrd } from './slots/built-in-crds.ts'
import * as slotProblems from './slots/findings.ts'
import { slotUses } from './slots/slot-uses.ts'
import type { SlotTable } from './slots/slots.ts'

/** The codes that reading and planning a site can report: an acceptance of a code that was not reported is unused. */
export const planCodes: ReadonlySet<string> = new Set(
  [siteProblems, addressProblems, segmentProblems, capacityProblems, lockProblems, planProblems, slotProblems]
    .flatMap((problems) => Object.values<{ readonly code: string }>(problems))
    .map(({ code }) => code),
)

export interface PlanInput {
  readonly site: Site
  readonly lock: Lock
  readonly slots: SlotTable
  /** Where a path of the site file is. */
  readonly locate: (path: Path) => FileLocation
  /** Clouds, or `cloud/network`, that may move. */
  readonly allowMove?: readonly string[]
  /** Clouds, networks or hosts whose addresses are freed: `rhoso2`, `rhoso1/storage`, `rhoso1/compute-0`. */
  readonly forget?: readonly string[]
  /** What reading the site file found. */
  readonly findings?: readonly Finding[]
  /** What the cluster holds and no cloud of the site owns. */
  readonly live?: readonly LedgerEntry[]
}

export interface PlanResult {
  /** Its findings have the acceptances of the site applied. */
  readonly plan: Plan
  /** The lock to write: earlier decisions and new ones. */
  readonly lock: Lock
  /** Everything that reading and planning found, before acceptances. */
  readonly findings: readonly Finding[]
}

export function planSite(input: PlanInput): PlanResult {
  const { site, slots } = input
  const locate: Locate = (path) => path && input.locate(path)
  const reader = createAddressReader(locate)
  const found: Finding[] = [...(input.findings ?? []), ...checkRelease(site, locate), ...checkNames(input)]
  const before = (input.forget ?? []).reduce(
    (lock, name) => (isInSite(site, name) ? lock : forget(lock, name)),
    input.lock,
  )

  const clouds = site.clouds.map((cloud) => readCloud(cloud, input, reader, found))
  const reserved = readReserved(site, reader)
  const layout = readLayout(site.addressing.layout)
  const renamed = renamedClouds(site, before, locate)
  checkServers(site, reader)
  const { draft, lock, moves } = draftWithoutMoves(
    {
      site,
      requests: readNetworkRequests(site, reader),
      clouds,
      lock: before,
      layout,
      reserved,
      frozen: new Set(),
      locate,
    },
    input,
  )

  const ledger = buildLedger(site, draft.networks, input.live)
  const lintInput = { reserved, suggestSubnet: draft.suggestSubnet, locate }
  // Not by push: a site of many clouds has more findings than a function takes arguments.
  const all: readonly Finding[] = [
    ...found,
    ...moveFindings(moves, site, locate),
    ...reader.findings,
    ...lintSite(site, clouds, locate),
    ...draft.findings,
    ...draft.networks.flatMap((network) => network.subnets.flatMap((subnet) => lintSubnet(network, subnet, lintInput))),
    ...findSubnetConflicts(draft, locate),
    ...findConflicts(ledger, locate),
    ...renamed.values(),
    ...(isEmpty(input.lock) ? [] : lockFindings(input, lock, new Set(renamed.keys()))),
    ...lintLocked({ site, networks: draft.networks, lock: before, layout, locate }),
  ]
  const findings = withoutDuplicates(all)
  const plan = assemblePlan(site, draft, clouds, slots, applyAcceptances(findings, site.accept))
  return { plan, lock, findings }
}

interface StableDraft {
  readonly draft: Draft
  readonly lock: Lock
  /** What the site file asks to move and must not. */
  readonly moves: readonly Change[]
}

/** The draft that the site file asks for; networks that would move against the lock stay as the lock has them. */
function draftWithoutMoves(input: DraftInput, { slots, allowMove = [] }: PlanInput): StableDraft {
  const { site, lock: before } = input
  const lockFor = ({ networks }: Draft): Lock => buildLock(site.name, networks, site.clouds, before, slots)
  const draft = draftSite(input)
  const lock = lockFor(draft)
  if (isEmpty(before)) return { draft, lock, moves: [] }
  const moves = diffLocks(before, lock).filter((change) => change.moves && !isAllowed(change, allowMove))
  if (moves.length === 0) return { draft, lock, moves }
  const frozen = new Set(moves.flatMap(({ cloud, network }) => (network ? [`${cloud}/${network}`] : [])))
  const stable = draftSite({ ...input, frozen })
  return { draft: stable, lock: lockFor(stable), moves }
}

function isEmpty({ clouds }: Lock): boolean {
  return Object.keys(clouds).length === 0
}

function isAllowed({ cloud, network }: Change, names: readonly string[]): boolean {
  return names.includes(cloud) || (network !== undefined && names.includes(`${cloud}/${network}`))
}

function readCloud(cloud: Cloud, input: PlanInput, reader: AddressReader, found: Finding[]): CloudRequest {
  const { site, slots: table, locate } = input
  const { services, uses, findings } = slotUses({ cloud, platform: site.cluster.platform, table, locate })
  found.push(...findings)
  return readCloudRequest(cloud, { services, uses }, reader)
}

function checkRelease({ cluster }: Site, locate: Locate): readonly Finding[] {
  const { release: name } = cluster
  if (name === undefined || findRelease(name)) return []
  const known = loadReleases().map((release) => release.name)
  const where = locate(['spec', 'cluster', 'release'])
  return [finding(slotProblems.unknownRelease, { name, nearest: closestMatch(name, known), known }, { where })]
}

function readReserved({ cluster }: Site, reader: AddressReader): readonly ReservedRange[] {
  return cluster.reserved.flatMap(({ use, cidr: text, path }) => {
    const cidr = reader.cidr(text, { owner: 'the cluster', what: `${use} network`, path })
    return cidr ? [{ ...cidrRange(cidr), use, cidr: text }] : []
  })
}

/** Addresses that the plan does not use must still be addresses. */
function checkServers({ cluster, clouds }: Site, reader: AddressReader): void {
  cluster.dns.forEach((text, index) => {
    const path = ['spec', 'cluster', 'dns', index]
    reader.address(text, { owner: 'the cluster', what: 'DNS server', path })
  })
  for (const { address, path } of cluster.metallb.peers)
    reader.address(address, { owner: 'the cluster', what: 'BGP peer', path: [...path, 'address'] })
  for (const { name, file, path } of clouds) {
    file.dns?.servers?.forEach((text, index) => {
      reader.address(text, { owner: name, what: 'DNS server', path: [...path, 'dns', 'servers', index] })
    })
    file.hosts?.forEach(({ ansibleHost, name: host }, index) => {
      if (ansibleHost === undefined) return
      const hostPath = [...path, 'hosts', index, 'ansibleHost']
      reader.address(ansibleHost, { owner: `${name} host ${host}`, what: 'ansibleHost', path: hostPath })
    })
  }
}

/** One finding per network, with each address, old and new; one per host that changes its cell. */
function moveFindings(moves: readonly Change[], site: Site, locate: Locate): readonly Finding[] {
  const isCell = ({ what }: Change): boolean => what.startsWith(CELL)
  const others = moves.filter((move) => !isCell(move))
  return [...ownerMoves(others, site, locate), ...moves.filter(isCell).map((move) => cellFinding(move, site, locate))]
}

function cellFinding({ cloud: name, what, from = '', to = '' }: Change, site: Site, locate: Locate): Finding {
  const host = what.slice(CELL.length + 1)
  const cloud = site.clouds.find((candidate) => candidate.name === name)
  const index = cloud?.file.hosts?.findIndex((candidate) => candidate.name === host) ?? -1
  const where = locate(cloud && [...cloud.path, 'hosts', index])
  return finding(lockProblems.cellChanged, { cloud: name, host, from, to }, { where })
}

function ownerMoves(moves: readonly Change[], site: Site, locate: Locate): readonly Finding[] {
  const byOwner = groupBy(moves, ({ cloud, network }) => (network ? `${cloud}/${network}` : cloud))
  return [...byOwner].map(([owner, changes]) => {
    const lines = changes.map(({ what, from, to }) => `${what} ${from} -> ${to}`)
    const [first = '', ...more] = lines
    const summary = more.length > 0 ? `${first} and ${more.length} more` : first
    const cloudName = changes[0]?.cloud ?? ''
    const cloud = site.clouds.find(({ name }) => name === cloudName)
    const network = cloud?.networks.find(({ name }) => name === changes[0]?.network)
    const path = network?.layers.findLast((layer) => layer.path)?.path ?? cloud?.path
    const facts = { owner, cloud: cloudName, summary }
    return finding(lockProblems.wouldMove, facts, { where: locate(path), owners: lines })
  })
}

function isInSite({ clouds }: Site, name: string): boolean {
  const [cloudName, below] = name.split('/')
  const cloud = clouds.find((candidate) => candidate.name === cloudName)
  if (!cloud || below === undefined) return cloud !== undefined
  return [...cloud.networks, ...(cloud.file.hosts ?? [])].some((part) => part.name === below)
}

/** Names on the command line exist in the site or its lock; what is to be forgotten is no longer in the site. */
function checkNames({ site, lock, allowMove = [], forget: names = [] }: PlanInput): readonly Finding[] {
  const known = [...site.clouds.map(({ name }) => name), ...Object.keys(lock.clouds)]
  const owners = [...known, ...lockEntries(lock).map(({ owner }) => owner)]
  const unknown = (option: string, name: string): Finding =>
    finding(lockProblems.unknownName, { option, name, nearest: closestMatch(name, owners) })
  const findings: Finding[] = []
  if (lock.site !== site.name && !isEmpty(lock))
    findings.push(finding(lockProblems.lockOtherSite, { site: site.name, locked: lock.site }))
  for (const name of allowMove) {
    if (!isInSite(site, name) && !isInLock(lock, name)) findings.push(unknown('--allow-move', name))
  }
  for (const name of names) {
    if (isInSite(site, name)) findings.push(finding(lockProblems.forgetPresent, { name }))
    else if (!isInLock(lock, name)) findings.push(unknown('--forget', name))
  }
  return findings
}

/** Findings by the name of the cloud that left: another cloud has its namespace. */
function renamedClouds(site: Site, lock: Lock, locate: Locate): ReadonlyMap<string, Finding> {
  const present = new Set(site.clouds.map(({ name }) => name))
  const left = new Map<string, string>()
  for (const [name, { namespace }] of Object.entries(lock.clouds)) if (!present.has(name)) left.set(namespace, name)
  return new Map(
    site.clouds.flatMap(({ name, namespace, path }) => {
      const old = left.get(namespace)
      if (old === undefined) return []
      const where = locate([...path, 'name'])
      return [[old, finding(lockProblems.cloudRenamed, { cloud: name, old, namespace }, { where })] as const]
    }),
  )
}

function lockFindings(
  { lock: before, slots }: PlanInput,
  lock: Lock,
  renamed: ReadonlySet<string>,
): readonly Finding[] {
  const findings: Finding[] = []
  const reportLeaving = (kind: 'cloud' | 'network' | HolderKind, name: string): void => {
    findings.push(finding(lockProblems.cloudLeaving, { kind, name }))
  }
  for (const [name, cloud] of Object.entries(lock.clouds)) {
    if (cloud.leaving) {
      // `down` would delete the namespace that another cloud has now.
      if (!renamed.has(name)) reportLeaving('cloud', name)
      continue
    }
    const holders = new Map<string, HolderKind>()
    for (const [network, locked] of Object.entries(cloud.networks)) {
      if (locked.leaving) reportLeaving('network', `${name}/${network}`)
      for (const kind of holderKinds) for (const holder in locked.left?.[kind]) holders.set(holder, kind)
    }
    for (const [holder, kind] of holders) reportLeaving(kind, `${name}/${holder}`)
  }
  if (before.crd !== undefined && before.crd !== slots.crd) {
    const [old, used] = [before.slots ?? [], lock.slots ?? []]
    const listOnly = (slotLines: readonly string[], others: readonly string[]): string =>
      slotLines.filter((line) => !others.includes(line)).join(', ')
    const facts = {
      locked: describeCrd(before.crd),
      used: describeCrd(slots.crd),
      added: listOnly(used, old),
      removed: listOnly(old, used),
    }
    findings.push(finding(lockProblems.slotsChanged, facts))
  }
  return findings
}
