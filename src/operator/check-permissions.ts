/** Asks the API server which rights this operator has, and logs those that are missing. */

import { finding } from '../errors/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import { permissionsMissing } from './findings.ts'
import type { OperatorPart } from './parts/part.ts'
import { collectRoles, findMissingRights, type GrantedRule, type PermissionScope } from './permissions.ts'

/** For a right in all namespaces, one that exists in every cluster. */
const ANY_NAMESPACE = 'default'

/** A server that does not answer or that cannot list all rules is no reason not to start. */
export async function checkPermissions(
  client: Pick<KubeClient, 'create'>,
  parts: readonly OperatorPart[],
  scope: PermissionScope,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  for (const { namespace = ANY_NAMESPACE, rules } of collectRoles(parts, scope)) {
    const granted = await listGranted(client, namespace, signal)
    const missing = granted ? findMissingRights(rules, granted) : []
    for (const { right, reason } of missing) {
      const { code, message, remedy } = finding(permissionsMissing, { right, namespace, reason })
      log({ level: 'error', message, code, remedy })
    }
  }
}

async function listGranted(
  client: Pick<KubeClient, 'create'>,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly GrantedRule[] | undefined> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    metadata: { name: '' },
    spec: { namespace },
  }
  try {
    const { status } = (await client.create(review, { signal })) as { readonly status?: RulesReviewStatus }
    return status?.incomplete ? undefined : status?.resourceRules
  } catch {
    return undefined
  }
}

interface RulesReviewStatus {
  readonly incomplete?: boolean
  readonly resourceRules?: readonly GrantedRule[]
}
