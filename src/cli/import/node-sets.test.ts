/** Node sets that were rendered and applied come back from the cluster as the same node sets. */
import { describe, expect, it } from 'vitest'
import { planExample } from '../../../test/examples.ts'
import { planText } from '../../../test/site.ts'
import type { KubeObject } from '../../api/object.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { Plan } from '../../plan/plan.ts'
import { renderDocuments } from '../../render/render.ts'
import { importCluster } from '../../site/import/cluster.ts'

function renderNodeSets(plan: Plan): Readonly<Record<string, unknown>> {
  const objects = renderDocuments(plan).map(({ object }) => object)
  return Object.fromEntries(
    objects
      .filter(({ kind }) => kind === 'OpenStackDataPlaneNodeSet')
      .map((object) => [object.metadata.name, object['spec']]),
  )
}

describe('importing the node sets of a cluster', () => {
  it.each(['networkers', 'sriov-dpdk', 'hci', 'two-cells'])('returns those of %s', (example) => {
    const plan = planExample(example)
    const nodes = plan.from.cluster.nodes.map(
      ({ name }): KubeObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } }),
    )
    const objects = [...nodes, ...renderDocuments(plan).map(({ object }) => object)]
    const { text = '', findings } = importCluster({ objects, unread: [] }, { name: 'again' })
    expect(hasErrors(findings)).toBe(false)
    const again = planText(text).plan
    expect(again.findings.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(Object.keys(renderNodeSets(plan)).length).toBeGreaterThan(0)
    expect(renderNodeSets(again)).toEqual(renderNodeSets(plan))
  })
})
