import { describe, expect, it } from 'vitest'
import { eraOfExample, exampleSites, planExample } from '../../../test/examples.ts'
import { changed, healthySnapshot, renderedDocuments, withObject } from '../../../test/healthy-snapshot.ts'
import { indexSnapshot, type Snapshot } from '../../api/snapshot.ts'
import type { Plan } from '../../plan/plan.ts'
import { checks } from '../checks.ts'
import { verify } from '../verify.ts'

function wrong(plan: Plan, snapshot: Snapshot): readonly string[] {
  const { unread } = snapshot
  const input = { plan, documents: renderedDocuments(plan), live: indexSnapshot(snapshot), unread, now: 0 }
  return verify(checks, input).flatMap(({ id, cloud, findings }) =>
    findings.map(({ code }) => `${id} ${cloud ?? '-'} ${code}`),
  )
}

describe('a site of the examples', () => {
  const today = exampleSites.filter((name) => eraOfExample(name) === 'today')

  it.each(today)('%s passes every check on a healthy cluster', (name) => {
    const plan = planExample(name)
    expect(wrong(plan, healthySnapshot(plan))).toEqual([])
  })
})

describe('two clouds in one subnet', () => {
  const plan = planExample('document-000')
  const healthy = healthySnapshot(plan)
  const [first, second] = plan.clouds
  const cidrs = (at: number) =>
    plan.clouds[at]?.networks.find(({ name }) => name === 'ctlplane')?.subnets.map(({ cidr }) => cidr)

  it('are planned by document 000', () => {
    expect(cidrs(0)).toEqual(cidrs(1))
  })

  it('must not use addresses of each other', () => {
    const theirs = first?.networks.find(({ name }) => name === 'ctlplane')?.vips[0]?.address ?? ''
    const stolen = changed(healthy, `Service ${second?.namespace}/dnsmasq-dns`, (object) => ({
      ...object,
      status: { loadBalancer: { ingress: [{ ip: theirs }] } },
    }))
    expect(wrong(plan, stolen)).toContain(`foreign-holders ${first?.name} SL9025`)
  })

  it('must not have a pool with ranges of each other', () => {
    const pool = {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      metadata: { name: 'wide', namespace: 'metallb-system' },
      spec: { addresses: ['192.168.122.85-192.168.122.125'] },
    }
    const found = wrong(plan, withObject(healthy, pool)).filter((one) => one.startsWith('ipaddresspools'))
    expect(found).toEqual([`ipaddresspools ${first?.name} SL9012`, `ipaddresspools ${second?.name} SL9012`])
  })
})
