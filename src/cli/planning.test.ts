import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { testIo } from '../../test/io.ts'
import { type PartialSiteSpec, siteText } from '../../test/site.ts'
import { hasErrors } from '../errors/finding.ts'
import { type Planning, planFromFiles } from './planning.ts'

const cloud = { name: 'rhoso1', namespace: 'openstack' }
const dns = { cluster: { dns: ['192.168.122.1'], nodes: [{ name: 'worker-0', nic: 'enp6s0' }] } }

function plan(spec: PartialSiteSpec): Promise<Planning> {
  return planFromFiles({ file: '-' }, testIo({ stdin: Readable.from([siteText(spec)]) }))
}

/** The codes of acceptances that are left over. */
function leftOver({ findings }: Planning): readonly (string | undefined)[] {
  return findings.flatMap(({ code, message }) => (code === 'SL2012' ? [/SL\d+/.exec(message)?.[0]] : []))
}

describe('planFromFiles judges findings by the acceptances of the site', () => {
  const spec: PartialSiteSpec = {
    clouds: [cloud],
    accept: ['SL2001', 'SL3003', 'SL3202', 'SL9011'].map((code) => ({ code, reason: 'until May' })),
  }

  it('reports acceptances that planning and rendering leave over, and none of other commands', async () => {
    expect(leftOver(await plan({ ...spec, ...dns }))).toEqual(['SL2001', 'SL3003', 'SL3202'])
  })

  it('reports no acceptance of rendering when the plan has errors', async () => {
    const failing = await plan({ ...spec, ...dns, clouds: [{ ...cloud, namespace: 'Upper' }] })
    expect(hasErrors(failing.findings)).toBe(true)
    expect(leftOver(failing)).toEqual(['SL2001', 'SL3003'])
  })

  it('turns an accepted finding of rendering into a warning with the reason', async () => {
    const planning = await plan(spec)
    expect(leftOver(planning)).toEqual(['SL2001', 'SL3003'])
    const [accepted, ...more] = planning.findings.filter(({ code }) => code === 'SL3202')
    expect(more).toEqual([])
    expect(accepted).toMatchObject({ severity: 'warning', message: expect.stringContaining('(accepted: until May)') })
  })

  it('keeps the findings in the plan, where `plan -o json` prints them', async () => {
    const planning = await plan(spec)
    expect(planning.findings.length).toBeGreaterThan(0)
    expect(planning.plan.findings).toEqual(planning.findings)
  })
})
