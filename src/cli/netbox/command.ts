/** Defines `stackloom netbox`: compares a plan with NetBox, writes it there, and reads pins from it. */
import { type Command, Option } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { outputOption } from '../output/format.ts'
import { withPlanningOptions } from '../planning.ts'
import { repeatable } from '../repeatable.ts'
import type { ExportFlags, ImportFlags, NetBoxFlags } from './run-netbox.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  const actions = () => import('./run-netbox.ts')
  const connect = (child: Command): Command =>
    child
      .addOption(new Option('--url <url>', 'address of NetBox').env('NETBOX_URL').makeOptionMandatory())
      .option('--token-file <file>', 'file with the token (default: NETBOX_TOKEN)')
      .option('--vrf <name>', 'the VRF of the prefixes and addresses (default: those without a VRF)')
      .option('--certificate-authority <file>', 'trust this CA (PEM) for NetBox')

  withExamples(
    connect(withPlanningOptions(command.command('diff').description('Show what differs between the plan and NetBox'))),
    ['NETBOX_TOKEN=… stackloom netbox diff --url https://netbox.example.com'],
  )
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: NetBoxFlags) => act(async () => (await actions()).diffNetBox(options, io)))

  withExamples(
    connect(
      withPlanningOptions(
        command.command('export').description('Write prefixes, VLANs and addresses of the plan to NetBox'),
      ),
    ),
    [
      'stackloom netbox export --url https://netbox.example.com --token-file token --dry-run',
      'stackloom netbox export --url https://netbox.example.com --token-file token --yes',
      'stackloom netbox export --url https://netbox.example.com --vrf paris',
    ],
  )
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would happen and change nothing')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: ExportFlags) => act(async () => (await actions()).exportToNetBox(options, io)))

  withExamples(
    connect(command.command('import').description('Print the prefixes and VLANs of NetBox as pins for a site file')),
    ['stackloom netbox import --url https://netbox.example.com --tenant rhoso1 --tenant rhoso2'],
  )
    .option(
      '--tenant <slug>',
      'only prefixes of this tenant, which is the name of a cloud; may be repeated',
      repeatable,
    )
    .addOption(outputOption(['json', 'yaml'], 'yaml'))
    .action((options: ImportFlags) => act(async () => (await actions()).importFromNetBox(options, io)))
}
