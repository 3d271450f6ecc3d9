/**
 * `stackloom rehearse`: applies the site's node networking to virtual machines and tests with packets whether the plan
 * holds. Exits 1 when it does not, and 3 when a test has no result.
 */
import path from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import pc from 'picocolors'
import { type ExitCode, Failure } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import { runProcess } from '../../exec/process.ts'
import type { Plan } from '../../plan/plan.ts'
import { type FaultName, faultNames } from '../../rehearse/faults.ts'
import type { Rehearsal } from '../../rehearse/rehearse.ts'
import { resolveSandboxPaths } from '../../sandbox/sandbox-context.ts'
import { unusedAcceptances } from '../../site/accept.ts'
import { isAsPlanned } from '../../verify/probe/reach-matrix.ts'
import { formatSummary } from '../../verify/report/report.ts'
import { isProved } from '../../verify/verify.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { selectClouds } from '../deployment.ts'
import { createFolder, writeOutput } from '../files.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { failOnErrors, type Planning, type PlanningOptions, planFromFiles, withPlanningOptions } from '../planning.ts'
import { repeatable } from '../repeatable.ts'
import { progressPrinter } from '../sandbox/progress-printer.ts'
import { matrixTable, reportFiles } from './rehearsal-report.ts'

interface Options extends PlanningOptions {
  readonly cloud?: readonly string[]
  readonly nodes: number
  readonly fault?: FaultName
  readonly keep?: boolean
  readonly enter?: string
  readonly stop?: boolean
  readonly report?: string
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withPlanningOptions(command), [
    'stackloom rehearse -f site.yaml               # exit 0: the plan holds, 1: it does not, 3: a test has no result',
    'stackloom rehearse --cloud rhoso2 --nodes 1',
    'stackloom rehearse --report rehearsal         # report.html, report.md, topology.svg',
    'stackloom rehearse --fault missing-vlan       # see how a mistake in the switch is reported',
    'stackloom rehearse --keep                     # leave the machines; the next run removes them',
    'stackloom rehearse --enter worker-0           # a shell on a machine that is kept',
    'echo "ip -br addr" | stackloom rehearse --enter worker-0',
    'stackloom rehearse --stop                     # remove the machines that are kept',
    'stackloom rehearse -o json',
  ])
    .option('--cloud <cloud>', 'rehearse only this cloud and what the clouds share; may be repeated', repeatable)
    .option('--nodes <count>', 'how many nodes of the site run as virtual machines', parseCount, 2)
    .addOption(new Option('--fault <fault>', 'build this mistake into the switches').choices(faultNames))
    .option('--keep', 'leave the machines for looking into them, until the next run or --stop')
    .addOption(
      new Option(
        '--enter <node>',
        'open a shell on a machine that is kept, or run a script from stdin there',
      ).conflicts(['keep', 'stop']),
    )
    .addOption(new Option('--stop', 'remove the machines that are kept').conflicts('keep'))
    .option('--report <dir>', 'write report.html, report.md and topology.svg to this folder')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => run(options, io)))
}

function parseCount(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It must be a whole number from 1.')
  return count
}

async function run(options: Options, io: Io): Promise<ExitCode> {
  const paths = resolveSandboxPaths(io.env)
  if (options.enter !== undefined) return (await import('./kept-command.ts')).enterNode(options.enter, paths, io)
  if (options.stop) return (await import('./kept-command.ts')).stopKept(paths, io)
  const { rehearse } = await import('../../rehearse/rehearse.ts')
  const { judgeHost, readHostFacts } = await import('../../rehearse/requirements.ts')
  const planning = await planFromFiles(options, io)
  failOnErrors(planning)
  const { plan } = planning
  const clouds = selectClouds(plan.clouds, options)
  if (options.report !== undefined) await createFolder(options.report, io)
  const unfit = judgeHost(await readHostFacts(io.env))
  if (unfit.length > 0) throw new Failure(unfit, 2)
  // They hold memory that the new machines need.
  await (await import('../../rehearse/kept.ts')).endKept(paths)
  const { notify, end } = progressPrinter(io)
  const time = new Date().toISOString()
  const context = { paths, env: io.env, exec: runProcess, notify, signal: io.stop }
  const { nodes, fault, keep = false } = options
  const rehearsal = await rehearse({ plan, nodes, clouds, fault, keep }, context).finally(end)
  const isWhole = clouds.length === 0 && fault === undefined && !keep && nodes >= plan.from.cluster.nodes.length
  const findings = [
    ...rehearsal.results.flatMap((result) => result.findings),
    ...(isWhole ? findUnusedAcceptances(planning, rehearsal) : []),
  ]
  if (options.report !== undefined) await writeReports(options.report, plan, time, rehearsal, io)
  const proved = isProved(rehearsal.results)
  io.stdout(
    options.output === 'table'
      ? renderTables(rehearsal, io)
      : await serialiseResult({ site: plan.site, time, proved, ...rehearsal }, options.output, findings),
  )
  printFindings(findings, io)
  if (rehearsal.keptBy !== undefined) io.stderr(describeKept(rehearsal.nodes, rehearsal.keptBy))
  if (rehearsal.results.some(({ verdict }) => verdict === 'failed')) return 1
  return proved ? 0 : 3
}

/** Entries of `spec.accept` for findings of rehearsals alone: those of the probe may be for the cluster. */
function findUnusedAcceptances({ plan, locate }: Planning, { results }: Rehearsal): readonly Finding[] {
  const findings = results.flatMap((result) => result.findings)
  return unusedAcceptances(findings, plan.from.accept, { locate, judges: (code) => code.startsWith('SL93') })
}

function describeKept(nodes: readonly string[], pid: number): string {
  return [
    `kept: ${nodes.join(', ')}, until the next rehearsal`,
    ...nodes.map((node) => `  stackloom rehearse --enter ${node}`),
    `  nsenter --target=${pid} --net --mount ip link    # the ports of the switches`,
    '  stackloom rehearse --stop',
    '',
  ].join('\n')
}

async function writeReports(folder: string, plan: Plan, time: string, rehearsal: Rehearsal, io: Io): Promise<void> {
  for (const { name, text } of reportFiles(plan, time, rehearsal)) {
    await writeOutput(path.join(folder, name), text, io, { replace: true })
  }
  io.stderr(`wrote report.html, report.md and topology.svg to ${folder}\n`)
}

function renderTables(rehearsal: Rehearsal, io: Io): string {
  const { results, phases } = rehearsal
  const { dim, green, red, yellow } = pc.createColors(io.colour.stdout)
  const sign = { passed: green('✓'), failed: red('✗'), unknown: yellow('?'), empty: dim('-') }
  const matrix = matrixTable(rehearsal, (text, cell) => (isAsPlanned(cell) ? green(text) : red(text)))
  const checks = results.map(({ cloud, id, verdict, seen }) => [sign[verdict], cloud ?? '-', id, seen])
  const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
    formatTable(header, rows, io.columns, io.colour.stdout)
  const seconds = Math.round(phases.reduce((total, phase) => total + phase.seconds, 0))
  const upper = matrix.header.map((text) => text.replace(/^\w+/, (word) => word.toUpperCase()))
  const parts = [
    ...(matrix.rows.length > 0 ? [table(upper, matrix.rows)] : []),
    table(['', 'CLOUD', 'CHECK', 'CHECKED'], checks),
  ]
  return `${parts.join('\n')}${results.length} checks in ${seconds} s: ${formatSummary(results)}\n`
}
