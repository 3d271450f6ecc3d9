/** Reads the log of what pods of a sandbox requested of its API server. */
import { readFileSync } from 'node:fs'
import { logFile, type SandboxFolder } from '../src/sandbox/folder.ts'
import { AUDIT_LOG } from '../src/sandbox/nodes/audit-log.ts'

interface AuditEvent {
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username: string }
  readonly annotations?: Readonly<Record<string, string>>
}

export interface PodRequests {
  /** The service accounts that requested something. */
  readonly accounts: ReadonlySet<string>
  /** Requests without the right to them; admission that refuses an object is something else. */
  readonly denied: readonly string[]
}

export function readPodRequests(folder: SandboxFolder): PodRequests {
  const events = readFileSync(logFile(folder, AUDIT_LOG), 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as AuditEvent)
  const isDenied = ({ annotations = {} }: AuditEvent): boolean =>
    annotations['authorization.k8s.io/decision'] === 'forbid'
  const denied = events.filter(isDenied).map(({ verb, requestURI, user }) => `${user.username}: ${verb} ${requestURI}`)
  return { accounts: new Set(events.map(({ user }) => user.username)), denied: [...new Set(denied)] }
}
