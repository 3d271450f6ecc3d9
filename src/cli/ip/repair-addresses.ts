/** Implements `stackloom ip repair`: frees reservations whose owner does not exist, and proves it by what it read. */

import type { AddressFault } from '../../addresses/audit-addresses.ts'
import { repairNeedsConsent, repairUnproven, silentNodes } from '../../addresses/findings.ts'
import { intersectFaults, planRepair } from '../../addresses/plan-repair.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import type { Clock } from '../../clock/clock.ts'
import { type FreedAddress, freeAddresses } from '../../deploy/addresses/free-addresses.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import { openCluster } from '../cluster.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { askYesNo } from '../questions.ts'
import { type AuditOptions, faultJson, faultRow, gatherLiveAudit, selectAudit } from './audit-addresses.ts'

export interface RepairOptions extends AuditOptions {
  readonly yes?: boolean
  readonly dryRun?: boolean
}

/** A node that runs releases the addresses of a deleted pod within seconds, and tries again after a failure. */
const SETTLE_MS = 30_000

export async function repairAddresses(options: RepairOptions, io: Io, clock: Clock): Promise<ExitCode> {
  const connection = await openCluster(options, io)
  try {
    return await repair(connection.client, options, io, clock)
  } finally {
    await connection.close()
  }
}

async function repair(client: KubeClient, options: RepairOptions, io: Io, clock: Clock): Promise<ExitCode> {
  const first = selectAudit(await gatherLiveAudit(client, undefined, io), options)
  const planned = planRepair(first, first.index)
  const { free, kept, silentNodes: nodes, proof } = planned
  const findings: readonly Finding[] = [
    ...first.findings,
    ...(first.unproven.length > 0 ? [finding(repairUnproven, { reasons: first.unproven })] : []),
    ...(kept.length > 0 ? [finding(silentNodes, { count: kept.length, nodes })] : []),
  ]
  printFindings(findings, io)
  const print = async (results: readonly FreedAddress[]): Promise<void> => {
    const addresses = results.map(({ fault, outcome, evidence }) => ({
      ...faultJson(fault, first.cloudNames),
      outcome,
      evidence,
    }))
    io.stdout(
      options.output === 'table'
        ? formatResults(results, first.cloudNames, io)
        : await serialiseResult(
            { addresses, kept: kept.map((fault) => faultJson(fault, first.cloudNames)), proof },
            options.output,
            findings,
          ),
    )
  }
  const code = (results: readonly FreedAddress[]): ExitCode => {
    if (first.unproven.length > 0) return 3
    return kept.length > 0 || results.some(({ outcome }) => outcome === 'kept') ? 1 : 0
  }
  if (options.dryRun || free.length === 0) {
    if (options.dryRun) io.stderr('dry run: nothing was changed\n')
    await print(free.map((fault) => ({ fault, outcome: 'freed', evidence: `${fault.owner}: not found` })))
    return code([])
  }
  const looked = Object.entries(proof).map(([kind, names]) => `${names.length} ${kind}`)
  io.stderr(
    `looked at ${looked.join(', ')}; looking again in ${SETTLE_MS / 1000} s, because a node may be releasing addresses\n`,
  )
  const settled = await settle(client, free, options, io, clock)
  io.stderr(
    formatTable(
      ['CLOUD', 'ADDRESS', 'NETWORK', 'STATE', 'WHY'],
      settled.map((fault) => [...faultRow(fault, first.cloudNames)]),
      Number.POSITIVE_INFINITY,
      io.colour.stderr,
    ),
  )
  if (settled.length > 0 && !options.yes && !(await askYesNo(`Free ${settled.length} addresses?`, io)))
    throw failure(repairNeedsConsent, { count: settled.length }, { exitCode: 1 })
  const results = await freeAddresses(client, settled, io.stop)
  await print(results)
  return code(results)
}

async function settle(
  client: KubeClient,
  free: readonly AddressFault[],
  options: RepairOptions,
  io: Io,
  clock: Clock,
): Promise<readonly AddressFault[]> {
  await clock.sleep(SETTLE_MS, io.stop)
  io.stop.throwIfAborted()
  const again = selectAudit(await gatherLiveAudit(client, undefined, io), options)
  return intersectFaults(free, planRepair(again, again.index).free)
}

function formatResults(results: readonly FreedAddress[], cloudNames: (namespace: string) => string, io: Io): string {
  if (results.length === 0) return 'no addresses to free\n'
  const rows = results.map(({ fault, outcome, evidence }) => [
    cloudNames(fault.namespace),
    fault.address,
    formatObjectName(fault.object),
    outcome,
    evidence,
  ])
  const header = ['CLOUD', 'ADDRESS', 'RESERVED BY', 'OUTCOME', 'EVIDENCE']
  return formatTable(header, rows, Number.POSITIVE_INFINITY, io.colour.stdout)
}
