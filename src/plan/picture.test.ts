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
    const owners = 'rhoso1/storage pods and rhoso1/storage hosts'
    expect(svg).toContain(`conflict: 172.18.0.60-172.18.0.70 belongs to ${owners}`)
    expect(svg).toContain(`✖ 172.18.0.60-172.18.0.70: ${owners}<`)
    expect(svg).toContain('fill="url(#conflict)"')
    expect(svg).toMatch(/class="cross">✖</)
  })

  const plan = (spec: object): string =>
    drawPlan(planSpec({ clouds: [{ name: 'rhoso1', namespace: 'openstack' }], ...spec }).plan)

  it('labels the vips of a /24 with their range, and has a scale', () => {
    const svg = plan({})
    expect(svg).toContain('>vips .80-.90<')
    expect(svg).toContain('>IPv4, offset<')
    for (const offset of ['+0', '+64', '+128', '+192', '+256']) expect(svg).toContain(`>${offset}<`)
  })

  it('gives IPv6 rows a scale of their own', () => {
    const svg = plan({ addressing: { families: [4, 6] } })
    expect(svg).toContain('>IPv6, offset<')
    expect(svg).toMatch(/>::\w+0</)
    expect(svg).toContain('>vips ::80-::90<')
    // IPv4 first, so that each family has its scale once.
    expect(svg.match(/, offset</g)).toHaveLength(2)
  })

  it('draws subnets with the same layout as one bar, each with its name and its ticks', () => {
    const svg = plan({})
    const bars = svg.match(/fill="#f3f3f3"/g)?.length ?? 0
    const names = svg.match(/class="network"/g)?.length ?? 0
    expect(names).toBe(7)
    expect(bars).toBeLessThan(names)
    for (const name of ['ctlplane', 'internalapi', 'storage', 'tenant', 'designateext'])
      expect(svg).toContain(`>${name}<`)
  })

  it('gives every role a pattern beside its colour, and escapes names', () => {
    const svg = draw('172.18.0.100-172.18.0.250')
    for (const role of ['pods', 'vips', 'hosts'])
      expect(svg).toMatch(new RegExp(`<pattern id="${role}"[^>]*><rect[^>]*/><`))
    expect(svg.match(/<[a-z]+/g)?.length).toBeGreaterThan(40)
  })
})
