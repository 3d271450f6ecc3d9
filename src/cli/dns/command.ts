/** Defines `stackloom dns`: shows the names that DNSMasqs serve and what they answer, and prints hosts files. */
import type { Command } from 'commander'
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import type { ServedName, ServerReport } from '../../controllers/dns/names-report.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { type ClusterFlags, gatherSnapshot, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { selectOneCloud, withOneCloudFlag } from '../deployment.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { oneLine } from '../output/text.ts'
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
  readonly cloud?: string
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
    .description('Show every name with its address and source, and what the server answers')
  withExamples(withClusterFlags(status), [
    'stackloom dns status -n openstack',
    'stackloom dns status -n openstack --query           # query the server and show differences',
    'stackloom dns status -n openstack --query --server 127.0.0.1:5353',
    'stackloom dns status --from must-gather/ -o json',
  ])
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .option('--query', 'query the server for every name, and fail where the answer differs')
    .option('--server <address>', 'with --query: query this server instead of the announced address')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml']))
    .action((options: StatusOptions) => act(() => showStatus(options, io)))
}

function defineHosts(command: Command, { io, act }: CommandContext): void {
  const hosts = command
    .command('hosts')
    .description("Print a cloud's names as a hosts file, from the plan or from the cluster")
  withExamples(withOneCloudFlag(withPlanningOptions(hosts), 'print the names of this cloud'), [
    'stackloom dns hosts --cloud rhoso1 >> /etc/hosts',
    'stackloom dns hosts --cloud rhoso1 --live      # what its DNSMasqs serve',
  ])
    .option('--live', 'read what the cluster serves instead of the plan')
    .option('--from <dir>', 'with --live: read a folder of dumps instead of a cluster')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: HostsOptions) => act(() => showHosts(options, io)))
}

async function gatherReport(source: Source, io: Io): Promise<readonly ServerReport[]> {
  const { configMaps, dnsDatas, dnsMasqs, HOSTS_LABEL } = await import('../../controllers/dns/dns-kinds.ts')
  const { buildDnsReport } = await import('../../controllers/dns/names-report.ts')
  const kinds = [dnsMasqs, dnsDatas, { ...configMaps, labelSelector: HOSTS_LABEL }]
  const { namespace } = source
  const { snapshot, findings } = await gatherSnapshot(source, kinds, io, namespace ? { namespaces: [namespace] } : {})
  printFindings(findings, io)
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
  const served = await gatherReport(options, io)
  const report = options.query ? await queryServers(served, options.server, io) : served
  const findings = report.flatMap((serverReport) =>
    findWrongAnswers(serverReport, options.server ?? serverReport.servers[0]),
  )
  const { output } = options
  io.stdout(
    output === 'json' || output === 'yaml'
      ? await serialiseResult({ servers: report }, output, findings)
      : formatReport(report, output === 'wide' ? Number.POSITIVE_INFINITY : io.columns, io.colour.stdout),
  )
  printFindings(findings, io)
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
      const target = server ?? serverReport.servers[0]
      if (target === undefined) return serverReport
      io.stderr(`querying ${target} for ${serverReport.names.length} names\n`)
      return { ...serverReport, names: await queryNames(target, serverReport.names) }
    }),
  )
}

function formatReport(report: readonly ServerReport[], columns: number, colour: boolean): string {
  if (report.length === 0) return 'no DNSMasq found\n'
  return report.map((serverReport) => formatServer(serverReport, columns, colour)).join('\n')
}

function formatServer(
  { namespace, name, servers, ready, names, unusable }: ServerReport,
  columns: number,
  colour: boolean,
): string {
  const head = `${namespace}/${name}: ${servers.join(', ') || 'no address yet'}${ready ? '' : ', not ready'}\n`
  const wasQueried = names.some(({ answered }) => answered)
  const header = wasQueried ? ['NAME', 'ADDRESS', 'ANSWER', 'FROM'] : ['NAME', 'ADDRESS', 'FROM']
  const rows = names.map((served) => [
    served.name,
    served.addresses.join(','),
    ...(wasQueried ? [formatAnswer(served)] : []),
    served.from.join(', '),
  ])
  const skipped = unusable
    .map(({ text, from }) => `skipped: ${oneLine(text)} of ${oneLine(from)} is not an address\n`)
    .join('')
  return `${head}${rows.length > 0 ? formatTable(header, rows, columns, colour) : 'serves no name\n'}${skipped}`
}

function formatAnswer({ addresses, answered }: ServedName): string {
  if (!answered) return ''
  const isSame = [...answered].sort().join() === addresses.join()
  return isSame ? 'the same' : answered.join(',') || 'nothing'
}

async function showHosts(options: HostsOptions, io: Io): Promise<ExitCode> {
  const { formatHostsFile } = await import('../../controllers/dns/names-report.ts')
  const { plan } = await planFromFiles(options, io)
  const cloud = selectOneCloud(plan.clouds, options, 'stackloom dns hosts')
  const { listCloudDnsNames } = await import('../../plan/dns-names.ts')
  const names = options.live
    ? (await gatherReport({ ...options, namespace: cloud.namespace }, io)).flatMap((server) =>
        server.names.flatMap(({ name, addresses, from }) =>
          addresses.map((address) => ({ name, address, from: from.join(', ') })),
        ),
      )
    : listCloudDnsNames(cloud)
  const { output } = options
  io.stdout(output === 'table' ? formatHostsFile(names) : await serialiseResult({ names }, output))
  return 0
}
