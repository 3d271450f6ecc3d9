/** `stackloom verify`: proves that the cluster matches the plan and that the clouds are isolated. Exits 1 when a check fails, 3 when one could not look. */
import path from 'node:path'
import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { indexSnapshot, type SnapshotIndex } from '../../api/snapshot.ts'
import type { ExitCode } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import { unreadKind } from '../../kube/findings/api-server.ts'
import type { Plan } from '../../plan/plan.ts'
import { unusedAcceptances } from '../../site/accept.ts'
import type { DnsAnswers } from '../../verify/checks/check-definition.ts'
import { formatSummary, type Report } from '../../verify/report/report.ts'
import { type CheckResult, isProved } from '../../verify/verify.ts'
import { gatherSnapshot, refuseEmptyDump } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { selectClouds, withCloudFlags } from '../deployment.ts'
import { writeOutput } from '../files.ts'
import { type FleetFlags, runOrFleet, withFleetFlag } from '../fleet/fleet-option.ts'
import type { Io } from '../io.ts'
import { codeScanningFormats, isCodeScanningFormat } from '../output/code-scanning-formats.ts'
import { printFindings } from '../output/findings.ts'
import { outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { failOnErrors, type Planning, type PlanningOptions, planFromFiles, withPlanningOptions } from '../planning.ts'
import type { ProbeFlags } from './probe-command.ts'

export interface VerifyOptions extends PlanningOptions, ProbeFlags, FleetFlags {
  readonly cloud?: readonly string[]
  readonly from?: string
  readonly askDns?: boolean
  readonly askEndpoints?: boolean
  readonly report?: string
}

export function define(command: Command, { io, act }: CommandContext): void {
  const described = withCloudFlags(withPlanningOptions(command), 'check only this cloud and shared objects')
  withExamples(withFleetFlag(described, ['report', 'dryRun']), [
    'stackloom verify -f site.yaml                 # exit 0: proved, 1: a check failed, 3: one could not look',
    'stackloom verify --cloud rhoso2 -o json',
    'stackloom verify --report proof.html          # or proof.md',
    'stackloom verify --ask-dns                    # on a machine with access to the ctlplane networks',
    'stackloom verify --ask-endpoints              # on a machine with access to the public endpoints',
    'stackloom verify --from must-gather/          # read a folder of dumps',
    'stackloom verify --fleet fleet.yaml           # every site, worst first',
    'stackloom verify --probe                      # test with pods on every network and node',
    'stackloom verify --probe --dry-run            # print these pods only',
  ])
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .option('--ask-dns', "query each cloud's DNS server on its ctlplane VIP")
    .addOption(
      new Option('--ask-endpoints', 'log in to each cloud and send a request to every service').conflicts('from'),
    )
    .option('--report <file>', 'write a report: Markdown, or HTML for a name ending in .html')
    .addOption(new Option('--probe', 'test reach and isolation with pods on every network and node').conflicts('from'))
    .option('--probe-image <image>', 'image of the pods; must contain sh, ip, ping, arping and nc', 'busybox:1.37')
    .option('--dry-run', 'with --probe: print the pods without starting them')
    .addOption(outputOption(['table', 'json', 'yaml', ...codeScanningFormats]))
    .action((options: VerifyOptions) => act(() => runOrFleet('verify', options, io, runVerify)))
}

export async function runVerify(options: VerifyOptions, io: Io): Promise<ExitCode> {
  const { checks } = await import('../../verify/checks.ts')
  const { requiredKinds, verify } = await import('../../verify/verify.ts')
  const { renderDocuments, renderKeptDocuments } = await import('../../render/render.ts')
  const planning = await planFromFiles(options, io)
  failOnErrors(planning)
  const { plan } = planning
  const clouds = selectClouds(plan.clouds, options)
  if (options.probe && options.dryRun) {
    await (await import('./probe-command.ts')).printProbes(plan, options, io)
    return 0
  }
  const namespaces = plan.clouds.map(({ namespace }) => namespace)
  const now = new Date()
  const gathered = await gatherSnapshot(options, requiredKinds(checks), io, { namespaces })
  if (options.from !== undefined) refuseEmptyDump(gathered, options.from)
  const live = indexSnapshot(gathered.snapshot)
  const dns = options.askDns ? await queryDns(plan, live, io) : undefined
  const asked = plan.clouds.filter(({ name }) => clouds.length === 0 || clouds.includes(name))
  const endpoints = options.askEndpoints
    ? await (await import('./ask-endpoints.ts')).askEndpoints(asked, options, io)
    : undefined
  const checked = verify(checks, {
    plan,
    documents: renderDocuments(plan),
    kept: renderKeptDocuments(plan),
    live,
    unread: gathered.snapshot.unread,
    now: now.getTime(),
    ...(dns && { dns }),
    ...(endpoints && { endpoints }),
    ...(clouds.length > 0 && { clouds }),
  })
  const probed = options.probe
    ? await (await import('./probe-command.ts')).probe(plan, options, io)
    : { results: [], findings: [] }
  if (probed.results.length > 0) {
    const record = { site: plan.site, time: now.toISOString(), results: probed.results }
    await (await import('./probe-command.ts')).recordProbe(record, io)
  }
  const results = [...checked, ...probed.results]
  const report = { site: plan.site, time: now.toISOString(), source: describeSource(options), results }
  if (options.report !== undefined) await writeReport(options.report, report, io)
  const findings = [
    // Unknown kinds are reported by the checks that need them.
    ...gathered.findings.filter(({ code }) => code !== unreadKind.code),
    ...results.flatMap((result) => result.findings),
    ...probed.findings,
    ...(clouds.length > 0 ? [] : findUnusedAcceptances(planning, results, options)),
  ]
  io.stdout(await formatVerification(report, findings, options, io))
  printFindings(findings, io)
  if (results.some(({ verdict }) => verdict === 'failed')) return 1
  return isProved(results) ? 0 : 3
}

async function formatVerification(
  report: Report,
  findings: readonly Finding[],
  { output }: VerifyOptions,
  io: Io,
): Promise<string> {
  if (output === 'table') return renderTable(report.results, io)
  if (!isCodeScanningFormat(output)) return serialiseResult(toJson(report), output, findings)
  return (await import('../output/review-findings.ts')).formatForReview(findings, output)
}

/** Unused entries of `spec.accept` for findings of this command, when all checks ran. */
function findUnusedAcceptances({ plan, locate }: Planning, results: readonly CheckResult[], options: VerifyOptions) {
  const judges = (code: string): boolean =>
    code.startsWith('SL91') ? options.probe === true : /^SL9(0(?!5[23]|6[45])|2)/.test(code)
  const findings = results.flatMap((result) => result.findings)
  return unusedAcceptances(findings, plan.from.accept, { locate, judges })
}

function describeSource({ from, context }: VerifyOptions): string {
  if (from !== undefined) return `folder ${from}`
  return context === undefined ? 'live cluster' : `cluster of context ${context}`
}

async function queryDns(plan: Plan, live: SnapshotIndex, io: Io): Promise<ReadonlyMap<string, DnsAnswers>> {
  const { dnsServerAddress, plannedNames } = await import('../../verify/checks/dns-names.ts')
  const { askDns } = await import('./ask-dns.ts')
  const asked = plan.clouds.flatMap((cloud) => {
    const server = dnsServerAddress(cloud)
    if (server === undefined) return []
    const names = [...plannedNames(cloud, live).keys()]
    const answers = askDns({ server, names, timeoutMs: 2_000, stop: io.stop })
    return [answers.then((result) => [cloud.name, result] as const)]
  })
  return new Map(await Promise.all(asked))
}

async function writeReport(file: string, report: Report, io: Io): Promise<void> {
  const html = path.extname(file) === '.html'
  const text = html
    ? (await import('../../verify/report/html-report.ts')).htmlReport(report)
    : (await import('../../verify/report/report.ts')).markdownReport(report)
  await writeOutput(file, text, io, { replace: true })
  io.stderr(`wrote ${file}\n`)
}

function toJson({ results, ...report }: Report): object {
  return { ...report, proved: isProved(results), checks: results }
}

function renderTable(results: readonly CheckResult[], io: Io): string {
  const { dim, green, red, yellow } = pc.createColors(io.colour.stdout)
  const sign = { passed: green('✓'), failed: red('✗'), unknown: yellow('?'), empty: dim('-') }
  const rows = results.map(({ cloud, id, verdict, seen }) => [sign[verdict], cloud ?? '-', id, seen])
  const all = results.every(({ verdict }) => verdict === 'passed')
  const last = all ? `all ${results.length} checks passed` : `${results.length} checks: ${formatSummary(results)}`
  return `${formatTable(['', 'CLOUD', 'CHECK', 'CHECKED'], rows, io.columns, io.colour.stdout)}${last}\n`
}
