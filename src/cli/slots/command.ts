/** `stackloom slots`: lists every slot of the control plane's CRD, what it gets and why, and the slots that are not covered. */
import type { Command } from 'commander'
import { getOwn } from '../../api/collections.ts'
import type { ExitCode } from '../../errors/failure.ts'
import type { PlannedCloud } from '../../plan/plan.ts'
import type { SlotCoverage } from '../../plan/slots/slot-coverage.ts'
import type { SlotTable } from '../../plan/slots/slots.ts'
import { type ClusterFlags, withConnectionFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { planFromFiles } from '../planning.ts'
import { liveSlotTable, slotTableFrom } from '../slot-source.ts'

interface Options extends ClusterFlags {
  readonly file?: string
  readonly crd: string
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withConnectionFlags(command), [
    'stackloom slots                     # the slots of the built-in CRD, with the default services',
    'stackloom slots -f site.yaml        # what each cloud of the site puts into them',
    'stackloom slots --crd live          # of the CRD that the cluster has',
    'stackloom slots --crd crd.yaml -o json',
  ])
    .option('-f, --file <file>', 'site file: show its clouds instead of the default services')
    .option('--crd <source>', 'live, a release, or a file or folder with CRDs', 'today')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml', 'name']))
    .action((options: Options) => act(() => slots(options, io)))
}

/** The slots of one cloud. */
interface CloudSlots {
  readonly cloud: string
  readonly slots: readonly (SlotCoverage & {
    readonly vips: readonly { readonly slot: string; readonly address: string; readonly isPinned: boolean }[]
  })[]
}

async function slots(options: Options, io: Io): Promise<ExitCode> {
  const table = await slotTableFrom(options.crd, io, () => liveSlotTable(options, io))
  const clouds = await listCoverage(table, options, io)
  io.stdout(await formatSlots(table, clouds, options.output, io))
  return clouds.some(({ slots: all }) => all.some(({ verdict }) => verdict === 'not covered')) ? 1 : 0
}

async function listCoverage(table: SlotTable, options: Options, io: Io): Promise<readonly CloudSlots[]> {
  const { slotCoverage } = await import('../../plan/slots/slot-coverage.ts')
  const { slotUses } = await import('../../plan/slots/slot-uses.ts')
  const locate = (): undefined => undefined
  const of = (cloud: PlannedCloud['from'], platform: 'openshift' | 'kubernetes') =>
    slotCoverage(table, slotUses({ cloud, platform, table, locate }).uses)
  if (options.file === undefined) {
    const slots = of(await defaultCloud(), 'openshift').map((slotCoverage) => ({ ...slotCoverage, vips: [] }))
    return [{ cloud: 'default', slots }]
  }
  const liveSlots = (): Promise<SlotTable> => Promise.resolve(table)
  const { plan } = await planFromFiles({ file: options.file, crd: options.crd }, io, { liveSlots })
  return plan.clouds.map((cloud) => {
    const vips = cloud.networks.flatMap((network) => network.vips)
    const all = of(cloud.from, plan.from.cluster.platform).map((slotCoverage) => {
      const names = new Set(slotCoverage.uses.map((use) => use.name))
      const slotVips = vips
        .filter((vip) => names.has(vip.slot))
        .map(({ slot, address }) => ({ slot, address, isPinned: getOwn(cloud.from.file.vips, slot) !== undefined }))
      return { ...slotCoverage, vips: slotVips }
    })
    return { cloud: cloud.name, slots: all }
  })
}

/** A cloud without settings: the default services. */
async function defaultCloud(): Promise<PlannedCloud['from']> {
  const { buildSite } = await import('../../site/defaults.ts')
  const cluster = { nodes: [{ name: 'node' }] }
  const clouds = [{ name: 'default', namespace: 'openstack' }]
  const metadata = { name: 'default' }
  const site = buildSite({
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata,
    spec: { cluster, clouds },
  })
  const [cloud] = site.clouds
  if (!cloud) throw new TypeError('a site of one cloud has one')
  return cloud
}

async function formatSlots(
  table: SlotTable,
  clouds: readonly CloudSlots[],
  output: Format,
  { columns, colour }: Io,
): Promise<string> {
  if (output === 'json' || output === 'yaml') {
    const plain = clouds.map(({ cloud, slots: all }) => ({ cloud, slots: all.map(toJson) }))
    return serialiseResult({ crd: table.crd, services: table.services, clouds: plain }, output)
  }
  if (output === 'name') return table.slots.map((slot) => `${slot.path.join('.')}\n`).join('')
  const wide = output === 'wide'
  const many = clouds.length > 1
  const header = [...(many ? ['CLOUD'] : []), 'SLOT', ...(wide ? ['PATH', 'SHAPE'] : []), 'GETS', 'WHY']
  const rows = clouds.flatMap(({ cloud, slots: all }) =>
    all.flatMap((slot) =>
      listUses(slot).map(({ name, gets, why }) => [
        ...(many ? [cloud] : []),
        name,
        ...(wide ? [slot.path, slot.shape] : []),
        gets,
        why,
      ]),
    ),
  )
  return formatTable(header, rows, wide ? Number.POSITIVE_INFINITY : columns, colour.stdout)
}

/** Each Service of the slot, by its name in `vips` of the site file; an empty slot by its path. */
function listUses({ path, verdict, uses, vips, why }: CloudSlots['slots'][number]) {
  if (uses.length === 0) return [{ name: shortenPath(path), gets: verdict, why }]
  return uses.map(({ name, network }) => {
    const slotVips = vips.filter((vip) => vip.slot === name)
    const gets = [network, slotVips.map(({ address }) => address).join(', ')].join(' ').trim()
    return { name, gets, why: slotVips.some(({ isPinned }) => isPinned) ? '`vips` of the site file pins it' : why }
  })
}

/** Without the parts that nearly every path has. */
function shortenPath(path: string): string {
  return path.replace(/\.override\.services?$/, '').replace(/\.(?:template|templates)(?=\.|$)/, '')
}

function toJson({ path, shape, service, verdict, uses, why, vips }: CloudSlots['slots'][number]): unknown {
  return {
    path,
    shape,
    service,
    verdict,
    why,
    uses: uses.map((use) => ({
      name: use.name,
      path: use.path.join('.'),
      network: use.network,
      alone: use.alone,
      addresses: vips.filter((vip) => vip.slot === use.name).map((vip) => vip.address),
      pinned: vips.some((vip) => vip.slot === use.name && vip.isPinned),
    })),
  }
}
