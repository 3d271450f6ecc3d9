/** Builds the description of the console: sources, connection, views with the reason why one is empty, actions. Pure. */
import type { Connection, MetaDocument } from '../documents/meta.ts'
import type { ViewName } from '../routes.ts'
import { type CloudStatus, cloudStates } from './cloud-states.ts'
import { commandLine, type ViewInput } from './view-input.ts'

type Body<T> = Omit<T, 'version' | 'notes'>

export interface MetaInput extends ViewInput {
  readonly program: { readonly name: string; readonly version: string }
  readonly server: string
  readonly source: MetaDocument['source']
  readonly connection: Connection
  readonly labFile?: string
  readonly hasRuns: boolean
  readonly actionsAllowed: boolean
}

export function buildMeta(input: MetaInput): Body<MetaDocument> {
  const { planned, program, server, source, connection, actionsAllowed } = input
  const isCloud = (status: CloudStatus): status is CloudStatus & { namespace: string } => status.namespace !== undefined
  return {
    command: commandLine('console', ...input.fileOptions, ...input.clusterOptions),
    program,
    server,
    ...(planned && { site: planned.plan.site, siteFile: planned.file }),
    source,
    connection,
    clouds: [...cloudStates(input).values()]
      .filter(isCloud)
      .map(({ name, namespace }) => ({ id: name, name, namespace })),
    views: listViews(input),
    actions: actionsAllowed ? listActions(input) : [],
    actionsAllowed,
  }
}

const titles: Readonly<Record<ViewName, string>> = {
  overview: 'Overview',
  addresses: 'Address map',
  topology: 'Topology',
  run: 'Run',
  hosts: 'Hosts',
  findings: 'Findings',
  lab: 'Lab',
}

function listViews(input: MetaInput): MetaDocument['views'] {
  const { planned, source, hasRuns, labFile, fileOptions, clusterOptions } = input
  const needsSite = planned ? undefined : 'There is no site file: start the console with -f site.yaml'
  const needsCluster =
    source.kind === 'none' ? 'There is no cluster: give --kubeconfig, or --from with a folder of dumps' : undefined
  const views: readonly (readonly [ViewName, string, string | undefined])[] = [
    ['overview', commandLine('status', ...clusterOptions), undefined],
    ['addresses', commandLine('plan', ...fileOptions), needsSite],
    ['topology', commandLine('plan', ...fileOptions, '--topology', 'topology.svg'), needsSite],
    ['run', commandLine('up', ...fileOptions), hasRuns ? undefined : 'No run is recorded: `stackloom up` records one'],
    ['hosts', commandLine('hosts', ...clusterOptions), needsCluster],
    ['findings', commandLine('doctor', ...fileOptions, ...clusterOptions), planned ? undefined : needsCluster],
    [
      'lab',
      commandLine('lab', 'status', ...(labFile === undefined ? [] : ['-f', labFile])),
      labFile === undefined ? 'There is no lab file: start the console with --lab lab.yaml' : undefined,
    ],
  ]
  return views.map(([id, command, reason]) => ({
    id,
    title: titles[id],
    available: reason === undefined,
    ...(reason !== undefined && { reason }),
    command,
  }))
}

function listActions({ planned, source, fileOptions, clusterOptions }: MetaInput): MetaDocument['actions'] {
  const hasCluster = source.kind === 'live'
  const both = [...fileOptions, ...clusterOptions]
  const withPlan = planned
    ? [{ id: 'plan', title: 'Plan', command: commandLine('plan', ...fileOptions), confirm: false } as const]
    : []
  if (!hasCluster) return withPlan
  const doctor = { id: 'doctor', title: 'Doctor', command: commandLine('doctor', ...both), confirm: false } as const
  if (!planned) return [doctor]
  return [
    ...withPlan,
    { id: 'verify', title: 'Verify', command: commandLine('verify', ...both), confirm: false },
    doctor,
    { id: 'diff', title: 'Diff', command: commandLine('diff', ...both), confirm: false },
    { id: 'up', title: 'Deploy', command: commandLine('up', ...both), confirm: true },
    { id: 'down', title: 'Remove', command: commandLine('down', ...both), confirm: true },
  ]
}
