import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { listCodes, planSpec, planText } from '../../../test/site.ts'
import { catalogue } from '../../cli/explain/catalogue.ts'
import { isFileLocation } from '../../errors/finding.ts'

const folder = path.join(import.meta.dirname, '__samples__')
const files = readdirSync(folder).sort()

/** Those that a site file alone cannot trigger: the lock, the cluster and the command line have a part in them. */
const elsewhere = /^SL(2112|2113|24\d\d|2508)$/

describe('a site file with one thing wrong', () => {
  it.each(files)('%s is found, and nothing else', (file) => {
    const planned = planText(readFileSync(path.join(folder, file), 'utf8'))
    const code = file.slice(0, 6)
    const accepted = new Set(planned.plan.from.accept.map((acceptance) => acceptance.code))
    expect(listCodes(planned).filter((one) => !accepted.has(one))).toEqual([code])
    for (const one of planned.plan.findings.filter((finding) => finding.code === code)) {
      expect(one.where && isFileLocation(one.where) && one.where.line).toBeGreaterThan(4)
    }
  })

  it.each([
    ['rabbitmq', 'did you mean rabbitmq.rabbitmq or rabbitmq.rabbitmq-cell1?'],
    ['keystone.internl', 'did you mean keystone.internal?'],
    ['nonsense', 'rhoso1 has no slot nonsense'],
  ])('offers the slots that %s may have meant', (slot, told) => {
    const { plan } = planSpec({
      clouds: [{ name: 'rhoso1', namespace: 'openstack', vips: { [slot]: '172.17.0.80' } }],
    })
    expect(plan.findings.find((finding) => finding.code === 'SL2307')?.message).toMatch(
      new RegExp(`${told.replaceAll('?', '\\?')}$`),
    )
  })

  it('exists for every code of the plan', () => {
    const codes = [...catalogue.keys()].filter((code) => /^SL2[1-5]/.test(code) && !elsewhere.test(code))
    const shown = new Set(files.map((file) => file.slice(0, 6)))
    expect(codes.filter((code) => !shown.has(code))).toEqual([])
  })
})
