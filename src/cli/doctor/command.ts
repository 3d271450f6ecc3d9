/** `stackloom doctor`: finds the causes of problems and suggests commands. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type Command, Option } from 'commander'
import { formatGroupKind, type Snapshot } from '../../api/snapshot.ts'
import { type Diagnosis, diagnose, type Report } from '../../doctor/diagnose.ts'
import { rules } from '../../doctor/rules.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { hasErrors, isFileLocation } from '../../errors/finding.ts'
import { type ClusterFlags, gatherSnapshot, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type FleetFlags, runOrFleet, withFleetFlag } from '../fleet/fleet-option.ts'
import type { Io } from '../io.ts'
import { codeScanningFormats, isCodeScanningFormat } from '../output/code-scanning-formats.ts'
import { printFindings } from '../output/findings.ts'
import { outputOption, serialiseResult } from '../output/format.ts'
import { planNamedFile } from '../planning.ts'
import { SITE_FILE } from '../site-file.ts'
import { evidenceKinds, gatherEvidence } from './gather-evidence.ts'
import { formatReport, formatRules } from './print-report.ts'

export interface DoctorOptions extends ClusterFlags, FleetFlags {
  readonly file?: string
  readonly lock?: string
  readonly from?: string
  readonly save?: string
  readonly list?: boolean
}

/** When to print a progress message. */
const SLOW_MS = 2_000

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withFleetFlag(withClusterFlags(command), ['save', 'list']), [
    'stackloom doctor                         # the cluster of your kubeconfig',
    'stackloom doctor -f site.yaml            # also compare with the plan',
    'stackloom doctor -n openstack2 -o json   # one cloud, as JSON',
    'stackloom doctor --fleet fleet.yaml      # every site, worst first',
    'stackloom doctor --from must-gather/     # read a folder of dumps',
    'stackloom doctor --save dump/            # diagnose, and keep the evidence for others',
    'stackloom doctor --list -o wide          # list all rules and the kinds they read',
    'stackloom explain SL9502                 # explain a finding in detail',
  ])
    .option('-f, --file <file>', 'compare with the plan of this site file')
    .option('--lock <file>', 'lock file (default: beside the site file)')
    .option('--from <dir>', 'read a must-gather or any folder of YAML and JSON dumps instead of a cluster')
    .addOption(
      new Option('--save <dir>', 'write what was read as dumps for --from, also for verify and status').conflicts(
        'from',
      ),
    )
    .option('--list', 'list the rules instead of evaluating them')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml', ...codeScanningFormats]))
    .action((options: DoctorOptions) =>
      act(() => (options.list ? listRules(options, io) : runOrFleet('doctor', options, io, runDoctor))),
    )
}

async function listRules({ output }: DoctorOptions, io: Io): Promise<ExitCode> {
  const { columns, colour, commandLine } = io
  const page = { columns, colour: colour.stdout, wide: output === 'wide', commandLine }
  const { catalogue } = await import('../explain/catalogue.ts')
  const data = rules.map(({ id, problem: { code, severity }, likelihood, looksAt, also, link }) => {
    return { id, code, severity, title: catalogue.get(code)?.title ?? '', likelihood, looksAt, also, link }
  })
  io.stdout(
    output === 'json' || output === 'yaml' ? await serialiseResult({ rules: data }, output) : formatRules(rules, page),
  )
  return 0
}

export async function runDoctor(options: DoctorOptions, io: Io): Promise<ExitCode> {
  const { output, namespace } = options
  const plan = await planNamedFile(options, io)
  const clouds = plan?.clouds.map((cloud) => cloud.namespace) ?? []
  const source = { ...options, ...(options.from !== undefined && { from: path.resolve(io.cwd, options.from) }) }
  const { snapshot, findings } = await withProgressMessage(io, () =>
    gatherEvidence(source, rules, namespace === undefined ? clouds : [namespace], io),
  )
  if (options.save !== undefined) await saveEvidence(snapshot, options.save, options, io)
  const full = diagnose({ snapshot, now: Date.now(), ...(plan && { plan }) }, rules)
  const report = namespace === undefined ? full : filterByNamespace(namespace, full)
  const allFindings = [...findings, ...report.findings]
  printFindings(allFindings, io)
  const { columns, colour, commandLine } = io
  const page = { columns, colour: colour.stdout, wide: output === 'wide', commandLine }
  if (isCodeScanningFormat(output)) {
    io.stdout((await import('../output/review-findings.ts')).formatForReview(allFindings, output))
  } else {
    io.stdout(
      output === 'json' || output === 'yaml'
        ? await serialiseResult({ ...report, unread: snapshot.unread }, output, allFindings)
        : formatReport(report, page),
    )
    if (output === 'table' || output === 'wide') suggestSiteFile(options, io)
  }
  if (hasErrors(report.diagnoses)) return 1
  return report.blind.length > 0 ? 3 : 0
}

/** Without a plan, rules that compare with one do not match: an object that is missing is no problem then. */
function suggestSiteFile({ file, from }: DoctorOptions, io: Io): void {
  if (file !== undefined || from !== undefined || !existsSync(path.join(io.cwd, SITE_FILE))) return
  const command = `stackloom doctor -f ${SITE_FILE}`
  io.stderr(`${SITE_FILE} in this folder was not read: \`${command}\` also compares the cluster with its plan\n`)
}

/** With what `verify` and `status` read, so that one dump answers all three. Values of Secrets are not in it. */
async function saveEvidence(evidence: Snapshot, folder: string, options: DoctorOptions, io: Io): Promise<void> {
  const { requiredKinds } = await import('../../verify/verify.ts')
  const { checks } = await import('../../verify/checks.ts')
  const { inventoryKinds, parseInventories, statusKinds } = await import('../../deploy/deployment-status.ts')
  const { saveDump } = await import('./save-dump.ts')
  const inventories = (await gatherSnapshot(options, inventoryKinds, io)).snapshot
  const known = new Set(evidenceKinds(rules).map(formatGroupKind))
  const more = [...inventoryKinds, ...requiredKinds(checks), ...statusKinds(parseInventories(inventories))].filter(
    (kind) => !known.has(formatGroupKind(kind)),
  )
  const { snapshot: rest } = await gatherSnapshot(options, more, io)
  const all = { objects: [...evidence.objects, ...rest.objects], unread: [...evidence.unread, ...rest.unread] }
  await saveDump(all, [...evidenceKinds(rules), ...more], folder, io)
  io.stderr(`${folder} has the evidence; read it with --from ${folder}\n`)
}

/** Keeps the diagnoses of one namespace and of shared objects. */
function filterByNamespace(namespace: string, report: Report): Report {
  const others = report.clouds.filter((cloud) => cloud !== namespace)
  const concerns = ({ where }: Diagnosis): boolean =>
    !where || isFileLocation(where) || !others.includes(where.namespace ?? '')
  return { ...report, diagnoses: report.diagnoses.filter(concerns) }
}

async function withProgressMessage<T>(io: Io, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => io.stderr(`checking ${rules.length} known problems …\n`), SLOW_MS)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
  }
}
