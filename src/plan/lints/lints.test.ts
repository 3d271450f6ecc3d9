import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { listCodes, planSpec, planText } from '../../../test/site.ts'
import { isFileLocation } from '../../errors/finding.ts'
import { planCodes } from '../planner.ts'

const folder = path.join(import.meta.dirname, '../../../test/samples/plan-lints')
const files = readdirSync(folder).sort()

/** A site file alone cannot trigger these: they need a lock, a cluster or an option. SL2539 is information. */
const elsewhere = /^SL(2112|2113|24\d\d|2508|2539)$/

describe('a site file with one problem', () => {
  it.each(files)('%s reports it, and nothing else', (file) => {
    const planned = planText(readFileSync(path.join(folder, file), 'utf8'))
    const expected = file.slice(0, 6)
    const accepted = new Set(planned.plan.from.accept.map(({ code }) => code))
    expect(listCodes(planned).filter((code) => !accepted.has(code))).toEqual([expected])
    const reported = planned.plan.findings.filter(({ code }) => code === expected)
    expect(reported.length).toBeGreaterThan(0)
    for (const { where } of reported) expect(where && isFileLocation(where) && where.line).toBeGreaterThan(4)
  })

  it.each([
    ['rabbitmq', 'did you mean rabbitmq.rabbitmq or rabbitmq.rabbitmq-cell1?'],
    ['keystone.internl', 'did you mean keystone.internal?'],
    ['nonsense', 'rhoso1 has no slot nonsense'],
  ])('suggests the slots that are similar to %s', (slot, suggestion) => {
    const { plan } = planSpec({
      clouds: [{ name: 'rhoso1', namespace: 'openstack', vips: { [slot]: '172.17.0.80' } }],
    })
    expect(plan.findings.find(({ code }) => code === 'SL2307')?.message).toMatch(
      new RegExp(`${suggestion.replaceAll('?', '\\?')}$`),
    )
  })

  it('reports clouds that share segments once, with every segment', () => {
    const { plan } = planText(readFileSync(path.join(folder, 'SL2203-shared.yaml'), 'utf8'))
    const shared = plan.findings.filter(({ code }) => code === 'SL2203')
    expect(shared).toHaveLength(1)
    expect(shared[0]?.message).toBe('rhoso1 and rhoso2 share 7 segments: each is one L2 domain, not isolation')
    expect(shared[0]?.owners).toContain('rhoso1/internalapi and rhoso2/internalapi on VLAN 20 of NIC main')
  })

  it('exists for every code of the plan', () => {
    const codes = [...planCodes].filter((code) => /^SL2[1-5]/.test(code) && !elsewhere.test(code))
    expect(codes.length).toBeGreaterThan(30)
    const sampled = new Set(files.map((file) => file.slice(0, 6)))
    expect(codes.filter((code) => !sampled.has(code))).toEqual([])
  })
})
