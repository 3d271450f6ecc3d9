/** `stackloom ip`: shows the owner of an address, the addresses of a name, and what is free beside them. */
import type { Command } from 'commander'
import { closestMatch } from '../../errors/closest-match.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { failure } from '../../errors/failure.ts'
import { parseAddress } from '../../net/address.ts'
import { ownerNotFound } from '../../plan/findings/site.ts'
import type { AddressAnswer, Answer, Free } from '../../plan/lookup.ts'
import { withConnectionFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { withCloudFlags } from '../deployment.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { type PlanningOptions, planFromFiles, withPlanningOptions } from '../planning.ts'
import type { LiveAnswer, LiveFlags } from './live-holders.ts'
import type { RepairOptions } from './repair-addresses.ts'

interface Options extends PlanningOptions, LiveFlags {
  readonly output: Format
}

export function define(command: Command, context: CommandContext): void {
  defineShow(command, context)
  defineAudit(command, context)
  defineRepair(command, context)
}

function defineShow(command: Command, { io, act }: CommandContext): void {
  withExamples(withConnectionFlags(withPlanningOptions(command)), [
    'stackloom ip 172.17.0.80',
    'stackloom ip compute-0',
    'stackloom ip keystone.internal -o json',
    'stackloom ip 172.17.0.80 --live    # the holder in the cluster, and since when',
  ])
    .argument('<address-or-name>', 'address, or name of a host, node, slot or Service')
    .option('--live', 'also show the holder in the cluster, and since when')
    .option('--from <dir>', 'with --live: a folder of dumps instead of a cluster')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((query: string, options: Options) => act(() => showAnswers(query, options, io)))
}

function defineAudit(command: Command, { io, act }: CommandContext): void {
  const audit = command
    .command('audit')
    .description('Show reservations without an owner, addresses without a reservation, and addresses held twice')
  withExamples(withCloudFlags(audit, 'show only this cloud'), [
    'stackloom ip audit',
    'stackloom ip audit --cloud rhoso1 -o json',
    'stackloom ip audit -f site.yaml          # also VIPs outside the plan',
    'stackloom ip audit --from must-gather/',
  ])
    .option('-f, --file <file>', 'compare with the plan of this site file')
    .option('--lock <file>', 'lock file (default: beside the site file)')
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((_: unknown, used: Command) =>
      act(async () => (await import('./audit-addresses.ts')).showAudit(auditOptions(used), io)),
    )
}

function defineRepair(command: Command, { io, act }: CommandContext): void {
  const repair = command
    .command('repair')
    .description('Free addresses that are reserved for pods and IPSets that do not exist')
  withExamples(withCloudFlags(repair, 'free only addresses of this cloud'), [
    'stackloom ip repair --dry-run        # what would be freed, and why',
    'stackloom ip repair --cloud rhoso1',
    'stackloom ip repair --yes -o json    # with every object that was looked at',
  ])
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would happen and change nothing')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((_: unknown, used: Command) =>
      act(async () => {
        const { systemClock } = await import('../../clock/clock.ts')
        return (await import('./repair-addresses.ts')).repairAddresses(auditOptions(used), io, systemClock)
      }),
    )
}

/** Options that `ip` has too are parsed there. A site file is used only if it is named: the cluster may be another one. */
function auditOptions(used: Command): RepairOptions {
  const { file, ...options } = used.optsWithGlobals<RepairOptions>()
  const isNamed = used.getOptionValueSourceWithGlobals('file') === 'cli'
  return { ...options, ...(isNamed && file !== undefined && { file }) }
}

async function showAnswers(query: string, options: Options, io: Io): Promise<ExitCode> {
  const { lookUp, knownNames } = await import('../../plan/lookup.ts')
  const { explainOrigin, findAddressOrigin } = await import('../../plan/lookup.ts')
  const planning = await planFromFiles(options, io)
  const { plan } = planning
  const explain = (answer: Answer): Explained => {
    const decided = answer.kind === 'address' ? findAddressOrigin(plan, planning.before, answer) : undefined
    return decided ? { ...answer, because: explainOrigin(decided, planning) } : answer
  }
  const planned = lookUp(plan, query)
  const isAddress = parseAddress(query) !== undefined
  if (planned.length === 0 && !(options.live && isAddress)) {
    throw failure(ownerNotFound, { query, nearest: closestMatch(query, knownNames(plan)) }, { exitCode: 1 })
  }
  const { output } = options
  if (options.live) {
    const { lookUpLive, readLiveCluster } = await import('./live-holders.ts')
    const cluster = await readLiveCluster(options, io)
    const answers = lookUp(plan, query, cluster.held).map(explain)
    return showLive(query, answers, lookUpLive(query, answers, cluster), output, io)
  }
  const answers = planned.map(explain)
  io.stdout(
    output === 'table'
      ? answers.map((answer) => formatAnswer(answer, io.colour.stdout)).join('\n')
      : await serialiseResult({ query, answers }, output),
  )
  return 0
}

async function showLive(
  query: string,
  answers: readonly Explained[],
  { live, findings, gaps }: LiveAnswer,
  output: Format,
  io: Io,
): Promise<ExitCode> {
  const { formatLive } = await import('./live-holders.ts')
  io.stdout(
    output === 'table'
      ? [
          ...answers.map((answer) => formatAnswer(answer, io.colour.stdout)),
          ...live.map((address) => formatLive(address, io.colour.stdout)),
        ].join('\n')
      : await serialiseResult({ query, answers, live }, output, [...gaps, ...findings]),
  )
  printFindings([...gaps, ...findings], io)
  return findings.length > 0 ? 1 : 0
}

/** An answer with what decided it. */
type Explained = Answer & { readonly because?: string }

function formatAnswer(answer: Explained, colour: boolean): string {
  if (answer.kind === 'name') {
    const rows = answer.addresses.map((address) => [
      address.address,
      address.cloud,
      address.network,
      `${address.role} ${address.holder}`,
    ])
    return formatTable(['ADDRESS', 'CLOUD', 'NETWORK', 'HOLDER'], rows, Number.POSITIVE_INFINITY, colour)
  }
  if (answer.kind === 'cluster') {
    return `${answer.address} is in the cluster's ${answer.use} network ${answer.cidr}\n`
  }
  return formatAddressAnswer(answer)
}

/** Why no owner is planned. */
const notAssigned: Readonly<Record<string, string>> = {
  pods: 'a pod, if whereabouts gave it out',
  reserved: 'none: the site file reserves it',
}

function formatSpan(role: string | undefined, span: string | undefined): string {
  if (role === undefined) return 'none: between the spans'
  if (span === undefined) return role
  return role === 'reserved' ? `reserved, within ${span}` : `${role} ${span}`
}

function formatAddressAnswer(answer: AddressAnswer & Explained): string {
  const { address, cloud, network, subnet, segment, role, span, holders, free } = answer
  const lines = [
    ['address', address],
    ['owner', holders.join(', ') || (notAssigned[role ?? ''] ?? 'none')],
    ...(answer.because === undefined ? [] : [['because', answer.because]]),
    ['cloud', `${cloud} (namespace ${answer.namespace})`],
    ['network', `${network}, ${subnet}${segment ? `, segment ${segment}` : ''}`],
    ['span', formatSpan(role, span)],
    ['free', formatFree(free, role)],
  ]
  return lines.map(([key, value]) => `${`${key}:`.padEnd(9)}${value}\n`).join('')
}

function formatFree({ before, after, count, of }: Free, role: string | undefined): string {
  const beside = [before && `${before} below`, after && `${after} above`].filter(Boolean).join(', ')
  const known = role === 'pods' ? '; pods get theirs at run time' : ''
  return `${count} of ${of}${beside ? ` (nearest: ${beside})` : ''}${known}`
}
