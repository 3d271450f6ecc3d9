/** Implements `stackloom ip audit`: shows reservations without an owner, and addresses that two objects have. */
import type { AddressAudit, AddressFault } from '../../addresses/audit-addresses.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import { indexSnapshot, type Snapshot, type SnapshotIndex } from '../../api/snapshot.ts'
import { systemClock } from '../../clock/clock.ts'
import type { DoubledAddress } from '../../doctor/facts/address-holders.ts'
import type { ExitCode } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Plan } from '../../plan/plan.ts'
import { type ClusterFlags, openCluster, withTypedObjects } from '../cluster.ts'
import type { CloudFlags } from '../deployment.ts'
import { type CloudNames, createCloudNames, readKnownInventories, selectNamespaces } from '../hosts/cloud-names.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { planNamedFile } from '../planning.ts'

export interface AuditOptions extends ClusterFlags, CloudFlags {
  /** Set only if the command line has it. */
  readonly file?: string
  readonly lock?: string
  readonly from?: string
  readonly output: Format
}

export interface GatheredAudit extends AddressAudit {
  readonly doubled: readonly DoubledAddress[]
  readonly index: SnapshotIndex
  readonly findings: readonly Finding[]
  readonly cloudNames: CloudNames
}

export async function showAudit(options: AuditOptions, io: Io): Promise<ExitCode> {
  const plan = await planNamedFile(options, io)
  const audit = selectAudit(await gather(options, plan, io), options)
  const { faults, doubled, unproven, findings, cloudNames } = audit
  printFindings(findings, io)
  const { output } = options
  io.stdout(
    output === 'json' || output === 'yaml'
      ? await serialiseResult(
          { addresses: faults.map((fault) => faultJson(fault, cloudNames)), doubled, unproven },
          output,
          findings,
        )
      : formatAudit(audit, io),
  )
  if (faults.length > 0 || doubled.length > 0) return 1
  return unproven.length > 0 ? 3 : 0
}

async function gather(options: AuditOptions, plan: Plan | undefined, io: Io): Promise<GatheredAudit> {
  if (options.from !== undefined) {
    const { gatherSnapshot, refuseEmptyDump } = await import('../cluster.ts')
    const { parseInventories, inventoryKinds } = await import('../../deploy/deployment-status.ts')
    const gathered = await gatherSnapshot(options, [...(await kindsToRead()), ...inventoryKinds], io)
    refuseEmptyDump(gathered, options.from)
    const { snapshot, findings } = gathered
    return judge(snapshot, findings, plan, createCloudNames(parseInventories(snapshot)))
  }
  const connection = await openCluster(options, io)
  try {
    return await gatherLiveAudit(connection.client, plan, io)
  } finally {
    await connection.close()
  }
}

export async function gatherLiveAudit(client: KubeClient, plan: Plan | undefined, io: Io): Promise<GatheredAudit> {
  const { takeSnapshot } = await import('../../kube/snapshot.ts')
  const { auditKinds } = await import('../../addresses/audit-addresses.ts')
  const { distinctKinds } = await import('../../deploy/object-changes.ts')
  const cloudNames = createCloudNames(await readKnownInventories(client))
  const options = { signal: io.stop }
  // Reservations before their owners: an owner that is created in between has its reservation later.
  const kinds = distinctKinds([...auditKinds, ...(await kindsToRead())])
  const isOwner = ({ kind }: { readonly kind: string }): boolean => kind === 'Pod' || kind === 'IPSet'
  const reservations = await takeSnapshot(
    client,
    kinds.filter((kind) => !isOwner(kind)),
    options,
  )
  const owners = await takeSnapshot(client, kinds.filter(isOwner), options)
  const { snapshot, findings } = await withTypedObjects({
    snapshot: {
      objects: [...reservations.snapshot.objects, ...owners.snapshot.objects],
      unread: [...reservations.snapshot.unread, ...owners.snapshot.unread],
    },
    findings: [...reservations.findings, ...owners.findings],
  })
  return judge(snapshot, findings, plan, cloudNames)
}

async function kindsToRead() {
  const { auditKinds } = await import('../../addresses/audit-addresses.ts')
  const { doubledKinds } = await import('../../doctor/facts/address-holders.ts')
  const { distinctKinds } = await import('../../deploy/object-changes.ts')
  return distinctKinds([...auditKinds, ...doubledKinds()])
}

async function judge(
  snapshot: Snapshot,
  findings: readonly Finding[],
  plan: Plan | undefined,
  cloudNames: CloudNames,
): Promise<GatheredAudit> {
  const { auditAddresses } = await import('../../addresses/audit-addresses.ts')
  const { doubledAddresses } = await import('../../doctor/facts/address-holders.ts')
  const { createClusterState } = await import('../../doctor/cluster-state.ts')
  const index = indexSnapshot(snapshot)
  const state = createClusterState({ snapshot, now: systemClock.now(), ...(plan && { plan }) })
  return { ...auditAddresses(index, plan), doubled: doubledAddresses(state), index, findings, cloudNames }
}

/** What `--cloud` and `-n` select. */
export function selectAudit(audit: GatheredAudit, options: CloudFlags): GatheredAudit {
  if (options.cloud === undefined && options.namespace === undefined) return audit
  const { faults, doubled, index, cloudNames } = audit
  const clouds = index
    .all('k8s.cni.cncf.io/NetworkAttachmentDefinition')
    .map(({ metadata }) => ({ namespace: metadata.namespace ?? '' }))
  const selected = selectNamespaces([...faults, ...doubled, ...clouds], cloudNames, options)
  const isSelected = ({ namespace }: { readonly namespace: string }): boolean => selected.has(namespace)
  return { ...audit, faults: faults.filter(isSelected), doubled: doubled.filter(isSelected) }
}

const faultNames: Readonly<Record<AddressFault['kind'], string>> = {
  leaked: 'leaked',
  'leaked-overlap': 'leaked',
  unreserved: 'not reserved',
  orphaned: 'leaked',
  unplanned: 'not planned',
}

export function faultJson({ namespace, object, ...fault }: AddressFault, cloudNames: CloudNames): object {
  return { cloud: cloudNames(namespace), namespace, ...fault, object: formatObjectName(object) }
}

function formatAudit({ faults, doubled, unproven, cloudNames, index }: GatheredAudit, io: Io): string {
  const rows = [
    ...faults.map((fault) => faultRow(fault, cloudNames)),
    ...doubled.map(({ namespace, address, holders }) => [
      cloudNames(namespace),
      address,
      '-',
      'held twice',
      holders.join(' and '),
    ]),
  ]
  const looked = `looked at ${index.all('whereabouts.cni.cncf.io/IPPool').length} IPPools, ${index.all('Pod').length} pods and ${index.all('network.openstack.org/Reservation').length} Reservations\n`
  const gaps = unproven.map((reason) => `not judged: ${reason}\n`).join('')
  if (rows.length === 0) return `no leaked or doubled addresses; ${looked}${gaps}`
  const header = ['CLOUD', 'ADDRESS', 'NETWORK', 'STATE', 'WHY']
  return `${formatTable(header, rows, Number.POSITIVE_INFINITY, io.colour.stdout)}${looked}${gaps}`
}

export function faultRow(fault: AddressFault, cloudNames: CloudNames): readonly string[] {
  const { kind, namespace, address, network = '-' } = fault
  return [cloudNames(namespace), address, network, faultNames[kind], explainFault(fault)]
}

function explainFault({ kind, object, owner }: AddressFault): string {
  const name = formatObjectName(object)
  if (kind === 'unreserved') return `${name} has it, without ${owner}`
  if (kind === 'unplanned') return `${name} has it, not ${owner}`
  return `${name} has it for ${owner}, which does not exist`
}
