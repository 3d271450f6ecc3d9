import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { manualClock } from '../../test/manual-clock.ts'
import { createMetrics } from './metrics.ts'

const page = readFileSync('docs/reference/metrics.md', 'utf8')

it('the documentation lists the metrics of every part of the operator with their labels, and no other', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  )
  const registered = sources.flatMap((file) => findGauges(readFileSync(path.join('src', file), 'utf8')))
  const rows = [...page.matchAll(/^\| (`stackloom_[^|]+) \| ([^|]*)\|/gm)]
  const documented = rows.flatMap(([, names = '', labels = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => `${name} ${labels.replace(/[`,]/g, '').trim()}`.trim()),
  )
  expect(documented.toSorted()).toEqual(registered.toSorted())
  expect(registered).toContain('stackloom_hosts namespace node_set verdict')
  expect(registered).toContain('stackloom_ipam_addresses_free namespace network subnet')
})

/** Name and labels of each metric that a file creates; several may share their labels in `common`. */
function findGauges(source: string): readonly string[] {
  return [...source.matchAll(/\bname: '(stackloom_\w+)'/g)].map(({ 1: name, index }) => {
    const start = source.lastIndexOf('{', index)
    const options = source.slice(start, source.indexOf('})', index))
    const shared = options.includes('...common') ? /const common = .*/.exec(source)?.[0] : undefined
    const labels = /labelNames: \[([^\]]*)\]/.exec(shared ?? options)?.[1] ?? ''
    return `${name} ${labels.replace(/[',]/g, '')}`.trim()
  })
}

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
