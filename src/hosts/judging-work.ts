/** Estimates how long judging the hosts of node sets takes, before anything is computed: tenants write these objects. Pure. */
import { groupBy } from '../api/collections.ts'
import { asRecord, asStrings } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { getField, getString } from '../api/raw-object.ts'

/** About a microsecond each. A thousand hosts with a hundred deployments take a tenth. */
const MAX_STEPS = 1_000_000

export interface JudgeableNodeSets {
  readonly nodeSets: readonly KubeObject[]
  /** Those that would take too long, with the number of their hosts. */
  readonly tooLarge: readonly { readonly nodeSet: KubeObject; readonly hosts: number }[]
}

/** The node sets of each namespace in their order, as long as all of them together can be judged. */
export function selectJudgeable(
  nodeSets: readonly KubeObject[],
  deployments: readonly KubeObject[],
  maxSteps = MAX_STEPS,
): JudgeableNodeSets {
  const byNamespace = groupBy(deployments, ({ metadata }) => metadata.namespace ?? '')
  const spent = new Map<string, number>()
  const selected: KubeObject[] = []
  const tooLarge: JudgeableNodeSets['tooLarge'][number][] = []
  for (const nodeSet of nodeSets) {
    const { namespace = '' } = nodeSet.metadata
    const hosts = Object.keys(asRecord(getField(nodeSet, 'spec', 'nodes'))).length
    const steps = (spent.get(namespace) ?? 0) + countSteps(nodeSet, hosts, byNamespace.get(namespace) ?? [])
    if (steps > maxSteps) tooLarge.push({ nodeSet, hosts })
    else {
      spent.set(namespace, steps)
      selected.push(nodeSet)
    }
  }
  return { nodeSets: selected, tooLarge }
}

/** Hosts that a deployment names as failed are judged one by one, the others together. */
function countSteps(nodeSet: KubeObject, hosts: number, deployments: readonly KubeObject[]): number {
  const services = asStrings(getField(nodeSet, 'spec', 'services')).length
  const runs = deployments.map((deployment) => {
    const limit = getString(deployment, 'spec', 'ansibleLimit') ?? ''
    const summaries = Object.values(asRecord(getField(deployment, 'status', 'ansibleExecutionSummaries')))
    const named = summaries.flatMap((summary) => [
      ...asStrings(getField(summary, 'failedHostList')),
      ...asStrings(getField(summary, 'unreachableHostList')),
    ])
    const others = asStrings(getField(deployment, 'spec', 'nodeSets')).length
    const override = asStrings(getField(deployment, 'spec', 'servicesOverride')).length
    return { patterns: limit.split(/[*&]/).length, named, preparing: (services + override) * (others + 1) }
  })
  const alone = Math.min(hosts, new Set(runs.flatMap(({ named }) => named)).size)
  const selecting = hosts * runs.reduce((sum, { patterns }) => sum + patterns, 1)
  const preparing = runs.reduce((sum, run) => sum + run.preparing, 0)
  return selecting + preparing + (alone + 1) * (services + 1) * (runs.length + 1)
}
