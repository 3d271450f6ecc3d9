/** Implements `stackloom hosts remove`, `drain` and `enable`: finds the host, shows what would happen, asks and runs the stages. */
import type { KubeObject } from '../../api/object.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import { accessObjectRefs, publicLogin, readAccess } from '../../deploy/access.ts'
import {
  cloudApiFailed,
  hostAmbiguous,
  hostInSiteFile,
  hostUnknown,
  removalNeedsConsent,
} from '../../deploy/findings/host-removal.ts'
import { type ChangeHostOptions, type ChangeHostReport, changeHost } from '../../deploy/hosts/change-host.ts'
import { findNodeKey, type HostAction, type HostToChange } from '../../deploy/hosts/host-change.ts'
import { previewChange } from '../../deploy/hosts/preview-change.ts'
import type { Inventory } from '../../deploy/inventory.ts'
import { openLiveView } from '../../deploy/live-view.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { type ExitCode, Failure, failure, formatError } from '../../errors/failure.ts'
import { finding, hasErrors } from '../../errors/finding.ts'
import { nodeSetKind, readNodeSet } from '../../hosts/data-plane.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { WriteGuard } from '../../kube/write-guard.ts'
import { type ComputeHostApi, openComputeHost } from '../../openstack/compute-host.ts'
import { openSession } from '../../openstack/session.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import { runExitCode } from '../command.ts'
import { type CloudFlags, selectClouds } from '../deployment.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { printFindings } from '../output/findings.ts'
import { type EventFormat, type Format, serialiseResult } from '../output/format.ts'
import { formatSummary } from '../output/run/summary.ts'
import { formatTable } from '../output/table.ts'
import { confirmByName } from '../questions.ts'
import { createCloudNames, readKnownInventories } from './cloud-names.ts'

export interface ChangeOptions extends ClusterFlags, CloudFlags {
  readonly drain?: boolean
  readonly off?: boolean
  readonly parallel?: number
  readonly instanceTimeout?: number
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly timeout?: number
  readonly events: EventFormat
  readonly output: Format
}

const PARALLEL = 2
const INSTANCE_MS = 1_800_000
const POLL_MS = 2_000

export async function runHostAction(
  action: HostAction,
  host: string,
  options: ChangeOptions,
  io: Io,
): Promise<ExitCode> {
  const connection = await openCluster(options, io)
  try {
    const { client } = connection
    const inventories = await readKnownInventories(client)
    const found = await findHost(client, host, inventories, options, io.stop)
    const isOurs = inventories.some(({ namespace }) => namespace === found.namespace)
    return await run(client, { ...found, action, isOurs }, options, io)
  } finally {
    await connection.close()
  }
}

interface RequestedChange extends HostToChange {
  readonly action: HostAction
  /** Whether Stackloom has deployed the cloud. */
  readonly isOurs: boolean
}

async function run(
  client: KubeClient,
  { isOurs, ...change }: RequestedChange,
  options: ChangeOptions,
  io: Io,
): Promise<ExitCode> {
  const output = options.output === 'wide' ? 'table' : options.output
  const { action, host, cloud } = change
  const findings = action === 'remove' && isOurs ? [finding(hostInSiteFile, { host, cloud })] : []
  const settings = {
    ...change,
    client,
    drain: action === 'drain' || (options.drain ?? false),
    isOff: options.off ?? false,
    limits: {
      parallel: options.parallel ?? PARALLEL,
      instanceMs: options.instanceTimeout ?? INSTANCE_MS,
      pollMs: POLL_MS,
    },
  }
  const steps = await previewChange(
    { ...settings, api: await openApi(client, change, () => undefined, io.stop) },
    io.stop,
  )
  const header = ['STAGE', 'WHAT']
  const rows = steps.map(({ stage, what }) => [stage, what])
  if (options.dryRun) {
    io.stderr('dry run: nothing was changed\n')
    io.stdout(
      output === 'table'
        ? formatTable(header, rows, Number.POSITIVE_INFINITY, io.colour.stdout)
        : await serialiseResult({ ...change, steps }, output, findings),
    )
    return 0
  }
  io.stderr(formatTable(header, rows, Number.POSITIVE_INFINITY, io.colour.stderr))
  const question = `Type the name of the host to ${action} it`
  if (action !== 'enable' && !options.yes && !(await confirmByName(question, host, io)))
    throw failure(removalNeedsConsent, { host }, { exitCode: 1 })
  const view = openLiveView(client)
  try {
    const report = await runWithLease(client, options, io, async ({ guard, client: leased, ...rest }) => {
      const api = await openApi(leased, change, guard, rest.stop)
      const all: ChangeHostOptions = { ...settings, ...rest, client: leased, api, view }
      return changeHost(all)
    })
    printFindings(findings, io)
    io.stdout(
      output === 'table' ? formatReport(report, io) : await serialiseResult({ ...change, ...report }, output, findings),
    )
    return runExitCode(report, io)
  } finally {
    await view.close()
  }
}

function formatReport(report: ChangeHostReport, { columns, colour }: Io): string {
  const summary = formatSummary(report, { columns, colour: colour.stdout })
  if (report.proof.length === 0) return summary
  const rows = report.proof.map(({ what, isGone, evidence }) => [what, isGone ? 'gone' : 'left', evidence])
  return `${summary}\n${formatTable(['OF THE HOST', 'STATE', 'EVIDENCE'], rows, Number.POSITIVE_INFINITY, colour.stdout)}`
}

/** The cloud of a host by its node sets, or as named: an interrupted removal may have taken it from its node set. */
async function findHost(
  client: KubeClient,
  name: string,
  inventories: readonly Inventory[],
  flags: CloudFlags,
  signal: AbortSignal,
): Promise<HostToChange> {
  const host = name.split('.')[0] ?? name
  const cloudNames = createCloudNames(inventories)
  const { items } = await client.list(nodeSetKind, { signal })
  const namespaces = [...new Set(items.flatMap(({ metadata }) => metadata.namespace ?? []))].sort()
  const clouds = namespaces.map((namespace) => ({ name: cloudNames(namespace), namespace }))
  const named = selectClouds(clouds, flags)
  const candidates = clouds.filter((cloud) => named.length === 0 || named.includes(cloud.name))
  const hasHost = (nodeSet: KubeObject): boolean => findNodeKey(nodeSet, host) !== undefined
  const holding = candidates.filter(({ namespace }) =>
    items.some((nodeSet) => nodeSet.metadata.namespace === namespace && hasHost(nodeSet)),
  )
  const [first, second] = holding.length === 0 && named.length === 1 ? candidates : holding
  if (second) throw failure(hostAmbiguous, { host, namespaces: holding.map((cloud) => cloud.name) }, { exitCode: 2 })
  if (!first) {
    const known = items.flatMap((nodeSet) => readNodeSet(nodeSet).hosts.map((known) => known.name))
    throw failure(hostUnknown, { host, nearest: closestMatch(host, known) }, { exitCode: 2 })
  }
  return { cloud: first.name, namespace: first.namespace, host }
}

/** With the credentials that the operators wrote for administrators, over the public endpoints. */
async function openApi(
  client: Pick<KubeClient, 'get'>,
  { cloud, namespace, host }: HostToChange,
  guard: WriteGuard,
  signal: AbortSignal,
): Promise<ComputeHostApi> {
  const objects = await Promise.all(accessObjectRefs(namespace).map((ref) => client.get(ref)))
  const index = indexSnapshot({ objects: objects.filter((object) => object !== undefined), unread: [] })
  const access = readAccess(cloud, namespace, index)
  const login = publicLogin(access)
  if (!login || hasErrors(access.findings)) throw new Failure(access.findings, 1)
  try {
    const api = await openSession({ ...login, guard, signal })
    return openComputeHost(api, host)
  } catch (thrown) {
    throw failure(cloudApiFailed, { cloud, reason: formatError(thrown) }, { exitCode: 1, cause: thrown })
  }
}
