import { describe, expect, it } from 'vitest'
import type { ProbePod, ProbeTask } from '../verify/probe/probe-tasks.ts'
import { type AskedProbe, repeatVips, runTasks, silentVips } from './run-probes.ts'

const ADDRESS = '172.17.0.85'
const vip: ProbeTask = { kind: 'vip', by: 'ARP', address: ADDRESS, slot: 'dns', port: 0 }
const neighbour: ProbeTask = { ...vip, by: 'ND', address: 'fd00:17::85' }
const port: ProbeTask = { ...vip, by: 'port', port: 443 }

function pod(node: string): ProbePod {
  return { cloud: 'rhoso1', network: 'internalapi', node, namespace: 'openstack', name: `probe-${node}`, addresses: [] }
}

/** A probe whose answers to each task come one after the other; the last one stays. */
async function probe(node: string, answers: Readonly<Record<string, readonly string[]>>, tasks = [vip]) {
  const asked: string[] = []
  const run = await runTasks(pod(node), tasks, async (words) =>
    words
      .map((word) => {
        const list = answers[word] ?? []
        const earlier = asked.filter((other) => other === word).length
        asked.push(word)
        return `${word} ${list[earlier] ?? list.at(-1) ?? 'silent'}`
      })
      .join('\n'),
  )
  return { run, asked }
}

function lastAnswer({ output }: Pick<AskedProbe, 'output'>): string | undefined {
  return output.split('\n').at(-1)
}

const MAC = '02:00:00:00:00:01'
const OTHER = '02:00:00:00:00:02'

describe('VIPs', () => {
  it('are asked for again in all pods when no pod got an answer, until one does', async () => {
    const first = await probe('worker-0', { [`arp,${ADDRESS}`]: ['silent', 'silent', MAC] })
    const second = await probe('worker-1', {})
    let pauses = 0
    const [answered] = await repeatVips([first.run, second.run], { count: 3, pause: async () => (pauses += 1) })
    expect(lastAnswer(answered as AskedProbe)).toBe(`arp,${ADDRESS} ${MAC}`)
    expect([pauses, first.asked.length, second.asked.length]).toEqual([2, 3, 3])
  })

  it('are asked for three times more and stay silent, by ARP and ND, and ports once', async () => {
    const first = await probe('worker-0', {}, [vip, neighbour, port])
    const second = await probe('worker-1', {}, [vip, neighbour, port])
    await repeatVips([first.run, second.run], { count: 3, pause: async () => undefined })
    expect(first.asked.filter((word) => word.startsWith('arp,'))).toHaveLength(4)
    expect(second.asked.filter((word) => word.startsWith('nd,'))).toHaveLength(4)
    expect(first.asked.filter((word) => word.startsWith('tcp,'))).toHaveLength(1)
  })

  it('are named when no pod of any node got an answer', async () => {
    const first = await probe('worker-0', { [`arp,${ADDRESS}`]: [MAC] }, [vip, neighbour])
    const second = await probe('worker-1', {}, [vip, neighbour])
    expect(silentVips([first.run, second.run])).toEqual(['fd00:17::85'])
    expect(silentVips([second.run])).toEqual([])
  })

  it('are asked for again when two machines answered', async () => {
    const first = await probe('worker-0', { [`arp,${ADDRESS}`]: [`${MAC} ${OTHER}`, OTHER] })
    const second = await probe('worker-1', {})
    const [answered] = await repeatVips([first.run, second.run], { count: 3, pause: async () => undefined })
    expect(lastAnswer(answered as AskedProbe)).toBe(`arp,${ADDRESS} ${OTHER}`)
  })

  it('are asked for once when the pod of one node got an answer, or when one node asks', async () => {
    const first = await probe('worker-0', { [`arp,${ADDRESS}`]: [MAC] })
    const second = await probe('worker-1', {})
    const alone = await probe('worker-2', {})
    await repeatVips([first.run, second.run], {
      count: 3,
      pause: () => Promise.reject(new Error('no pause is needed')),
    })
    await repeatVips([alone.run], { count: 3, pause: () => Promise.reject(new Error('no pause is needed')) })
    expect([first.asked.length, second.asked.length, alone.asked.length]).toEqual([1, 1, 1])
  })

  it('keep their earlier answers when a probe cannot be asked again', async () => {
    const first = await probe('worker-0', {})
    const second = await probe('worker-1', {})
    const ended = { ...first.run, ask: () => Promise.reject(new Error('the pod ended')) }
    const [run] = await repeatVips([ended, second.run], { count: 3, pause: async () => undefined })
    expect(run?.output).toBe(first.run.output)
  })
})
