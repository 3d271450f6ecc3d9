/** What was planned, rendered and applied comes back from a real API server as the same plan. */
import { describe, expect, it } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { hasErrors } from '../../../src/errors/finding.ts'
import { emptyLock } from '../../../src/plan/lock.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { planSite } from '../../../src/plan/planner.ts'
import { builtInTable } from '../../../src/plan/slots/built-in-crds.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { clusterKinds } from '../../../src/site/import/cluster.ts'
import { readSite } from '../../../src/site/read.ts'
import { useCluster } from '../../cluster.ts'
import { planExample } from '../../examples.ts'
import { testIo } from '../../io.ts'
import { TODAY } from '../../sandbox-context.ts'

const kinds: ReadonlySet<string> = new Set(['Namespace', ...clusterKinds.map(({ kind }) => kind)])

/** The decisions that an import must find again. Node spans are as wide as the nodes are many. */
function decisions({ clouds }: Plan): object {
  return clouds.map(({ namespace, networks }) => ({
    namespace,
    networks: networks.map(({ name, vlan, interface: on, bridge, attach, mtu, subnets, nodes }) => ({
      name,
      vlan,
      on,
      bridge,
      attach,
      mtu,
      nodes,
      subnets: subnets.map(({ cidr, gateway, spans }) => ({
        cidr,
        gateway,
        spans: spans.filter(({ role }) => role !== 'nodes'),
      })),
    })),
  }))
}

describe('importing a real cluster', () => {
  const cluster = useCluster({ crds: 'today' })

  it('returns the plan that the cluster was rendered from', async () => {
    const plan = planExample('document-000')
    for (const { object } of renderDocuments(plan)) {
      if (kinds.has(object.kind)) await cluster.client.apply(object, { fieldManager: 'stackloom' })
    }
    for (const { name } of plan.from.cluster.nodes) {
      const labels = { 'node-role.kubernetes.io/worker': '', 'node.openshift.io/os_id': 'rhcos' }
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
      await cluster.client.apply(node, { fieldManager: 'test' })
    }

    const io = testIo()
    const words = ['import', '--source', 'cluster', '--kubeconfig', cluster.kubeconfig, '--name', 'again']
    expect(await main(words, io)).toBe(0)
    const { site, findings, locate } = readSite(io.out(), 'site.yaml')
    expect(findings).toEqual([])
    if (!site) return
    const slots = builtInTable(TODAY)
    const again = planSite({ site, lock: emptyLock('again'), slots, locate, findings }).plan
    expect(decisions(again)).toEqual(decisions(plan))
    const errors = again.findings.filter(({ severity }) => severity === 'error')
    expect(errors.map(({ code }) => code)).toEqual(['SL2103'])
    expect(hasErrors(plan.findings)).toBe(false)
  }, 90_000)
})
