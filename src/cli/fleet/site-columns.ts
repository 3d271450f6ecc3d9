/** The columns of each command in the table of a fleet, from what the command prints for one site with `-o json`. Pure. */
import { asList, asRecord, type JsonRecord } from '../../api/json.ts'
import type { SiteResult } from '../../fleet/site-outcome.ts'
import type { FleetCommand } from './fleet-option.ts'

export interface SiteColumns {
  readonly headers: readonly string[]
  /** Empty when the command failed at the site. */
  readonly cells: (result: SiteResult) => readonly (string | number)[]
  /** The first problem, where the command has problems that are no findings. */
  readonly problem?: (result: SiteResult) => string | undefined
}

/** Counts the items of a list by the value of one field. */
function countBy(headers: readonly string[], list: string, field: string, values: readonly string[]): SiteColumns {
  return {
    headers,
    cells: (result) => {
      if (!(list in result)) return []
      const items = asList(result[list]).map((item) => asRecord(item)[field])
      return [items.length, ...values.map((value) => items.filter((item) => item === value).length)]
    },
  }
}

function findByVerdict(list: unknown, verdicts: readonly string[]): JsonRecord | undefined {
  return asList(list)
    .map(asRecord)
    .find(({ verdict }) => verdicts.includes(String(verdict)))
}

export const siteColumns: Readonly<Record<FleetCommand, SiteColumns>> = {
  status: {
    headers: ['CLOUDS', 'OBJECTS', 'READY', 'WAITING', 'FAILED'],
    cells: ({ clouds }) => {
      if (clouds === undefined) return []
      const groups = asList(clouds).map(asRecord)
      const kinds = groups.flatMap(({ objects }) => asList(objects).map((object) => asRecord(object)['kind']))
      const countKind = (kind: string): number => kinds.filter((found) => found === kind).length
      const named = groups.filter(({ cloud }) => cloud !== undefined)
      return [named.length, kinds.length, countKind('ready'), countKind('progressing'), countKind('failed')]
    },
    problem: ({ clouds }) => {
      const objects = asList(clouds).flatMap((cloud) => asList(asRecord(cloud)['objects']).map(asRecord))
      const failed = objects.find(({ kind }) => kind === 'failed')
      return failed && `${String(failed['name'])}: ${String(failed['cause'])}`
    },
  },
  verify: countBy(['CHECKS', 'PASSED', 'FAILED', 'UNKNOWN'], 'checks', 'verdict', ['passed', 'failed', 'unknown']),
  doctor: {
    ...countBy(['CAUSES', 'ERRORS', 'WARNINGS'], 'diagnoses', 'severity', ['error', 'warning']),
    problem: ({ diagnoses }) => {
      const cause = asList(diagnoses)
        .map(asRecord)
        .find(({ severity }) => severity === 'error')
      return cause && `${String(cause['code'])}: ${String(cause['message'])}`
    },
  },
  hosts: {
    ...countBy(['HOSTS', 'CURRENT', 'BEHIND', 'FAILED', 'NEVER', 'UNKNOWN'], 'hosts', 'verdict', [
      'current',
      'behind',
      'failed',
      'never',
      'unknown',
    ]),
    problem: ({ hosts }) => {
      const failed = findByVerdict(hosts, ['failed'])
      return failed && `${String(failed['host'])} of ${String(failed['cloud'])}: a deployment failed`
    },
  },
  certificates: {
    ...countBy(['CERTIFICATES', 'EXPIRED', 'CRITICAL', 'SOON', 'DUE'], 'certificates', 'verdict', [
      'expired',
      'critical',
      'soon',
      'due',
    ]),
    problem: ({ certificates }) => {
      const ending = findByVerdict(certificates, ['expired', 'critical'])
      return ending && `${String(ending['name'])} of ${String(ending['cloud'])} ends on ${String(ending['notAfter'])}`
    },
  },
  plan: {
    headers: ['CLOUDS', 'ERRORS', 'WARNINGS'],
    cells: ({ clouds, findings = [] }) => {
      const countSeverity = (severity: string): number =>
        findings.filter((finding) => finding.severity === severity).length
      return [clouds === undefined ? '-' : asList(clouds).length, countSeverity('error'), countSeverity('warning')]
    },
  },
}
