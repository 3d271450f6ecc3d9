/** Implements `stackloom certificates`: what ends soon first; all certificates and credentials with `-o wide`. */
import pc from 'picocolors'
import type { CredentialState } from '../../certificates/credentials.ts'
import type { CertificateState, CertificateVerdict } from '../../certificates/judge-certificates.ts'
import { systemClock } from '../../clock/clock.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { formatHolders } from '../../hosts/fold-hosts.ts'
import type { ClusterFlags } from '../cluster.ts'
import type { CloudFlags } from '../deployment.ts'
import type { FleetFlags } from '../fleet/fleet-option.ts'
import { type CloudNames, createCloudNames, selectNamespaces } from '../hosts/cloud-names.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { oneLine } from '../output/text.ts'
import type { GatheredCertificates } from './gather-certificates.ts'

export interface ShowOptions extends ClusterFlags, CloudFlags, FleetFlags {
  readonly from?: string
}

export async function showCertificates(options: ShowOptions, io: Io): Promise<ExitCode> {
  const { gathered, cloudNames } = await gather(options, io)
  const { findings, snapshot } = gathered
  const selected = selectNamespaces([...gathered.certificates, ...gathered.credentials], cloudNames, options)
  const inSelected = ({ namespace }: { readonly namespace: string }): boolean => selected.has(namespace)
  const certificates = gathered.certificates.filter(inSelected)
  const credentials = gathered.credentials.filter(inSelected)
  printFindings(findings, io)
  const { output } = options
  const named = <T extends { readonly namespace: string }>(state: T) => ({
    cloud: cloudNames(state.namespace),
    ...state,
  })
  if (output === 'json' || output === 'yaml') {
    const result = { certificates: certificates.map(named), credentials: credentials.map(named) }
    io.stdout(await serialiseResult(result, output, findings))
  } else if (output === 'wide') {
    io.stdout(formatCertificates(certificates, cloudNames, io))
    if (credentials.length > 0) io.stdout(`\n${formatCredentials(credentials, cloudNames, io)}`)
  } else {
    const shown = certificates.filter(isNoteworthy)
    const old = credentials.filter(isNoteworthy)
    if (shown.length > 0) io.stdout(formatCertificates(shown, cloudNames, io))
    if (old.length > 0) io.stdout(`${shown.length > 0 ? '\n' : ''}${formatCredentials(old, cloudNames, io)}`)
    io.stdout(formatTotal(certificates, shown.length))
  }
  if ([...certificates, ...credentials].some(({ verdict }) => verdict === 'expired' || verdict === 'critical')) return 1
  return snapshot.unread.some(({ cause }) => cause === 'forbidden' || cause === 'failed') ? 3 : 0
}

function isNoteworthy({ verdict = 'valid', ...state }: CertificateState | CredentialState): boolean {
  return verdict !== 'valid' || formatHolders(state) !== ''
}

async function gather(
  options: ShowOptions,
  io: Io,
): Promise<{ readonly gathered: GatheredCertificates; readonly cloudNames: CloudNames }> {
  const { gatherDumpedCertificates, gatherLiveCertificates } = await import('./gather-certificates.ts')
  const now = systemClock.now()
  if (options.from !== undefined)
    return { gathered: await gatherDumpedCertificates(options.from, io, now), cloudNames: createCloudNames([]) }
  const { openCluster } = await import('../cluster.ts')
  const { readKnownInventories } = await import('../hosts/cloud-names.ts')
  const connection = await openCluster(options, io)
  try {
    const inventories = await readKnownInventories(connection.client)
    const gathered = await gatherLiveCertificates(connection.client, io.stop, now)
    return { gathered, cloudNames: createCloudNames(inventories) }
  } finally {
    await connection.close()
  }
}

function formatCertificates(states: readonly CertificateState[], cloudNames: CloudNames, io: Io): string {
  const header = ['CLOUD', 'CERTIFICATE', 'SUBJECT', 'ISSUER', 'ENDS', 'DAYS', 'RENEWAL', 'VERDICT', 'OLDER COPY IN']
  const rows = states.map((state) => [
    cloudNames(state.namespace),
    state.kind === 'Route' ? `route ${state.name}` : state.name,
    oneLine(state.subject ?? '-'),
    oneLine(state.issuer ?? '-'),
    formatDay(state.notAfter),
    state.daysLeft === undefined ? '-' : String(state.daysLeft),
    formatDay(state.renewal),
    formatVerdict(state.verdict, io),
    formatHolders(state) || '-',
  ])
  return formatTable(header, rows, Number.POSITIVE_INFINITY, io.colour.stdout)
}

function formatCredentials(states: readonly CredentialState[], cloudNames: CloudNames, io: Io): string {
  const header = ['CLOUD', 'CREDENTIALS', 'USED BY', 'CHANGED', 'DAYS', 'ENDS', 'VERDICT', 'OLDER COPY IN']
  const rows = states.map((state) => [
    cloudNames(state.namespace),
    state.secret,
    formatUsers(state.usedBy),
    formatDay(state.changed),
    state.ageDays === undefined ? '-' : String(state.ageDays),
    formatDay(state.notAfter),
    state.verdict === undefined ? '-' : formatVerdict(state.verdict, io),
    formatHolders(state) || '-',
  ])
  return formatTable(header, rows, Number.POSITIVE_INFINITY, io.colour.stdout)
}

/** The first is enough to know what it is for. */
function formatUsers([first = '-', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`
}

function formatTotal(states: readonly CertificateState[], shown: number): string {
  const total = `${states.length} ${states.length === 1 ? 'certificate' : 'certificates'}`
  const next = states.find(({ verdict, notAfter }) => verdict === 'valid' && notAfter !== undefined)
  const end = next ? `; of the valid ones ${next.name} ends first, on ${formatDay(next.notAfter)}` : ''
  return `${total}, ${states.length - shown} without a problem${end}\n`
}

const formatDay = (time: string | undefined): string => time?.slice(0, 10) ?? '-'

function formatVerdict(verdict: CertificateVerdict, io: Io): string {
  const { green, red, yellow } = pc.createColors(io.colour.stdout)
  const colour = { expired: red, critical: red, unreadable: red, soon: yellow, due: yellow, valid: green }[verdict]
  return colour(verdict)
}
