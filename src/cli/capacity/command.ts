/** Defines `stackloom capacity`: shows free addresses and whether more clouds or hosts fit. */
import { type Command, InvalidArgumentError } from 'commander'
import { withConnectionFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { outputOption } from '../output/format.ts'
import { withPlanningOptions } from '../planning.ts'
import type { CapacityOptions } from './show-capacity.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withConnectionFlags(withPlanningOptions(command)), [
    'stackloom capacity                       # free addresses, and whether one more cloud fits',
    'stackloom capacity --clouds 3',
    'stackloom capacity --hosts rhoso1=100 --hosts rhoso2=20',
    'stackloom capacity --live                # what the cluster uses, and when it runs out',
  ])
    .option('--clouds <count>', 'whether this many more clouds fit', parseCount)
    .option('--hosts <cloud=count>', 'whether this many more hosts fit in a cloud; may be repeated', parseHosts)
    .option('--live', 'count the addresses in the cluster, and forecast by the growth of the last four weeks')
    .option('--from <dir>', 'with --live: a folder of dumps instead of a cluster')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: CapacityOptions) =>
      act(async () => (await import('./show-capacity.ts')).showCapacity(options, io)),
    )
}

/** More than a cluster holds, and a plan of more takes minutes. */
const MOST = 5_000

function parseCount(text: string): number {
  if (!/^[1-9]\d*$/.test(text) || Number(text) > MOST) throw new InvalidArgumentError(`a whole number up to ${MOST}`)
  return Number(text)
}

function parseHosts(
  text: string,
  before: ReadonlyMap<string, number> = new Map<string, number>(),
): ReadonlyMap<string, number> {
  const [cloud = '', count = ''] = text.split('=')
  if (cloud === '' || count === '') throw new InvalidArgumentError('a cloud and a number, such as rhoso1=100')
  return new Map([...before, [cloud, parseCount(count)]])
}
