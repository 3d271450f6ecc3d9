/** Readiness of Subscriptions and ClusterServiceVersions. */
import type { Condition, KubeObject } from '../../api/object.ts'
import { describeCommand, findCondition, formatObjectName, getString } from '../../api/raw-object.ts'
import {
  applyRule,
  errorAgeMs,
  failed,
  progressing,
  type Readiness,
  type ReadinessContext,
  type ReadinessRule,
  ready,
} from './verdict.ts'

const CSV = 'operators.coreos.com/ClusterServiceVersion'

export const subscriptionReadiness: ReadinessRule = (subscription, context) => {
  const trouble = ['ResolutionFailed', 'InstallPlanFailed', 'BundleUnpackFailed']
    .map((type) => findCondition(subscription, type))
    .find((condition) => condition?.status === 'True')
  if (trouble && isPassing(trouble, subscription, context))
    return pendingInstall(subscription, trouble.message ?? trouble.reason)
  if (trouble)
    return failed(
      `${formatObjectName(subscription)}: ${trouble.message ?? trouble.reason ?? trouble.type}`,
      describeCommand(subscription),
    )
  const unhealthy = findCondition(subscription, 'CatalogSourcesUnhealthy')
  const installed = getString(subscription, 'status', 'installedCSV') ?? getString(subscription, 'status', 'currentCSV')
  if (installed === undefined)
    return pendingInstall(subscription, unhealthy?.status === 'True' ? unhealthy.message : undefined)
  return installedCsvReadiness(subscription, installed, context)
}

/** OLM tries again when a catalog could not be asked or has nothing yet, such as one whose pod has just been started. */
function isPassing(
  { reason, message = '', lastTransitionTime }: Condition,
  subscription: KubeObject,
  context: ReadinessContext,
): boolean {
  const isMissing = findCondition(subscription, 'CatalogSourcesUnhealthy')?.status === 'True'
  const isEmpty = message.includes('no operators found from catalog') && !isMissing
  const since = lastTransitionTime ?? subscription.metadata.creationTimestamp
  return (reason === 'ErrorPreventedResolution' || isEmpty) && errorAgeMs(since, context) < context.grace.errorMs
}

function pendingInstall(subscription: KubeObject, catalog: string | undefined): Readiness {
  if (getString(subscription, 'spec', 'installPlanApproval') === 'Manual') {
    const plan = getString(subscription, 'status', 'installPlanRef', 'name') ?? 'its install plan'
    return progressing(`approval of ${plan} of ${formatObjectName(subscription)}`)
  }
  return progressing(
    `${formatObjectName(subscription)} to choose a version${catalog === undefined ? '' : ` (catalog: ${catalog})`}`,
  )
}

function installedCsvReadiness(subscription: KubeObject, name: string, context: ReadinessContext): Readiness {
  const csv = context.around.get(CSV, name, subscription.metadata.namespace)
  return csv ? applyRule(csvReadiness, csv, context) : progressing(`ClusterServiceVersion ${name} to appear`)
}

export const csvReadiness: ReadinessRule = (csv) => {
  const phase = getString(csv, 'status', 'phase')
  const why = getString(csv, 'status', 'message') ?? getString(csv, 'status', 'reason') ?? 'no reason given'
  if (phase === 'Succeeded') return ready
  if (phase === 'Failed') return failed(`${formatObjectName(csv)} failed: ${why}`, describeCommand(csv))
  return progressing(`${formatObjectName(csv)} to succeed (${phase ?? 'no phase yet'}: ${why})`)
}
