/** Configures the API server's log of what pods request, which shows the rights that they lack. Pure. */
import path from 'node:path'
import { logFile, type SandboxFolder } from '../folder.ts'

/** `stackloom sandbox logs audit` prints it. */
export const AUDIT_LOG = 'audit'

/** Requests by service accounts without their bodies: those of people and of the programs of the sandbox are no pods'. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
}

export function auditPolicyPath({ nodes }: SandboxFolder): string {
  return path.join(nodes, 'audit-policy.json')
}

export function auditFlags(folder: SandboxFolder): readonly string[] {
  return [
    `--audit-policy-file=${auditPolicyPath(folder)}`,
    `--audit-log-path=${logFile(folder, AUDIT_LOG)}`,
    // In MB: a sandbox may run for weeks.
    '--audit-log-maxsize=100',
    '--audit-log-maxbackup=1',
  ]
}
