/**
 * Asks the API server, by dry runs and before anything is applied, which updates the OpenStack operators would refuse.
 *
 * Their rules differ between releases and depend on what runs, so they are not repeated here.
 */
import { formatObjectName } from '../api/raw-object.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { type ApiError, isApiError } from '../kube/api-error.ts'
import type { KubeClient } from '../kube/client.ts'
import { runParallel } from './apply.ts'
import { updateRefused } from './findings/up.ts'
import { leavingHosts, nodeSetHosts } from './moved-hosts.ts'
import { FIELD_MANAGER, type ObjectChange } from './object-changes.ts'

export async function findRefusedUpdates(
  changes: readonly ObjectChange[],
  client: Pick<KubeClient, 'apply'>,
  { force, signal }: { readonly force: boolean; readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const updates = changes.filter(({ change, desired }) => change === 'update' && isOfOperators(desired.apiVersion))
  const refusals: Finding[] = []
  await runParallel(updates, 8, async (update) => {
    signal.throwIfAborted()
    try {
      await client.apply(update.desired, { fieldManager: FIELD_MANAGER, force, dryRun: true })
    } catch (thrown) {
      // Everything else is retried, or reported by the stage that applies the object.
      if (isApiError(thrown, 'denied', 'invalid') && !mayPass(thrown, update, updates))
        refusals.push(describeRefusal(thrown, update))
    }
  })
  return refusals
}

function isOfOperators(apiVersion: string): boolean {
  return /^[a-z]+\.openstack\.org\//.test(apiVersion)
}

/**
 * Whether the same update is accepted later in the run: a running deployment ends (the operator answers 409), and a host
 * that moves between node sets has left its old one.
 */
function mayPass({ status }: ApiError, update: ObjectChange, updates: readonly ObjectChange[]): boolean {
  const entering = nodeSetHosts(update.desired)
  return status === 409 || updates.some((other) => leavingHosts(other).some((host) => host in entering))
}

function describeRefusal({ causes, findings }: ApiError, { desired }: ObjectChange): Finding {
  const [refused] = findings
  const reasons = causes.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const facts = { object: formatObjectName(desired), reasons: reasons.length > 0 ? reasons : [refused?.message ?? ''] }
  return finding(updateRefused, facts, { where: refused?.where })
}
