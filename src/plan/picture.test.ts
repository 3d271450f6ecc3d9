import { describe, expect, it } from 'vitest'
import { planSpec } from '../../test/site.ts'
import { drawPlan } from './picture.ts'

const spans = (hosts: string) => ({
  storage: { subnets: [{ cidr: '172.18.0.0/24', spans: { pods: '172.18.0.30-172.18.0.70', hosts } }] },
})
const draw = (hosts: string): string =>
  drawPlan(planSpec({ clouds: [{ name: 'rhoso1', namespace: 'openstack', networks: spans(hosts) }] }).plan)

describe('the address map', () => {
  it('has a row for every subnet, with its network, its VLAN and every span by name', () => {
    const svg = draw('172.18.0.100-172.18.0.250')
    for (const word of ['storage', '172.18.0.0/24', 'VLAN 21', 'pods .30-.70', 'hosts .100-.250', 'untagged'])
      expect(svg).toContain(`>${word}<`)
    expect(svg).not.toContain('conflict:')
  })

  it('shows a conflict in red, crossed and marked, so that no colour is needed to see it', () => {
    const svg = draw('172.18.0.60-172.18.0.250')
    expect(svg).toContain('conflict: 172.18.0.60-172.18.0.70 belongs to two')
    expect(svg).toContain('fill="url(#conflict)"')
    expect(svg).toMatch(/class="cross">✖</)
  })

  it('gives every role a pattern beside its colour, and escapes names', () => {
    const svg = draw('172.18.0.100-172.18.0.250')
    for (const role of ['pods', 'vips', 'hosts'])
      expect(svg).toMatch(new RegExp(`<pattern id="${role}"[^>]*><rect[^>]*/><`))
    expect(svg.match(/<[a-z]+/g)?.length).toBeGreaterThan(40)
  })
})
