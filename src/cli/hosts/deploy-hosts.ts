/** Implements `stackloom hosts deploy`: creates the deployments that bring exactly the selected hosts level, and waits. */
import type { KubeObject } from '../../api/object.ts'
import { formatGroupKind, indexSnapshot } from '../../api/snapshot.ts'
import { hostsNeedConsent } from '../../deploy/findings/hosts.ts'
import { HOSTS_LABEL } from '../../deploy/hosts/deploy-hosts.ts'
import { wrongUse } from '../../errors/common.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { deploymentKind, readDeployment } from '../../hosts/data-plane.ts'
import { formatHostNames } from '../../hosts/fold-hosts.ts'
import type { HostState } from '../../hosts/judge-hosts.ts'
import {
  type HostDeployment,
  isNova,
  planHostDeployments,
  renderHostDeployment,
} from '../../hosts/plan-host-deployments.ts'
import type { Connection } from '../../kube/connect.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import { runExitCode } from '../command.ts'
import type { CloudFlags } from '../deployment.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { printFindings } from '../output/findings.ts'
import { type EventFormat, type Format, serialiseResult } from '../output/format.ts'
import { formatSummary } from '../output/run/summary.ts'
import { formatTable } from '../output/table.ts'
import { askYesNo } from '../questions.ts'
import { type CloudNames, createCloudNames, readKnownInventories, selectNamespaces } from './cloud-names.ts'
import { gatherLiveHosts } from './gather-hosts.ts'
import { keepFailures } from './keep-failures.ts'

export interface DeployOptions extends ClusterFlags, CloudFlags {
  readonly behind?: boolean
  readonly failed?: boolean
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly timeout?: number
  readonly events: EventFormat
  readonly output: Format
}

export async function deployHosts(options: DeployOptions, io: Io): Promise<ExitCode> {
  if (!options.behind && !options.failed) {
    const reason = 'choose the hosts with --behind, --failed or both'
    throw failure(wrongUse, { reason, command: 'stackloom hosts deploy' })
  }
  const connection = await openCluster(options, io)
  try {
    return await run(connection, options, io)
  } finally {
    await connection.close()
  }
}

async function run(connection: Connection, options: DeployOptions, io: Io): Promise<ExitCode> {
  const { client } = connection
  const { behind = false, failed = false } = options
  const output = options.output === 'wide' ? 'table' : options.output
  const inventories = await readKnownInventories(client)
  const cloudNames = createCloudNames(inventories)
  const { states, snapshot, findings } = await gatherLiveHosts(client, io.stop)
  printFindings(findings, io)
  const selected = selectNamespaces(states, cloudNames, options)
  const inClouds = states.filter(({ namespace }) => selected.has(namespace))
  const existing = indexSnapshot(snapshot)
    .all(formatGroupKind(deploymentKind))
    .filter(({ metadata }) => selected.has(metadata.namespace ?? ''))
  const deployments = [
    ...findInterrupted(existing, inClouds),
    ...planHostDeployments(inClouds, { behind, failed }, (namespace) => endedDeployments(existing, namespace)),
  ]
  if (deployments.length === 0 || options.dryRun) {
    if (options.dryRun) io.stderr('dry run: nothing was changed\n')
    const objects = deployments.map(renderHostDeployment)
    io.stdout(
      output === 'table'
        ? formatDeployments(deployments, cloudNames, { columns: io.columns, colour: io.colour.stdout })
        : await serialiseResult({ deployments: objects }, output, findings),
    )
    return 0
  }
  io.stderr(formatDeployments(deployments, cloudNames, { columns: io.columns, colour: io.colour.stderr }))
  const count = new Set(deployments.flatMap(({ namespace, hosts }) => hosts.map((host) => `${namespace}/${host}`))).size
  if (!options.yes && !(await askYesNo(`Run Ansible on ${count} hosts?`, io)))
    throw failure(hostsNeedConsent, { hosts: count }, { exitCode: 1 })
  const { deployHosts: deployPlanned } = await import('../../deploy/hosts/deploy-hosts.ts')
  const { discoverHosts } = await import('../../deploy/stages/data-plane-stage.ts')
  const { openLiveView } = await import('../../deploy/live-view.ts')
  const view = openLiveView(client)
  const what = ['hosts deploy', ...(options.behind ? ['--behind'] : []), ...(options.failed ? ['--failed'] : [])].join(
    ' ',
  )
  try {
    const report = await runWithLease(client, options, io, ({ guard, ...leased }) =>
      deployPlanned({
        view,
        deployments,
        inventories,
        discoverHosts: discoverHosts(connection, guard),
        what,
        ...leased,
      }),
    )
    if (report.outcome === 'failed') {
      const namespaces = deployments.map(({ namespace }) => namespace)
      await keepFailures(connection, namespaces, io.stop)
    }
    const { outcome, stages } = report
    const terminal = { columns: io.columns, colour: io.colour.stdout }
    io.stdout(
      output === 'table'
        ? formatSummary(report, terminal)
        : await serialiseResult(
            { deployments: deployments.map(renderHostDeployment), outcome, stages },
            output,
            findings,
          ),
    )
    return runExitCode(report, io)
  } finally {
    await view.close()
  }
}

/** Deployments of an earlier run of this command that have not ended: it is continued by waiting for them. */
function findInterrupted(existing: readonly KubeObject[], states: readonly HostState[]): readonly HostDeployment[] {
  return existing
    .filter(({ metadata }) => metadata.labels?.[HOSTS_LABEL] !== undefined)
    .map(readDeployment)
    .flatMap(({ namespace, name, nodeSets, limit }) => {
      const hosts = states.filter(
        (state) => state.namespace === namespace && state.verdict === 'running' && state.deployment === name,
      )
      if (hosts.length === 0) return []
      const names = hosts.map(({ host }) => host)
      // Whether they were deployed before is no longer known; discovering them again does nothing.
      const isFirst = hosts.some(({ services }) => services.some(isNova))
      return [{ namespace, name, nodeSets, ...(limit !== '' && { limit }), hosts: names, isFirst }]
    })
}

/** Those that have not ended are not part of a name: a run that was interrupted must find its own again. */
function endedDeployments(existing: readonly KubeObject[], within: string): readonly string[] {
  return existing
    .map(readDeployment)
    .filter(({ namespace, isDeployed, error }) => namespace === within && (isDeployed || error !== undefined))
    .map(({ name }) => name)
}

function formatDeployments(
  deployments: readonly HostDeployment[],
  cloudNames: CloudNames,
  { columns, colour }: { readonly columns: number; readonly colour: boolean },
): string {
  if (deployments.length === 0) return 'no hosts to deploy\n'
  const rows = deployments.map(({ namespace, name, nodeSets, hosts }) => [
    cloudNames(namespace),
    name,
    nodeSets.join(','),
    `${hosts.length}`,
    formatHostNames(hosts),
  ])
  return formatTable(['CLOUD', 'DEPLOYMENT', 'NODE SETS', 'COUNT', 'HOSTS'], rows, columns, colour)
}
