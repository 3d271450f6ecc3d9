/** Operators that come by OLM: the Subscription, its install plan and the ClusterServiceVersion behind it. */
import type { KubeObject } from '../../api/object.ts'
import { conditionOf, describeCommand, nameOf, textAt } from '../../api/raw-object.ts'
import { judgeBy } from './deletion.ts'
import {
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
    .map((type) => conditionOf(subscription, type))
    .find((condition) => condition?.status === 'True')
  if (trouble)
    return failed(
      `${nameOf(subscription)}: ${trouble.message ?? trouble.reason ?? trouble.type}`,
      describeCommand(subscription),
    )
  const unhealthy = conditionOf(subscription, 'CatalogSourcesUnhealthy')
  const installed =
    textAt(subscription, 'status', 'installedCSV') ?? textAt(subscription, 'status', 'currentCSV')
  if (installed === undefined)
    return notYet(subscription, unhealthy?.status === 'True' ? unhealthy.message : undefined)
  return csvBehind(subscription, installed, context)
}

function notYet(subscription: KubeObject, catalog: string | undefined): Readiness {
  if (textAt(subscription, 'spec', 'installPlanApproval') === 'Manual') {
    const plan = textAt(subscription, 'status', 'installPlanRef', 'name') ?? 'its install plan'
    return progressing(`somebody to approve ${plan} of ${nameOf(subscription)}`)
  }
  return progressing(
    `${nameOf(subscription)} to choose a version${catalog === undefined ? '' : ` (catalog: ${catalog})`}`,
  )
}

function csvBehind(subscription: KubeObject, name: string, context: ReadinessContext): Readiness {
  const csv = context.around.get(CSV, name, subscription.metadata.namespace)
  return csv ? judgeBy(csvReadiness, csv, context) : progressing(`ClusterServiceVersion ${name} to appear`)
}

export const csvReadiness: ReadinessRule = (csv) => {
  const phase = textAt(csv, 'status', 'phase')
  const why = textAt(csv, 'status', 'message') ?? textAt(csv, 'status', 'reason') ?? 'no reason given'
  if (phase === 'Succeeded') return ready
  if (phase === 'Failed') return failed(`${nameOf(csv)} failed: ${why}`, describeCommand(csv))
  return progressing(`${nameOf(csv)} to succeed (${phase ?? 'no phase yet'}: ${why})`)
}
