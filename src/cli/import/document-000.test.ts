/** Two environment files on the way to a plan: the import as it stands, the conflict in it, and the way out. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasErrors } from '../../errors/finding.ts'
import { emptyLock } from '../../plan/lock.ts'
import type { Plan } from '../../plan/plan.ts'
import { planSite } from '../../plan/planner.ts'
import { builtInTable } from '../../plan/slots/built-in-crds.ts'
import { importInstallYamls } from '../../site/import/install-yamls.ts'
import { readSite } from '../../site/read.ts'
import { editYaml } from '../../yaml/edit.ts'

const examples = path.join(import.meta.dirname, '../../../examples')
const sources = ['rhoso1-config.env', 'rhoso2-config.env'].map((name) => ({
  file: `examples/install-yamls/${name}`,
  text: readFileSync(path.join(examples, 'install-yamls', name), 'utf8'),
}))
const nodes = ['worker-0', 'worker-1', 'worker-2'].map((name) => ({ name }))
const { text = '' } = importInstallYamls(sources, { name: 'document-000', nodes })

function planned(file: string): Plan {
  const { site, findings, locate } = readSite(file, 'site.yaml')
  if (!site) throw new Error(JSON.stringify(findings))
  return planSite({ site, lock: emptyLock(site.name), slots: builtInTable('today'), locate, findings }).plan
}

describe('the two environment files', () => {
  it('have one overlap, reported with both owners and a free range', () => {
    const errors = planned(text).findings.filter(({ severity }) => severity === 'error')
    expect(errors.map(({ code }) => code).sort()).toEqual(['SL2101', 'SL2103'])
    const overlap = errors.find(({ code }) => code === 'SL2101')
    expect(overlap?.owners).toEqual([
      expect.stringMatching(/^rhoso1\/ctlplane hosts 192\.168\.122\.100-192\.168\.122\.120 \(site\.yaml:/),
      expect.stringMatching(/^rhoso2\/ctlplane vips 192\.168\.122\.100-192\.168\.122\.110 \(site\.yaml:/),
    ])
    expect(overlap?.remedy).toContain('192.168.122.121-192.168.122.131')
  })

  it('become examples/document-000.yaml with the suggested range and the public one accepted', () => {
    const vips = ['spec', 'clouds', 1, 'networks', 'ctlplane', 'subnets', 0, 'spans', 'vips']
    const accepted = {
      code: 'SL2103',
      where: '172.50.0.0/24',
      reason: 'designateext of the first cloud runs there; it moves with its next release',
    }
    const edited = editYaml(text, [
      { path: vips, value: '192.168.122.121-192.168.122.131' },
      { path: ['spec', 'accept'], value: [accepted] },
    ])
    expect(edited).toBe(readFileSync(path.join(examples, 'document-000.yaml'), 'utf8'))
  })

  it('then plan without errors, with the numbers of the files', () => {
    const plan = planned(readFileSync(path.join(examples, 'document-000.yaml'), 'utf8'))
    expect(hasErrors(plan.findings)).toBe(false)
    const [first, second] = plan.clouds
    const pools = (cloud = first) => cloud?.networks.flatMap(({ pool }) => pool ?? [])
    expect(pools(first)).toEqual(
      ['ctlplane', 'internalapi', 'storage', 'tenant', 'designateext'].map((name) => `openstack-${name}`),
    )
    expect(pools(second)).toEqual(pools(first)?.map((name) => name.replace('openstack-', 'openstack2-')))
    const subnet = (name: string) => second?.networks.find((network) => network.name === name)?.subnets[0]?.cidr
    expect(['internalapi', 'storage', 'tenant'].map(subnet)).toEqual([
      '172.27.0.0/24',
      '172.29.0.0/24',
      '172.31.0.0/24',
    ])
    expect(first?.networks.map(({ name, interface: on }) => [name, on])).toEqual([
      ['ctlplane', 'ospbr'],
      ['internalapi', 'enp6s0.20'],
      ['storage', 'enp6s0.21'],
      ['tenant', 'enp6s0.22'],
      ['storagemgmt', 'enp6s0.23'],
      ['octavia', 'octbr'],
      ['designate', 'enp6s0.25'],
      ['designateext', 'enp6s0.26'],
      ['datacentre', 'ospbr'],
      ['external', ''],
    ])
  })
})
