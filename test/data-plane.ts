/** Builds roles, nodes and runs for tests. */
import {
  type AnsibleRun,
  ATTEMPT_ANNOTATION,
  ansibleRuns,
  HOSTS_ANNOTATION,
  type RunResult,
} from '../src/dataplane/kinds/ansible-run.ts'
import {
  type DataPlaneNode,
  type DataPlaneNodeSpec,
  type DataPlaneRole,
  type DataPlaneRoleSpec,
  dataPlaneNodes,
  dataPlaneRoles,
} from '../src/dataplane/kinds/data-plane.ts'
import { HOST_INPUTS_ANNOTATION, STEP_ANNOTATION } from '../src/dataplane/runs/attempts.ts'

type Annotations = Readonly<Record<string, string>>
export const SSH_SECRET = 'dataplane-ansible-ssh-private-key-secret'
export const CELL = 'nova.openstack.org/cell'

export function dataPlaneRole(
  name: string,
  spec: DataPlaneRoleSpec = {},
  annotations: Annotations = {},
  namespace = 'openstack',
): DataPlaneRole {
  return { ...dataPlaneRoles, metadata: { name, namespace, annotations }, spec }
}

export function dataPlaneNode(
  name: string,
  spec: DataPlaneNodeSpec = {},
  annotations: Annotations = {},
  namespace = 'openstack',
): DataPlaneNode {
  return { ...dataPlaneNodes, metadata: { name, namespace, annotations }, spec }
}

export interface RunFacts {
  readonly step: string
  /** Its hosts, each with the hash of its inputs. */
  readonly hosts: Readonly<Record<string, string>>
  readonly attempt?: number
  readonly status?: AnsibleRun['status']
  readonly spec?: AnsibleRun['spec']
}

export function ansibleRun(name: string, { step, hosts, attempt = 1, status, spec = {} }: RunFacts): AnsibleRun {
  return {
    ...ansibleRuns,
    metadata: {
      name,
      namespace: 'openstack',
      annotations: {
        [STEP_ANNOTATION]: step,
        [ATTEMPT_ANNOTATION]: String(attempt),
        [HOSTS_ANNOTATION]: Object.keys(hosts).join(','),
        [HOST_INPUTS_ANNOTATION]: JSON.stringify(hosts),
      },
    },
    spec,
    ...(status && { status }),
  }
}

export const counted = { ok: 3, changed: 1, failures: 0, unreachable: 0 }

export function ended(reason: RunResult['reason'], more: Partial<RunResult> = {}): AnsibleRun['status'] {
  return {
    JobStatus: reason === 'Completed' ? 'Succeeded' : 'Failed',
    result: { reason, finishedAt: '2026-01-01T00:00:00.000Z', ...more },
  }
}
