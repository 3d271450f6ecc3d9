import { describe, expect, it } from 'vitest'
import { type PartialSiteSpec, planSpec } from '../../test/site.ts'
import { hasErrors } from '../errors/finding.ts'

const cloud = { name: 'rhoso1', namespace: 'openstack' }

describe('what is accepted', () => {
  const words: PartialSiteSpec = {
    clouds: [cloud],
    accept: ['SL2001', 'SL3003', 'SL3202', 'SL9011'].map((code) => ({ code, reason: 'until May' })),
  }
  const leftOver = ({ plan }: ReturnType<typeof planSpec>) =>
    plan.findings.flatMap(({ code, message }) => (code === 'SL2012' ? [/SL\d+/.exec(message)?.[0]] : []))

  it('and found nowhere is told, of the plan and of the documents where those are asked', () => {
    expect(leftOver(planSpec(words))).toEqual(['SL2001', 'SL3003'])
    const withDocuments = planSpec(words, { documentFindings: () => [] })
    expect(leftOver(withDocuments)).toEqual(['SL2001', 'SL3003', 'SL3202'])
  })

  it('is not told to be left over by documents that were not made, because the plan has errors', () => {
    const failing = planSpec({ ...words, clouds: [cloud, cloud] }, { documentFindings: () => [] })
    expect(hasErrors(failing.plan.findings)).toBe(true)
    expect(leftOver(failing)).not.toContain('SL3202')
  })

  it('covers what the documents have wrong as well', () => {
    const noDns = { code: 'SL3202', severity: 'error', message: 'no DNS server', remedy: 'name one' } as const
    const planned = planSpec(words, { documentFindings: () => [noDns] })
    expect(leftOver(planned)).toEqual(['SL2001', 'SL3003'])
    expect(planned.plan.findings).toContainEqual({
      ...noDns,
      severity: 'warning',
      message: 'no DNS server (accepted: until May)',
    })
  })
})
