/** Names clouds by their inventories; a cloud that Stackloom did not deploy has the name of its namespace. */
import type { Inventory } from '../../deploy/inventory.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type CloudFlags, selectClouds } from '../deployment.ts'

export type CloudNames = (namespace: string) => string

export function createCloudNames(inventories: readonly Inventory[]): CloudNames {
  const names = new Map(
    inventories.flatMap(({ cloud, namespace }) =>
      cloud === undefined || namespace === undefined ? [] : [[namespace, cloud] as const],
    ),
  )
  return (namespace) => names.get(namespace) ?? namespace
}

/** A user who may read the hosts of one cloud may be unable to read the inventories of all. */
export async function readKnownInventories(client: KubeClient): Promise<readonly Inventory[]> {
  const { readInventories } = await import('../../deploy/inventory.ts')
  try {
    return await readInventories(client)
  } catch (thrown) {
    if (isApiError(thrown, 'forbidden', 'not-found')) return []
    throw thrown
  }
}

/** The namespaces that `--cloud` and `-n` select: all without them. Refuses what is no cloud of the states. */
export function selectNamespaces(
  states: readonly { readonly namespace: string }[],
  cloudNames: CloudNames,
  flags: CloudFlags,
): ReadonlySet<string> {
  const clouds = [...new Set(states.map(({ namespace }) => namespace))].map((namespace) => ({
    name: cloudNames(namespace),
    namespace,
  }))
  const selected = selectClouds(clouds, flags)
  const chosen = selected.length === 0 ? clouds : clouds.filter(({ name }) => selected.includes(name))
  return new Set(chosen.map(({ namespace }) => namespace))
}
