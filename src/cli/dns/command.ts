/** `stackloom dns`: which names the clouds' servers know, what they answer, and the same as a hosts file. */
import type { Command } from 'commander'
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import type { ServedName, ServerReport } from '../../controllers/dns/names-report.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { unknownCloud } from '../../run/findings.ts'
import { type ClusterFlags, gatherSnapshot, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { type PlanningOptions, planFromFiles, withPlanningOptions } from '../planning.ts'

interface Source extends ClusterFlags {
  readonly from?: string
}

interface StatusOptions extends Source {
  readonly query?: boolean
  readonly server?: string
  readonly output: Format
}

interface HostsOptions extends PlanningOptions, Source {
  readonly cloud: string
  readonly live?: boolean
  readonly output: Format
}

export function define(command: Command, context: CommandContext): void {
  defineStatus(command, context)
  defineHosts(command, context)
}

function defineStatus(command: Command, { io, act }: CommandContext): void {
  const status = command
    .command('status')
    .description('Every name, its address, where it comes from; what the server really answers')
  withExamples(withClusterFlags(status), [
    'stackloom dns status -n openstack',
    'stackloom dns status -n openstack --query           # asks the server, shows what differs',
    'stackloom dns status -n openstack --query --server 127.0.0.1:5353',
    'stackloom dns status --from must-gather/ -o json',
  ])
    .option('--from <folder>', 'a folder of dumps instead of a live cluster')
    .option('--query', 'ask the server for every name, and fail where it answers something else')
    .option('--server <address>', 'with --query: ask this server instead of the announced address')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml']))
    .action((options: StatusOptions) => act(() => showStatus(options, io)))
}

function defineHosts(command: Command, { io, act }: CommandContext): void {
  const hosts = command
    .command('hosts')
    .description("A cloud's names as a hosts file, from the plan or from the cluster")
  withExamples(withClusterFlags(withPlanningOptions(hosts)), [
    'stackloom dns hosts --cloud rhoso1 >> /etc/hosts',
    'stackloom dns hosts --cloud rhoso1 --live      # what its DNSMasqs serve',
  ])
    .requiredOption('--cloud <cloud>', 'the cloud')
    .option('--live', 'what the cluster serves, instead of what is planned')
    .option('--from <folder>', 'with --live: a folder of dumps instead of a cluster')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: HostsOptions) => act(() => showHosts(options, io)))
}

async function gatherReport(source: Source, io: Io): Promise<readonly ServerReport[]> {
  const { configMaps, dnsDatas, dnsMasqs, HOSTS_LABEL } = await import('../../controllers/dns/dns-kinds.ts')
  const { buildDnsReport } = await import('../../controllers/dns/names-report.ts')
  const kinds = [dnsMasqs, dnsDatas, { ...configMaps, labelSelector: HOSTS_LABEL }]
  const { namespace } = source
  const { snapshot, findings } = await gatherSnapshot(source, kinds, io, namespace ? { namespaces: [namespace] } : {})
  io.stderr(formatFindings(findings, io.colour.stderr))
  const index = indexSnapshot(snapshot)
  const report = buildDnsReport({
    dnsMasqs: index.all('network.openstack.org/DNSMasq') as readonly DnsMasq[],
    dnsDatas: index.all('network.openstack.org/DNSData') as readonly DnsData[],
    configMaps: index.all('ConfigMap'),
  })
  return report.filter((serverReport) => namespace === undefined || serverReport.namespace === namespace)
}

async function showStatus(options: StatusOptions, io: Io): Promise<ExitCode> {
  const { findWrongAnswers } = await import('../../controllers/dns/names-report.ts')
  const plain = await gatherReport(options, io)
  const report = options.query ? await queryServers(plain, options.server, io) : plain
  const findings = report.flatMap((serverReport) =>
    findWrongAnswers(serverReport, options.server ?? serverReport.servers[0]),
  )
  const { output } = options
  io.stdout(
    output === 'json' || output === 'yaml'
      ? await serialise(report, output)
      : formatReport(report, output === 'wide' ? Number.POSITIVE_INFINITY : io.columns),
  )
  io.stderr(formatFindings(findings, io.colour.stderr))
  return hasErrors(findings) ? 1 : 0
}

async function queryServers(
  report: readonly ServerReport[],
  server: string | undefined,
  io: Io,
): Promise<readonly ServerReport[]> {
  const { queryNames } = await import('./query.ts')
  return Promise.all(
    report.map(async (serverReport) => {
      const at = server ?? serverReport.servers[0]
      if (at === undefined) return serverReport
      io.stderr(`asking ${at} for ${serverReport.names.length} names\n`)
      return { ...serverReport, names: await queryNames(at, serverReport.names) }
    }),
  )
}

function formatReport(report: readonly ServerReport[], columns: number): string {
  if (report.length === 0) return 'no DNSMasq here\n'
  return report.map((serverReport) => formatServer(serverReport, columns)).join('\n')
}

function formatServer({ namespace, name, servers, ready, names, unusable }: ServerReport, columns: number): string {
  const head = `${namespace}/${name}: ${servers.join(', ') || 'no address yet'}${ready ? '' : ', not ready'}\n`
  const wasAsked = names.some((name) => name.answered)
  const header = wasAsked ? ['NAME', 'ADDRESS', 'ANSWER', 'FROM'] : ['NAME', 'ADDRESS', 'FROM']
  const rows = names.map((name) => [
    name.name,
    name.addresses.join(','),
    ...(wasAsked ? [formatAnswer(name)] : []),
    name.from.join(', '),
  ])
  const left = unusable.map(({ text, from }) => `left out: ${text} of ${from} is not an address\n`).join('')
  return `${head}${rows.length > 0 ? formatTable(header, rows, columns) : 'it serves no name\n'}${left}`
}

function formatAnswer({ addresses, answered }: ServedName): string {
  if (!answered) return ''
  const same = [...answered].sort().join() === addresses.join()
  return same ? 'the same' : answered.join(',') || 'nothing'
}

async function showHosts(options: HostsOptions, io: Io): Promise<ExitCode> {
  const { formatHostsFile } = await import('../../controllers/dns/names-report.ts')
  const { plan } = await planFromFiles(options, io)
  const cloud = plan.clouds.find((cloud) => cloud.name === options.cloud)
  if (!cloud) {
    const known = plan.clouds.map((cloud) => cloud.name)
    const facts = { cloud: options.cloud, known, nearest: closestMatch(options.cloud, known) }
    throw failure(unknownCloud, facts, { exitCode: 2 })
  }
  const { listCloudDnsNames } = await import('../../plan/dns-names.ts')
  const names = options.live
    ? (await gatherReport({ ...options, namespace: cloud.namespace }, io)).flatMap((server) =>
        server.names.flatMap(({ name, addresses, from }) =>
          addresses.map((address) => ({ name, address, from: from.join(', ') })),
        ),
      )
    : listCloudDnsNames(cloud)
  const { output } = options
  io.stdout(output === 'table' ? formatHostsFile(names) : await serialise(names, output))
  return 0
}
