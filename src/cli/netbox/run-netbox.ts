/** Implements the commands of `stackloom netbox`. */

import { groupBy } from '../../api/collections.ts'
import { asRecord } from '../../api/json.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { type Comparison, compareEntries, formatEntry, type NetBoxChange } from '../../netbox/compare.ts'
import { type EntryType, entryTypes, type NetBoxEntry, planEntries, readEntry, siteTag } from '../../netbox/entries.ts'
import { exportNeedsConsent, noToken } from '../../netbox/findings.ts'
import { importPrefixes } from '../../netbox/import-prefixes.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { failOnErrors, type PlanningOptions, planFromFiles } from '../planning.ts'
import { askYesNo } from '../questions.ts'
import { type NetBox, openNetBox } from './client.ts'

interface ConnectionFlags {
  readonly url: string
  readonly tokenFile?: string
  readonly certificateAuthority?: string
  readonly vrf?: string
}

export interface NetBoxFlags extends PlanningOptions, ConnectionFlags {
  readonly output: Format
}

export interface ExportFlags extends NetBoxFlags {
  readonly yes?: boolean
  readonly dryRun?: boolean
}

export interface ImportFlags extends ConnectionFlags {
  readonly tenant?: readonly string[]
  readonly output: Format
}

async function withNetBox<T>(options: ConnectionFlags, io: Io, work: (netBox: NetBox) => Promise<T>): Promise<T> {
  const { url, tokenFile, certificateAuthority } = options
  const read = async (file: string): Promise<string> => Buffer.from(await readInput(file, io)).toString('utf8')
  const token = (tokenFile === undefined ? (io.env['NETBOX_TOKEN'] ?? '') : await read(tokenFile)).trim()
  if (token === '') throw failure(noToken, {})
  const ca = certificateAuthority === undefined ? undefined : await read(certificateAuthority)
  const netBox = openNetBox({ url, token, stop: io.stop, ...(ca !== undefined && { ca }) })
  try {
    return await work(netBox)
  } finally {
    await netBox.close()
  }
}

interface Compared extends Comparison {
  readonly tag: string
  readonly vrf: number | undefined
}

/** VLANs have no VRF. The same subnet in another VRF is another prefix: without a VRF, those that have none. */
const vrfQuery = (type: EntryType, vrf: number | undefined): Readonly<Record<string, string>> =>
  type === 'vlans' ? {} : { vrf_id: vrf === undefined ? 'null' : String(vrf) }

async function findVrf({ vrf }: ConnectionFlags, netBox: NetBox): Promise<number | undefined> {
  return vrf === undefined ? undefined : netBox.findVrf(vrf)
}

async function compare(options: NetBoxFlags, netBox: NetBox, io: Io): Promise<Compared> {
  const planning = await planFromFiles(options, io)
  failOnErrors(planning)
  const tag = siteTag(planning.plan.site)
  const vrf = await findVrf(options, netBox)
  const existing = await listEntries(netBox, tag, vrf)
  const comparison = compareEntries(planEntries(planning.plan), existing)
  printFindings(comparison.findings, io)
  return { ...comparison, tag, vrf }
}

/** All entries, not only ours: what exists already is not created a second time. */
async function listEntries(netBox: NetBox, tag: string, vrf: number | undefined): Promise<readonly NetBoxEntry[]> {
  const lists = await Promise.all(
    entryTypes.map(async (type) =>
      (await netBox.list(type, vrfQuery(type, vrf))).flatMap((result) => readEntry(type, result, tag) ?? []),
    ),
  )
  return lists.flat()
}

export function diffNetBox(options: NetBoxFlags, io: Io): Promise<ExitCode> {
  return withNetBox<ExitCode>(options, io, async (netBox) => {
    const { changes, findings } = await compare(options, netBox, io)
    await printChanges({ changes, findings }, options.output, io)
    return changes.length + findings.length > 0 ? 1 : 0
  })
}

async function printChanges({ changes, findings }: Comparison, output: Format, io: Io): Promise<void> {
  if (output !== 'table') return io.stdout(await serialiseResult({ changes }, output, findings))
  if (changes.length === 0) return io.stdout('NetBox has what is planned\n')
  const rows = changes.map((change) => [change.change, change.type, change.key, describeFields(change)])
  io.stdout(formatTable(['CHANGE', 'TYPE', 'ENTRY', 'FIELDS'], rows, io.columns, io.colour.stdout))
}

function describeFields({ change, fields, before = {} }: NetBoxChange): string {
  if (change !== 'update') return String(fields['description'] ?? fields['name'] ?? before['description'] ?? '')
  return Object.keys(fields)
    .map((field) => `${field}: ${before[field] ?? '-'} → ${fields[field]}`)
    .join(', ')
}

export function exportToNetBox(options: ExportFlags, io: Io): Promise<ExitCode> {
  return withNetBox<ExitCode>(options, io, async (netBox) => {
    const { changes, findings, tag, vrf } = await compare(options, netBox, io)
    await printChanges({ changes, findings }, options.output, io)
    if (options.dryRun) io.stderr('dry run: nothing was changed\n')
    if (options.dryRun || changes.length === 0) return 0
    if (!options.yes && !(await askYesNo(`Write ${changes.length} changes to ${options.url}?`, io)))
      throw failure(exportNeedsConsent, { url: options.url, changes: changes.length }, { exitCode: 1 })
    await netBox.ensureTag(tag)
    await writeChanges(netBox, changes, { tag, vrf })
    io.stderr(`${changes.length} changes are written\n`)
    return 0
  })
}

/** VLANs first, because prefixes refer to them by id; deletions last. */
async function writeChanges(
  netBox: NetBox,
  changes: readonly NetBoxChange[],
  { tag, vrf }: Pick<Compared, 'tag' | 'vrf'>,
): Promise<void> {
  const select = (type: EntryType, kind: NetBoxChange['change']) =>
    changes.filter((entry) => entry.type === type && entry.change === kind)
  for (const type of entryTypes) {
    const vlanIds = type === 'prefixes' ? await readVlanIds(netBox, tag) : new Map<string, number>()
    const toRequest = ({ fields }: NetBoxChange): object => {
      const { vlan, ...others } = fields
      return { ...others, ...(vlan !== undefined && { vlan: vlanIds.get(String(vlan)) ?? null }) }
    }
    const placed = vrf === undefined || type === 'vlans' ? {} : { vrf }
    await netBox.create(
      type,
      select(type, 'create').map((change) => ({ ...toRequest(change), ...placed, tags: [{ slug: tag }] })),
    )
    await netBox.update(
      type,
      select(type, 'update').map((change) => ({ id: change.id, ...toRequest(change) })),
    )
  }
  for (const type of entryTypes.toReversed())
    await netBox.remove(
      type,
      select(type, 'delete').flatMap(({ id }) => id ?? []),
    )
}

async function readVlanIds(netBox: NetBox, tag: string): Promise<ReadonlyMap<string, number>> {
  const vlans = (await netBox.list('vlans')).flatMap((result) => readEntry('vlans', result, tag) ?? [])
  return new Map(
    [...groupBy(vlans, formatEntry).values()].flatMap(([first]) => (first ? [[first.key, first.id] as const] : [])),
  )
}

export function importFromNetBox(options: ImportFlags, io: Io): Promise<ExitCode> {
  return withNetBox<ExitCode>(options, io, async (netBox) => {
    const vrf = await findVrf(options, netBox)
    const prefixes = (await netBox.list('prefixes', vrfQuery('prefixes', vrf))).filter((result) =>
      isOfTenant(result, options.tenant),
    )
    const addresses = (await netBox.list('ip-addresses', vrfQuery('ip-addresses', vrf))).flatMap(
      (result) => readEntry('ip-addresses', result, '') ?? [],
    )
    const { clouds, findings } = importPrefixes(prefixes, addresses)
    printFindings(findings, io)
    io.stdout(await serialiseResult({ spec: { clouds } }, options.output, findings))
    return 0
  })
}

function isOfTenant(result: unknown, tenants: readonly string[] | undefined): boolean {
  return tenants === undefined || tenants.includes(String(asRecord(asRecord(result)['tenant'])['slug']))
}
