/** Asks before a running data plane deployment is deleted, for `down` and `up --prune`. */
import { formatObjectName } from '../api/raw-object.ts'
import { deploymentRuns } from '../deploy/findings/down.ts'
import type { InventoryEntry } from '../deploy/inventory.ts'
import { failure } from '../errors/failure.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Io } from './io.ts'
import { askYesNo } from './questions.ts'

/** Whether running deployments may be deleted. Fails if one runs and the user does not agree, before anything is changed. */
export async function askToInterrupt(
  refs: readonly InventoryEntry[],
  client: KubeClient,
  { yes = false }: { readonly yes?: boolean },
  io: Io,
): Promise<boolean> {
  if (yes) return true
  const { findRunningDeployments } = await import('../deploy/interrupted-deployments.ts')
  const deployments = (await findRunningDeployments(refs, client)).map(formatObjectName)
  if (deployments.length === 0) return false
  const question = `${deployments.join(', ')} runs, and its hosts may stay partly configured. Delete it now?`
  if (!(await askYesNo(question, io))) throw failure(deploymentRuns, { deployments }, { exitCode: 1 })
  return true
}
