import { describe, expect, it } from 'vitest'
import { recordUse } from '../../console/use-over-time.ts'
import { openPrometheus, parseUse } from './prometheus-source.ts'

const answer = (...result: readonly object[]) => ({ status: 'success', data: { resultType: 'matrix', result } })
const labels = { network: 'ctlplane', subnet: 'subnet1' }

describe('parseUse', () => {
  it('reads the namespace that Prometheus has renamed', () => {
    const metric = { ...labels, namespace: 'stackloom-operator', exported_namespace: 'openstack' }
    expect(parseUse(answer({ metric, values: [[1_700_000_000, '7']] }))).toEqual([
      { namespace: 'openstack', ...labels, points: [{ time: '2023-11-14T22:13:20.000Z', used: 7 }] },
    ])
  })

  it('keeps one count of a time, in order, when two operators were asked', () => {
    const metric = { ...labels, namespace: 'openstack' }
    const [series] = parseUse(
      answer(
        { metric: { ...metric, pod: 'a' }, values: [[120, '4']] },
        { metric: { ...metric, pod: 'b' }, values: [[60, '3'], [120, '0']] }, // biome-ignore format: two points
      ),
    )
    expect(series?.points.map(({ used }) => used)).toEqual([3, 4])
  })

  it('leaves out times that no date has, and counts that are no numbers', () => {
    const values = [[1e300, '1'], [-1e13, '1'], [60, 'NaN'], [120, '+Inf'], [180, 'x'], [240, '5']] // biome-ignore format: points
    const [series] = parseUse(answer({ metric: { ...labels, namespace: 'openstack' }, values }))
    expect(series?.points).toEqual([{ time: '1970-01-01T00:04:00.000Z', used: 5 }])
  })

  it('refuses an answer of another shape', () => {
    expect(() => parseUse({ data: { result: [{ metric: {}, values: 'x' }] } })).toThrow()
  })
})

describe('openPrometheus', () => {
  it.each(['file:///etc/passwd', 'prometheus'])('refuses %s', (url) => {
    expect(() => openPrometheus(url, {})).toThrow(/no http or https URL/)
  })
})

describe('recordUse', () => {
  it('puts what a Prometheus knows before its own samples, once, also when it answers late', () => {
    const use: Parameters<typeof recordUse>[0] = new Map()
    const subnets = [{ namespace: 'openstack', ...labels, used: 5, free: '95', waiting: [] }] as unknown as Parameters<
      typeof recordUse
    >[1]
    const sample = { cloudName: () => 'rhoso1', history: [] as Parameters<typeof recordUse>[2]['history'] }
    recordUse(use, subnets, { ...sample, time: '2026-01-02T00:01:00.000Z' })
    const points = [
      { time: '2026-01-02T00:00:00.000Z', used: 3 },
      { time: '2026-01-02T00:03:00.000Z', used: 9 },
    ]
    const history = [{ namespace: 'openstack', ...labels, points }]
    recordUse(use, subnets, { ...sample, history, time: '2026-01-02T00:02:00.000Z' })
    recordUse(use, subnets, { ...sample, history, time: '2026-01-02T00:03:00.000Z' })
    expect([...use.values()][0]?.points.map(({ used }) => used)).toEqual([3, 5, 5, 5])
  })
})
