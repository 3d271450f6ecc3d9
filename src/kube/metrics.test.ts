import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { manualClock } from '../../test/manual-clock.ts'
import { createMetrics } from './metrics.ts'

const page = readFileSync('docs/reference/metrics.md', 'utf8')

it('the documentation lists the metrics of every part of the operator, and no other', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  )
  const registered = sources.flatMap((file) => [
    ...readFileSync(path.join('src', file), 'utf8').matchAll(/\bname: '(stackloom_\w+)'/g),
  ])
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const documented = rows.flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`(stackloom_\w+)`/g)])
  const names = (found: readonly RegExpExecArray[]) => found.map(([, name = '']) => name).toSorted()
  expect(names(documented)).toEqual(names(registered))
})

describe('createMetrics', () => {
  it('exports the metrics that the documentation lists, with their labels, in both directions', async () => {
    const { registry } = createMetrics({ clock: manualClock() })
    const metrics = registry.getMetricsAsArray() as unknown as readonly {
      name: string
      labelNames: string[]
    }[]
    const real = metrics.map(({ name, labelNames }) => `${name} ${labelNames.join(' ')}`)
    const rows = [...page.matchAll(/^\| `(?!stackloom_)(\w+)` \| ([^|]+) \|/gm)]
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
