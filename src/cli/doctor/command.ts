/** `stackloom doctor`: what is wrong with the clouds, why, and the command that repairs it. */
import path from 'node:path'
import type { Command } from 'commander'
import { type Diagnosis, diagnose, type Report } from '../../doctor/diagnose.ts'
import { rules } from '../../doctor/rules.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { hasErrors, isFileLocation } from '../../errors/finding.ts'
import type { Plan } from '../../plan/plan.ts'
import { type ClusterFlags, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { gatherEvidence } from './gather-evidence.ts'
import { formatReport, formatRules } from './print-report.ts'

interface Options extends ClusterFlags {
  readonly file?: string
  readonly lock?: string
  readonly from?: string
  readonly list?: boolean
  readonly output: Format
}

/** After this long a person wants to know that it still works. */
const SLOW_MS = 2_000

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withClusterFlags(command), [
    'stackloom doctor                         # the cluster of your kubeconfig',
    'stackloom doctor -f site.yaml            # and what the site file plans',
    'stackloom doctor -n openstack2 -o json   # one cloud, for a program',
    'stackloom doctor --from must-gather/     # no cluster: a folder of dumps',
    'stackloom doctor --list -o wide          # every rule, and what it looks at',
    'stackloom explain SL9502                 # the long story of a finding',
  ])
    .option('-f, --file <file>', 'the site file, to compare with what is planned')
    .option('--lock <file>', 'the lock, if it is not beside the site file')
    .option('--from <dir>', 'a must-gather, or any folder of YAML and JSON dumps, instead of a cluster')
    .option('--list', 'print the rules instead of judging them')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml']))
    .action((options: Options) => act(() => (options.list ? listRules(options, io) : runDoctor(options, io))))
}

async function listRules({ output }: Options, io: Io): Promise<ExitCode> {
  const page = { columns: io.columns, colour: io.colour.stdout, wide: output === 'wide' }
  const data = rules.map(({ id, problem, likelihood, looksAt, also, link }) => {
    const { code, severity, title } = problem
    return { id, code, severity, title, likelihood, looksAt, also, link }
  })
  io.stdout(output === 'json' || output === 'yaml' ? await serialise(data, output) : formatRules(rules, page))
  return 0
}

async function runDoctor(options: Options, io: Io): Promise<ExitCode> {
  const { output, namespace } = options
  const plan = await loadPlan(options, io)
  const clouds = plan?.clouds.map((cloud) => cloud.namespace) ?? []
  const source = {
    ...options,
    ...(options.from !== undefined && { from: path.resolve(io.cwd, options.from) }),
  }
  const { snapshot, findings } = await withProgressMessage(io, () =>
    gatherEvidence(source, rules, namespace === undefined ? clouds : [namespace], io),
  )
  const whole = diagnose({ snapshot, now: Date.now(), ...(plan && { plan }) }, rules)
  const report = namespace === undefined ? whole : filterByNamespace(namespace, whole)
  const troubles = [...findings, ...report.findings]
  io.stderr(formatFindings(troubles, io.colour.stderr))
  const page = { columns: io.columns, colour: io.colour.stdout, wide: output === 'wide' }
  io.stdout(
    output === 'json' || output === 'yaml'
      ? await serialise({ ...report, findings: troubles, unread: snapshot.unread }, output)
      : formatReport(report, page),
  )
  // Whoever could look at nothing has not found that all is well.
  return hasErrors(report.diagnoses) || report.judged === 0 ? 1 : 0
}

/** Only with `-f`: without it the doctor works on the cluster alone, whatever lies in this folder. */
async function loadPlan({ file, lock }: Options, io: Io): Promise<Plan | undefined> {
  if (file === undefined) return undefined
  const { planFromFiles, failOnErrors } = await import('../planning.ts')
  const planning = await planFromFiles({ file, ...(lock !== undefined && { lock }) }, io)
  failOnErrors(planning)
  return planning.plan
}

/** What concerns one namespace: its own objects, and those that the clouds share. */
function filterByNamespace(namespace: string, report: Report): Report {
  const others = report.clouds.filter((cloud) => cloud !== namespace)
  const concerns = ({ where }: Diagnosis): boolean =>
    !where || isFileLocation(where) || !others.includes(where.namespace ?? '')
  return { ...report, diagnoses: report.diagnoses.filter(concerns) }
}

async function withProgressMessage<T>(io: Io, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => io.stderr(`looking at ${rules.length} known failures …\n`), SLOW_MS)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
  }
}
