import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { narrowPlan, planPods } from './rehearsal-plan.ts'
import { hasLost, parsePing, planRemoval } from './remove-cloud.ts'

function removal(cloudNames: readonly string[], nodes = 2) {
  const clouds = cloudNames.map((name, index) => ({ name, namespace: `openstack${index}` }))
  return planRemoval(planPods(narrowPlan(testPlan({ clouds, nodes, families: [4, 6] }), { nodes, clouds: [] })))
}

describe('the removal of a cloud', () => {
  it('is watched on every network of all other clouds, in both families', () => {
    const planned = removal(['rhoso1', 'rhoso2', 'rhoso3'])
    expect(planned?.cloud).toBe('rhoso3')
    const pings = planned?.pings ?? []
    expect(new Set(pings.map(({ sender }) => sender.cloud))).toEqual(new Set(['rhoso1', 'rhoso2']))
    const ofNetwork = pings.filter(({ sender }) => sender.cloud === 'rhoso1' && sender.network === 'storage')
    expect(ofNetwork.map(({ address }) => address.includes(':'))).toEqual([false, true])
    for (const { sender, address } of ofNetwork) expect(sender.addresses).not.toContain(address)
  })

  it('is not tested with one cloud or one node', () => {
    expect(removal(['rhoso1'])).toBeUndefined()
    expect(removal(['rhoso1', 'rhoso2'], 1)).toBeUndefined()
  })
})

describe('the packets of a pod', () => {
  const answers = (...numbers: readonly number[]): string =>
    numbers.map((number) => `64 bytes from 172.17.0.30: icmp_seq=${number} ttl=64 time=1.23 ms\n`).join('')

  it('are counted from the output of ping', () => {
    const summary = '5 packets transmitted, 3 received, 40% packet loss, time 803ms'
    expect(parsePing(`${answers(1, 2, 4)}\n${summary}`)).toEqual({ sent: 5, received: 3, last: 4 })
    expect(parsePing('3 packets transmitted, 0 received')).toEqual({ sent: 3, received: 0, last: 0 })
    expect(parsePing('ping: connect: Network is unreachable')).toBeUndefined()
  })

  it('are lost when a later one has an answer, when none has, or when the last seconds have none', () => {
    expect(hasLost({ sent: 100, received: 100, last: 100 }, 0.2)).toBe(false)
    expect(hasLost({ sent: 100, received: 98, last: 99 }, 0.2)).toBe(true)
    // On their way when ping was ended.
    expect(hasLost({ sent: 100, received: 97, last: 97 }, 0.2)).toBe(false)
    expect(hasLost({ sent: 100, received: 85, last: 85 }, 0.2)).toBe(true)
    expect(hasLost({ sent: 2, received: 0, last: 0 }, 0.2)).toBe(true)
  })
})
