/** SL404x and SL4075 to SL4077: `status`, and taking clouds out of a cluster. */

import { problem } from '../../errors/finding.ts'
import { formatCount } from '../../verify/checks/check-definition.ts'

export const nothingDeployed = problem<object>({
  code: 'SL4040',
  severity: 'error',
  message: () => 'this cluster has no inventory of Stackloom: nothing was deployed here, or it was taken down',
  remedy: () => 'deploy with `stackloom up -f site.yaml`, or name the right cluster with --context',
})

export const unknownInventory = problem<{ cloud: string; known: readonly string[]; nearest: string | undefined }>({
  code: 'SL4041',
  severity: 'error',
  message: ({ cloud, nearest }) =>
    `no cloud ${cloud} is deployed in this cluster${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ known }) => `deployed are ${known.join(', ') || '(none)'}`,
})

export const stuckFinalizer = problem<{ object: string; finalizers: readonly string[]; owner: string }>({
  code: 'SL4042',
  severity: 'error',
  message: ({ object, finalizers, owner }) =>
    `${object} is kept by ${finalizers.join(', ') || 'what is in it'}, set by ${owner}`,
  remedy: ({ owner }) =>
    `find out why ${owner} does not clean up (its logs, its pods), then run the same command again`,
})

interface ForeignObject {
  readonly name: string
  /** Its owner by kind and name, if it has one. */
  readonly owner: string | undefined
}

const listForeign = (objects: readonly ForeignObject[]): string =>
  objects
    .slice(0, 3)
    .map(({ name, owner }) => (owner === undefined ? name : `${name} of ${owner}`))
    .join(', ') + (objects.length > 3 ? ', …' : '')

export const foreignObjects = problem<{ kind: string; namespace: string; objects: readonly ForeignObject[] }>({
  code: 'SL4075',
  severity: 'error',
  message: ({ kind, namespace, objects }) =>
    `namespace ${namespace} has ${formatCount(objects.length, kind)} that this cloud did not bring and that no program deletes: ${listForeign(objects)}`,
  remedy: ({ kind, namespace, objects }) =>
    `delete ${objects.length > 1 ? 'them' : 'it'} if no host needs the address (\`kubectl -n ${namespace} delete ${kind.toLowerCase()} ${objects[0]?.name}\`), then run the same command again`,
})

export const stuckNamespace = problem<{ namespace: string; remaining: readonly string[] }>({
  code: 'SL4076',
  severity: 'error',
  message: ({ namespace, remaining }) =>
    `namespace ${namespace} is being deleted, but has content: ${remaining.join(' ')}`,
  remedy: ({ namespace }) =>
    `find out why the controllers of these kinds do not clean up (their pods, their logs; \`stackloom doctor -n ${namespace}\`), then run the same command again`,
})

export const keptControlPlane = problem<{ cloud: string; namespace: string; name: string }>({
  code: 'SL4077',
  severity: 'error',
  message: ({ cloud, namespace, name }) =>
    `the control plane ${name} in namespace ${namespace} uses the networks and pools of ${cloud}, and another tool deployed it`,
  remedy: ({ namespace }) =>
    `delete the control plane with that tool and wait until the Services of namespace ${namespace} are gone, then run the same command again`,
})

export const volumesRemain = problem<{ cloud: string; namespace: string; claims: readonly string[] }>({
  code: 'SL4043',
  severity: 'warning',
  message: ({ cloud, namespace, claims }) =>
    `${cloud} leaves ${claims.length} volume claims in namespace ${namespace} (${claims.slice(0, 3).join(', ')}${claims.length > 3 ? ', …' : ''}), with the Secrets that they need`,
  remedy: ({ cloud }) => `if the data may be deleted: \`stackloom down --cloud ${cloud} --delete-data\``,
})

export const objectsRemain = problem<{ object: string }>({
  code: 'SL4044',
  severity: 'error',
  message: ({ object }) => `${object} still exists`,
  remedy: () => 'run the same command again; if it stays, look at its finalizers with kubectl',
})

export const operatorInUse = problem<{ operator: string }>({
  code: 'SL4045',
  severity: 'warning',
  message: ({ operator }) => `${operator} stays: an object that does not belong to this site needs it`,
  remedy: () => 'remove it manually when the other objects are gone',
})

export const deploymentRuns = problem<{ deployments: readonly string[] }>({
  code: 'SL4048',
  severity: 'error',
  message: ({ deployments }) =>
    `${deployments.join(', ')} ${deployments.length > 1 ? 'run' : 'runs'}: to delete it now may leave hosts partly configured`,
  remedy: () => 'wait until it has finished, or agree on a terminal or with --yes',
})

export const nameNotConfirmed = problem<{ name: string }>({
  code: 'SL4046',
  severity: 'error',
  message: ({ name }) => `the name ${name} was not typed: nothing was taken down`,
  remedy: () => 'type it on a terminal, or run the same command with --yes',
})
