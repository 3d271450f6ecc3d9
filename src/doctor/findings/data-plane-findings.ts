/** SL9600 to SL9609, SL9638 and SL9665 to SL9669: hosts outside the cluster. */
import { problem } from '../../errors/finding.ts'

export const deploymentFailed = problem<{ namespace: string; why: string; hosts: string }>({
  code: 'SL9600',
  severity: 'error',
  message: ({ why, hosts }) => `it failed${hosts === '' ? '' : ` on ${hosts}`} and is not retried: ${why}`,
  remedy: ({ namespace }) =>
    `find the task with \`stackloom hosts -n ${namespace} --failed\`, fix the cause, then deploy these hosts again: \`stackloom hosts deploy -n ${namespace} --failed\``,
})

export const changeNotDeployed = problem<{ nodeSet: string; last: string | undefined }>({
  code: 'SL9601',
  severity: 'warning',
  message: ({ last }) =>
    `it was changed after its last deployment${last === undefined ? '' : ` (${last})`}: its hosts still have the old configuration`,
  remedy: () =>
    'deploy it: `stackloom up --stage data-plane`, or a new OpenStackDataPlaneDeployment; a finished deployment cannot be used again',
})

export const notDiscovered = problem<{ hosts: readonly string[]; namespace: string }>({
  code: 'SL9602',
  severity: 'error',
  message: ({ hosts }) =>
    `${hosts.join(', ')} ${hosts.length === 1 ? 'is' : 'are'} deployed, but not mapped to a nova cell: no server is scheduled there`,
  remedy: ({ namespace }) =>
    `\`kubectl -n ${namespace} exec nova-cell0-conductor-0 -- nova-manage cell_v2 discover_hosts --verbose\``,
})

export const beforeControlPlane = problem<{ controlPlane: string }>({
  code: 'SL9603',
  severity: 'error',
  message: ({ controlPlane }) =>
    `it runs while ${controlPlane} is not ready: its hosts need Secrets and DNS names that do not exist yet`,
  remedy: () => 'wait for the control plane, then create a new deployment: a failed deployment does not run again',
})

export const nodeSetMissing = problem<{ nodeSet: string; known: string | undefined }>({
  code: 'SL9604',
  severity: 'error',
  message: ({ nodeSet, known }) =>
    `it refers to node set ${nodeSet}, which does not exist${known === undefined ? '' : `; did you mean ${known}?`}`,
  remedy: () => 'delete it and create a new one with the correct name: its spec cannot be changed',
})

export const hostTwice = problem<{ host: string; nodeSets: readonly string[] }>({
  code: 'SL9605',
  severity: 'error',
  message: ({ host, nodeSets }) => `${host} is in ${nodeSets.join(' and ')}: both configure it differently`,
  remedy: () => 'remove it from one node set and deploy the other again',
})

export const nodeSetError = problem<{ condition: string; message: string }>({
  code: 'SL9606',
  severity: 'error',
  message: ({ condition, message }) => `${condition}: ${message}`,
  remedy: () =>
    'run `stackloom ipam status` for addresses and `kubectl describe` for the rest; a deployment waits until SetupReady is True',
})

export const deletionUnconfirmed = problem<{ deployment: string; namespace: string }>({
  code: 'SL9607',
  severity: 'error',
  message: ({ namespace }) => `it runs, so its deletion is refused, and namespace ${namespace} cannot be deleted`,
  remedy: ({ deployment, namespace }) =>
    'wait until it has finished, or accept that its hosts may stay partly configured: ' +
    `\`kubectl -n ${namespace} annotate openstackdataplanedeployment ${deployment} dataplane.openstack.org/confirm-delete=true\``,
})

export const hostsBehind = problem<{ namespace: string; hosts: string; count: number; total: number; why: string }>({
  code: 'SL9638',
  severity: 'warning',
  message: ({ hosts, count, total, why }) =>
    `${count} of ${total} hosts ${count === 1 ? 'lacks' : 'lack'} what is declared: ${hosts} (${why})`,
  remedy: ({ namespace }) =>
    `\`stackloom hosts deploy --behind -n ${namespace}\`; \`stackloom hosts -o wide\` shows every host`,
})

export const runStalled = problem<{ why: string; code?: string | undefined; remedy?: string | undefined }>({
  code: 'SL9666',
  severity: 'error',
  message: ({ why, code }) => `it makes no progress: ${why}${code === undefined ? '' : ` (${code})`}`,
  remedy: ({ remedy }) => remedy ?? 'check its pod, and the node of the pod',
})

export const runFailed = problem<{
  run: string
  namespace: string
  why: string
  code?: string | undefined
  remedy?: string | undefined
}>({
  code: 'SL9665',
  severity: 'error',
  message: ({ why, code }) => (code === undefined ? why : `${why} (${code})`),
  remedy: ({ run, namespace, remedy }) =>
    `${remedy ?? 'fix the cause on the named host'}; the whole result: \`kubectl -n ${namespace} describe osaee ${run}\``,
})
