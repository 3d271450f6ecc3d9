import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { planText } from '../../test/site.ts'
import { drawTopology, mermaidTopology } from './topology.ts'

const { plan } = planText(readFileSync('examples/two-clouds.yaml', 'utf8'))

describe('the topology', () => {
  it.each([
    ['SVG', drawTopology(plan)],
    ['Mermaid', mermaidTopology(plan)],
  ])('as %s names every node, NIC, segment, bridge, cloud and VIP network', (_, picture) => {
    for (const { name, nics } of plan.from.cluster.nodes) {
      expect(picture).toContain(name)
      for (const nic of Object.values(nics)) expect(picture).toContain(nic)
    }
    for (const { vlan, bridge } of plan.segments) {
      expect(picture).toContain(vlan === undefined ? 'untagged' : `VLAN ${vlan}`)
      if (bridge !== undefined) expect(picture).toContain(`bridge ${bridge}`)
    }
    for (const cloud of plan.clouds) {
      for (const { name, segment, vips } of cloud.networks.filter((network) => network.segment !== undefined)) {
        expect(picture, segment).toContain(`${cloud.name}/${name} `)
        if (vips[0]) expect(picture).toContain(vips[0].address)
      }
    }
  })

  it('connects every node with every segment of its NICs', () => {
    const mermaid = mermaidTopology(plan)
    plan.segments.forEach((_, segment) => {
      plan.from.cluster.nodes.forEach((__, node) => {
        expect(mermaid).toContain(`  n${node} --- s${segment}\n`)
      })
    })
    const dots = drawTopology(plan).match(/<circle /g)?.length
    expect(dots).toBe(plan.segments.length * plan.from.cluster.nodes.length)
  })
})
