/** Implements `stackloom ipam`: shows the use of data plane subnets. */
import type { Command } from 'commander'
import { indexSnapshot } from '../../api/snapshot.ts'
import type { SubnetReport } from '../../controllers/ipam/usage-report.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { type ClusterFlags, gatherSnapshot, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'

interface Options extends ClusterFlags {
  readonly from?: string
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  const status = command
    .command('status')
    .description('Show used and free addresses of every subnet, their holders, and the IPSets that wait')
  withExamples(withClusterFlags(status), [
    'stackloom ipam status',
    'stackloom ipam status -n openstack -o wide    # with every holder',
    'stackloom ipam status --from must-gather/ -o json',
  ])
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml']))
    .action((options: Options) => act(() => show(options, io)))
}

async function show(options: Options, io: Io): Promise<ExitCode> {
  const { addressBlocks } = await import('../../api/address-block.ts')
  const { ipSets, reservations } = await import('../../api/ipset.ts')
  const { netConfigs } = await import('../../api/netconfig.ts')
  const { readUsage } = await import('../../controllers/ipam/read-usage.ts')
  const kinds = [netConfigs, ipSets, reservations, addressBlocks]
  const { snapshot, findings } = await gatherSnapshot(options, kinds, io)
  printFindings(findings, io)
  const report = readUsage(indexSnapshot(snapshot)).filter(
    ({ namespace }) => options.namespace === undefined || namespace === options.namespace,
  )
  const { output } = options
  io.stdout(
    output === 'json' || output === 'yaml'
      ? await serialiseResult({ subnets: report }, output, findings)
      : formatReport(report, output === 'wide', io),
  )
  return 0
}

function formatReport(report: readonly SubnetReport[], wide: boolean, { columns, colour }: Io): string {
  if (report.length === 0) return 'no NetConfig found\n'
  const header = ['NAMESPACE', 'NETWORK', 'SUBNET', 'CIDR', 'SEGMENT', 'USED', 'FREE', 'WAITING']
  const rows = report.map((subnetReport) => [
    subnetReport.namespace,
    subnetReport.network,
    subnetReport.subnet,
    subnetReport.cidr,
    subnetReport.segment,
    String(subnetReport.used),
    subnetReport.free,
    String(subnetReport.waiting.length),
  ])
  const holderRows = report.flatMap(({ network, holders }) =>
    holders.map(({ address, owner }) => [address, network, owner]),
  )
  const waitingRows = report.flatMap(({ network, waiting }) => waiting.map(({ owner, why }) => [owner, network, why]))
  return [
    formatTable(header, rows, columns, colour.stdout),
    wide && holderRows.length > 0
      ? `\n${formatTable(['ADDRESS', 'NETWORK', 'HOLDER'], holderRows, columns, colour.stdout)}`
      : '',
    waitingRows.length > 0
      ? `\n${formatTable(['WAITS', 'FOR', 'WHY'], waitingRows, Number.POSITIVE_INFINITY, colour.stdout)}`
      : '',
  ].join('')
}
