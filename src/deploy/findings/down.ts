/** SL404x: `status`, and taking clouds out of a cluster. */
import { problem } from '../../errors/finding.ts'

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

export const volumesRemain = problem<{ cloud: string; namespace: string; claims: readonly string[] }>({
  code: 'SL4043',
  severity: 'warning',
  message: ({ cloud, namespace, claims }) =>
    `${cloud} leaves ${claims.length} volume claims in namespace ${namespace} (${claims.slice(0, 3).join(', ')}${claims.length > 3 ? ', …' : ''}), with the Secrets that they need`,
  remedy: ({ cloud }) => `if the data may be deleted: stackloom down --cloud ${cloud} --delete-data`,
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
