import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { manualClock } from '../../test/manual-clock.ts'
import { createMetrics } from './metrics.ts'

describe('createMetrics', () => {
  it('exports the metrics that the documentation lists, with their labels, in both directions', async () => {
    const { registry } = createMetrics({ clock: manualClock() })
    const metrics = registry.getMetricsAsArray() as unknown as readonly {
      name: string
      labelNames: string[]
    }[]
    const real = metrics.map(({ name, labelNames }) => `${name} ${labelNames.join(' ')}`)
    const page = readFileSync('docs/reference/metrics.md', 'utf8')
    const rows = [...page.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)]
    const documented = rows.map(([, name, labels = '']) => `${name} ${labels.replace(/[`,]/g, '').trim()}`)
    expect(documented.toSorted()).toEqual(real.toSorted())
  })

  it('counts reviews by path and code', async () => {
    const metrics = createMetrics({ clock: manualClock() })
    for (const code of [200, 200, 504]) {
      metrics.admission.started?.('/validate')
      metrics.admission.finished?.('/validate', code, 20)
    }
    const { body } = await metrics.text()
    expect(body).toContain('controller_runtime_webhook_requests_total{webhook="/validate",code="200"} 2\n')
    expect(body).toContain('controller_runtime_webhook_requests_total{webhook="/validate",code="504"} 1\n')
    expect(body).toContain('controller_runtime_webhook_requests_in_flight{webhook="/validate"} 0\n')
  })
})
