/**
 * The planner: a site, its lock and a slot table in; the plan, the new lock and everything that is wrong out.
 *
 * Pure and deterministic. Nothing that the lock gave moves, unless it is named in `allowMove`.
 */

import { closestMatch } from '../errors/closest-match.ts'
import { type Finding, finding, hasErrors } from '../errors/finding.ts'
import { cidrRange } from '../net/cidr.ts'
import { applyAcceptances, judge } from '../site/accept.ts'
import { withoutDuplicates } from '../site/check-site.ts'
import type { Cloud, Path, Site } from '../site/site.ts'
import { type AddressReader, createAddressReader, type Locate } from './address-reader.ts'
import { assemblePlan } from './assemble.ts'
import { buildLock } from './build-lock.ts'
import { type Change, diffLocks } from './changes.ts'
import { groupBy } from './collections.ts'
import { findConflicts, findSubnetConflicts } from './conflicts.ts'
import { type Draft, type DraftInput, draftSite } from './draft/draft-site.ts'
import { readLayout } from './draft/layout.ts'
import { cloudLeaving, forgetPresent, lockOtherSite, slotsChanged, unknownName, wouldMove } from './findings/lock.ts'
import { buildLedger, type LedgerEntry } from './ledger.ts'
import { lintSite } from './lints/site-lints.ts'
import { lintSubnet, type ReservedRange } from './lints/subnet-lints.ts'
import { forget, holderKinds, isInLock, type Lock, lockEntries } from './lock.ts'
import type { Plan } from './plan.ts'
import { type CloudRequest, readCloudRequest, readNetworkRequests } from './requests.ts'
import { slotUses } from './slots/slot-uses.ts'
import type { SlotTable } from './slots/slots.ts'

export interface PlanInput {
  readonly site: Site
  readonly lock: Lock
  readonly slots: SlotTable
  /** Where a path of the site file stands. */
  readonly locate: (path: Path) => { readonly file: string; readonly line: number; readonly column: number }
  /** Clouds, or `cloud/network`, that may move. */
  readonly allowMove?: readonly string[]
  /** Clouds, networks or hosts whose holdings are freed: `rhoso2`, `rhoso1/storage`, `rhoso1/compute-0`. */
  readonly forget?: readonly string[]
  /** What reading the site file found: judged together with the rest, so that `accept` covers it. */
  readonly findings?: readonly Finding[]
  /** What is wrong with the documents that the plan would become: `accept` covers it as well. */
  readonly documentFindings?: (plan: Plan) => readonly Finding[]
  /** What the cluster really holds and no cloud of the site owns. */
  readonly live?: readonly LedgerEntry[]
}

export interface Planned {
  readonly plan: Plan
  /** What is to be written: the old decisions and the new ones. */
  readonly lock: Lock
  /** From the old lock to the new one. */
  readonly changes: readonly Change[]
}

export function planSite(request: PlanInput): Planned {
  const { site, slots } = request
  const locate: Locate = (path) => path && request.locate(path)
  const reader = createAddressReader(locate)
  const found: Finding[] = [...(request.findings ?? []), ...checkNames(request)]
  const before = (request.forget ?? []).reduce(
    (lock, name) => (inSite(site, name) ? lock : forget(lock, name)),
    request.lock,
  )

  const clouds = site.clouds.map((cloud) => cloudWish(cloud, request, reader, found))
  const reserved = readReserved(site, reader)
  checkServers(site, reader)
  const input: DraftInput = {
    site,
    wishes: readNetworkRequests(site, reader),
    clouds,
    lock: before,
    layout: readLayout(site.addressing.layout),
    reserved,
    frozen: new Set(),
    locate,
  }
  const { draft, lock } = keepStill(draftSite(input), input, request, found)

  const ledger = buildLedger(site, draft.networks, request.live)
  const lints = { reserved, offerSubnet: draft.offerSubnet, locate }
  found.push(
    ...reader.findings,
    ...lintSite(site, clouds, locate),
    ...draft.findings,
    ...draft.networks.flatMap((network) => network.subnets.flatMap((subnet) => lintSubnet(network, subnet, lints))),
    ...findSubnetConflicts(draft, locate),
    ...findConflicts(ledger, locate),
    ...(isEmpty(request.lock) ? [] : lockFindings(request, lock())),
  )
  const own = withoutDuplicates(found)
  const plan = assemblePlan(site, draft, clouds, slots, applyAcceptances(own, site.accept))
  const ofDocuments = request.documentFindings?.(plan) ?? []
  const findings = judge([...own, ...ofDocuments], site.accept, {
    locate: request.locate,
    // Documents are made of a plan without errors only.
    judges: request.documentFindings && !hasErrors(plan.findings) ? isAboutASite : isAboutAPlan,
  })
  const changes = later(() => diffLocks(request.lock, lock()))
  return {
    plan: { ...plan, findings },
    get lock() {
      return lock()
    },
    get changes() {
      return changes()
    },
  }
}

/** Codes of reading and planning, and of what a cloud's Services need. */
function isAboutAPlan(code: string): boolean {
  return /^SL(2|30)/.test(code)
}

/** Those of the documents, too. */
function isAboutASite(code: string): boolean {
  return /^SL[23]/.test(code)
}

/** The wanted draft, or, where it would move what must not move, one in which those networks stay as they are. */
function keepStill(
  wanted: Draft,
  input: DraftInput,
  { slots, allowMove = [] }: PlanInput,
  found: Finding[],
): { readonly draft: Draft; readonly lock: () => Lock } {
  const { site, lock: before, locate } = input
  const lockFor = (draft: Draft): (() => Lock) =>
    later(() => buildLock(site.name, draft.networks, site.clouds, before, slots))
  const lock = lockFor(wanted)
  if (isEmpty(before)) return { draft: wanted, lock }
  const changes = diffLocks(before, lock())
  const moves = changes.filter((change) => change.moves && !allowed(change, allowMove))
  if (moves.length === 0) return { draft: wanted, lock }
  found.push(...moveFindings(moves, site, locate))
  const frozen = new Set(moves.flatMap(({ cloud, network }) => (network ? [`${cloud}/${network}`] : [])))
  const draft = draftSite({ ...input, frozen })
  return { draft, lock: lockFor(draft) }
}

function isEmpty({ clouds }: Lock): boolean {
  return Object.keys(clouds).length === 0
}

/** Made when somebody asks, once: a plan that is only looked at needs no lock. */
function later<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function cloudWish(cloud: Cloud, request: PlanInput, reader: AddressReader, found: Finding[]): CloudRequest {
  const { platform } = request.site.cluster
  const { services, uses, findings } = slotUses({
    cloud,
    platform,
    table: request.slots,
    place: request.locate,
  })
  found.push(...findings)
  return readCloudRequest(cloud, { services, uses }, reader)
}

function readReserved({ cluster }: Site, reader: AddressReader): readonly ReservedRange[] {
  return cluster.reserved.flatMap(({ use, cidr: text, path }) => {
    const cidr = reader.cidr(text, { owner: 'the cluster', what: `${use} network`, path })
    return cidr ? [{ ...cidrRange(cidr), use, cidr: text }] : []
  })
}

/** Addresses of the cluster that nobody plans with, and that still have to be addresses. */
function checkServers({ cluster, clouds }: Site, reader: AddressReader): void {
  cluster.dns.forEach((text, index) => {
    reader.address(text, {
      owner: 'the cluster',
      what: 'DNS server',
      path: ['spec', 'cluster', 'dns', index],
    })
  })
  for (const { address, path } of cluster.metallb.peers)
    reader.address(address, { owner: 'the cluster', what: 'BGP peer', path: [...path, 'address'] })
  for (const { name, file, path } of clouds) {
    file.dns?.servers?.forEach((text, index) => {
      reader.address(text, { owner: name, what: 'DNS server', path: [...path, 'dns', 'servers', index] })
    })
    file.hosts?.forEach(({ ansibleHost, name: host }, index) => {
      if (ansibleHost === undefined) return
      const at = [...path, 'hosts', index, 'ansibleHost']
      reader.address(ansibleHost, { owner: `${name} host ${host}`, what: 'ansibleHost', path: at })
    })
  }
}

function allowed({ cloud, network }: Change, names: readonly string[]): boolean {
  return names.includes(cloud) || (network !== undefined && names.includes(`${cloud}/${network}`))
}

/** One finding per network, with each address, old and new. */
function moveFindings(moves: readonly Change[], site: Site, locate: Locate): readonly Finding[] {
  const ownerOf = ({ cloud, network }: Change): string => (network ? `${cloud}/${network}` : cloud)
  return [...groupBy(moves, ownerOf)].map(([owner, own]) => {
    const lines = own.map(({ what, from, to }) => `${what} ${from} -> ${to}`)
    const [first = '', ...more] = lines
    const summary = more.length > 0 ? `${first} and ${more.length} more` : first
    const cloud = own[0]?.cloud ?? ''
    const known = site.clouds.find(({ name }) => name === cloud)
    const network = known?.networks.find(({ name }) => name === own[0]?.network)
    const path = network?.layers.findLast((layer) => layer.path)?.path ?? known?.path
    return finding(wouldMove, { owner, cloud, summary }, { where: locate(path), owners: lines })
  })
}

function inSite({ clouds }: Site, name: string): boolean {
  const [cloudName, below] = name.split('/')
  const cloud = clouds.find((cloud) => cloud.name === cloudName)
  if (!cloud || below === undefined) return cloud !== undefined
  const hosts = cloud.file.hosts ?? []
  return cloud.networks.some((network) => network.name === below) || hosts.some((host) => host.name === below)
}

/** Names on the command line are somebody's; who should be forgotten is gone. */
function checkNames({ site, lock, allowMove = [], forget: names = [] }: PlanInput): readonly Finding[] {
  const known = [...site.clouds.map(({ name }) => name), ...Object.keys(lock.clouds)]
  const owners = [...known, ...lockEntries(lock).map(({ owner }) => owner)]
  const unknown = (option: string, name: string): Finding =>
    finding(unknownName, { option, name, nearest: closestMatch(name, owners) })
  const findings: Finding[] = []
  if (lock.site !== site.name && Object.keys(lock.clouds).length > 0)
    findings.push(finding(lockOtherSite, { site: site.name, locked: lock.site }))
  for (const name of allowMove) {
    if (!inSite(site, name) && !isInLock(lock, name)) findings.push(unknown('--allow-move', name))
  }
  for (const name of names) {
    if (inSite(site, name)) findings.push(finding(forgetPresent, { name }))
    else if (!isInLock(lock, name)) findings.push(unknown('--forget', name))
  }
  return findings
}

function lockFindings({ lock: old, slots }: PlanInput, lock: Lock): readonly Finding[] {
  const findings: Finding[] = []
  const leaving = (what: string, name: string): void => {
    findings.push(finding(cloudLeaving, { what, name }))
  }
  for (const [name, cloud] of Object.entries(lock.clouds)) {
    if (cloud.leaving) {
      leaving(`cloud ${name}`, name)
      continue
    }
    const gone = new Set<string>()
    for (const [network, locked] of Object.entries(cloud.networks)) {
      if (locked.leaving) leaving(`network ${name}/${network}`, `${name}/${network}`)
      for (const kind of holderKinds) for (const who in locked.left?.[kind]) gone.add(who)
    }
    for (const who of gone) leaving(`${name}/${who}`, `${name}/${who}`)
  }
  if (old.crd !== undefined && old.crd !== slots.crd) {
    const [was, is] = [old.slots ?? [], lock.slots ?? []]
    const list = (all: readonly string[], others: readonly string[]): string =>
      all.filter((one) => !others.includes(one)).join(', ')
    const facts = {
      locked: old.crd.slice(0, 19),
      used: slots.crd.slice(0, 19),
      added: list(is, was),
      removed: list(was, is),
    }
    findings.push(finding(slotsChanged, facts))
  }
  return findings
}
