/** Implements `stackloom capacity`: plans the site with more clouds and hosts, and names the first thing that runs out. */
import type { AddressCount } from '../../addresses/count-addresses.ts'
import { forecast } from '../../addresses/forecast.ts'
import { formatGroupKind, indexSnapshot } from '../../api/snapshot.ts'
import { systemClock } from '../../clock/clock.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { type Finding, hasErrors } from '../../errors/finding.ts'
import { parseRange, rangeSize } from '../../net/range.ts'
import type { Plan } from '../../plan/plan.ts'
import { unknownCloud } from '../../run/findings.ts'
import { type Growth, growSite } from '../../site/grow-site.ts'
import { allocatorRoles } from '../../site/site.ts'
import { type ClusterFlags, gatherSnapshot, refuseEmptyDump } from '../cluster.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { failOnErrors, type PlanningOptions, planFromFiles } from '../planning.ts'

export interface CapacityOptions extends PlanningOptions, ClusterFlags {
  readonly clouds?: number
  readonly hosts?: ReadonlyMap<string, number>
  readonly live?: boolean
  readonly from?: string
  readonly output: Format
}

/** Addresses of one role of one network. */
interface Capacity {
  readonly cloud: string
  readonly network: string
  readonly role: string
  readonly used: number
  readonly free: number
  readonly perWeek?: number
  readonly weeksLeft?: number
}

/** The answer to "do so many more fit?". */
interface Answer {
  /** `1 more cloud`, `100 more hosts in rhoso1`. */
  readonly what: string
  readonly fits: boolean
  /** The first thing that runs out. */
  readonly limit?: Finding
  /** How many fit instead. */
  readonly most?: number
}

export async function showCapacity(options: CapacityOptions, io: Io): Promise<ExitCode> {
  const text = await readInput(options.file, io, 'stackloom init')
  const planning = await planFromFiles(options, io, { text })
  failOnErrors(planning)
  const { plan } = planning
  refuseUnknownClouds(plan, options.hosts)
  const { capacities, findings } = options.live
    ? await countLive(plan, options, io)
    : { capacities: countPlanned(plan), findings: [] }
  const answers: Answer[] = []
  for (const { count, grow, describe } of questions(options)) {
    const tryPlan = (more: number): Promise<Finding | undefined> => findLimit(text, grow(more), options, io)
    answers.push(await answer(count, tryPlan, describe))
  }
  printFindings(findings, io)
  const { output } = options
  io.stdout(
    output === 'table'
      ? `${formatCapacities(capacities, options.live ?? false, io)}\n${answers.map(formatAnswer).join('')}`
      : await serialiseResult({ addresses: capacities, answers }, output, findings),
  )
  return answers.every(({ fits }) => fits) ? 0 : 1
}

interface Question {
  readonly count: number
  readonly grow: (count: number) => Growth
  readonly describe: (count: number) => string
}

function questions({ clouds, hosts }: CapacityOptions): readonly Question[] {
  const none = new Map<string, number>()
  const aboutHosts = [...(hosts ?? none)].map(([cloud, count]) => ({
    count,
    grow: (more: number): Growth => ({ clouds: 0, hosts: new Map([[cloud, more]]) }),
    describe: (more: number) => `${more} more ${more === 1 ? 'host' : 'hosts'} in ${cloud}`,
  }))
  // Without a question, the most frequent one is answered.
  const count = clouds ?? (aboutHosts.length === 0 ? 1 : 0)
  if (count === 0) return aboutHosts
  return [
    {
      count,
      grow: (more) => ({ clouds: more, hosts: none }),
      describe: (more) => `${more} more ${more === 1 ? 'cloud' : 'clouds'}`,
    },
    ...aboutHosts,
  ]
}

function refuseUnknownClouds({ clouds }: Plan, hosts: CapacityOptions['hosts']): void {
  const known = clouds.map(({ name }) => name)
  for (const cloud of hosts?.keys() ?? [])
    if (!known.includes(cloud)) throw failure(unknownCloud, { cloud, known, nearest: closestMatch(cloud, known) })
}

/** The first error of a plan with this growth, or undefined. */
async function findLimit(
  text: Uint8Array,
  growth: Growth,
  options: CapacityOptions,
  io: Io,
): Promise<Finding | undefined> {
  const { plan } = await planFromFiles(options, io, { text: growSite(text, options.file, growth) })
  return hasErrors(plan.findings) ? plan.findings.find(({ severity }) => severity === 'error') : undefined
}

async function answer(
  count: number,
  tryPlan: (count: number) => Promise<Finding | undefined>,
  describe: (count: number) => string,
): Promise<Answer> {
  let limit = await tryPlan(count)
  if (!limit) return { what: describe(count), fits: true }
  let [fitting, tooMany] = [0, count]
  while (tooMany - fitting > 1) {
    const middle = Math.floor((fitting + tooMany) / 2)
    const found = await tryPlan(middle)
    if (found) {
      limit = found
      tooMany = middle
    } else fitting = middle
  }
  return { what: describe(count), fits: false, limit, most: fitting }
}

/** Spans of the plan and the addresses that it assigns itself; pods get theirs at run time. */
function countPlanned({ clouds }: Plan): readonly Capacity[] {
  return clouds.flatMap((cloud) =>
    cloud.networks.flatMap((network) => {
      const used = { nodes: network.nodes, vips: network.vips, hosts: network.hosts, pods: network.endpoints }
      return allocatorRoles.flatMap((role) => {
        const spans = network.subnets.flatMap((subnet) => subnet.spans.filter((span) => span.role === role))
        if (spans.length === 0) return []
        const size = spans.reduce((sum, { start, end }) => sum + spanSize(start, end), 0)
        const held = new Set(used[role].map(({ address }) => address)).size
        return [{ cloud: cloud.name, network: network.name, role, used: held, free: Math.max(0, size - held) }]
      })
    }),
  )
}

function spanSize(start: string, end: string): number {
  const range = parseRange(`${start}-${end}`)
  return range ? Number(rangeSize(range)) : 0
}

async function countLive(
  plan: Plan,
  options: CapacityOptions,
  io: Io,
): Promise<{ readonly capacities: readonly Capacity[]; readonly findings: readonly Finding[] }> {
  const { countAddresses, countedKinds } = await import('../../addresses/count-addresses.ts')
  const gathered = await gatherSnapshot(options, countedKinds, io)
  if (options.from !== undefined) refuseEmptyDump(gathered, options.from)
  const { snapshot, findings } = gathered
  const index = indexSnapshot(snapshot)
  const [attachments, ipPools, addressPools, services, netConfigs, reservations] = countedKinds.map((kind) =>
    index.all(formatGroupKind(kind)),
  )
  const counts = countAddresses({
    attachments: attachments ?? [],
    ipPools: ipPools ?? [],
    addressPools: addressPools ?? [],
    services: services ?? [],
    netConfigs: netConfigs ?? [],
    reservations: reservations ?? [],
  })
  const names = new Map(plan.clouds.map(({ namespace, name }) => [namespace, name]))
  const toCapacity = ({ namespace, created, ...rest }: AddressCount): readonly Capacity[] => {
    const cloud = names.get(namespace)
    if (cloud === undefined) return []
    return [{ cloud, ...rest, ...(rest.role !== 'pods' && forecast(rest.free, created, systemClock.now())) }]
  }
  return { capacities: counts.flatMap(toCapacity), findings }
}

function formatCapacities(capacities: readonly Capacity[], live: boolean, io: Io): string {
  const header = ['CLOUD', 'NETWORK', 'ROLE', 'USED', 'FREE', ...(live ? ['PER WEEK', 'FULL IN'] : [])]
  const rows = capacities.map(({ cloud, network, role, used, free, perWeek, weeksLeft }) => [
    cloud,
    network,
    role,
    role === 'pods' && !live ? '-' : `${used}`,
    `${free}`,
    ...(live ? [perWeek === undefined ? '-' : `${perWeek}`, weeksLeft === undefined ? '-' : `${weeksLeft} weeks`] : []),
  ])
  return formatTable(header, rows, io.columns, io.colour.stdout)
}

function formatAnswer({ what, fits, limit, most }: Answer): string {
  if (fits) return `${what}: yes\n`
  const instead = most === undefined || most === 0 ? '' : `; ${most} would fit`
  return `${what}: no${instead}\n  ${limit ? `${limit.message} (${limit.code})\n  ${limit.remedy}\n` : ''}`
}
