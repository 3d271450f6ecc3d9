import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { indexSnapshot } from '../src/api/snapshot.ts'
import { registerAddressMetrics } from '../src/controllers/ipam/address-metrics.ts'
import { createMetrics } from '../src/kube/metrics.ts'
import { renderManifests } from '../src/operator/manifests.ts'
import { registerFaultMetrics } from '../src/operator/parts/address-faults.ts'
import { registerCapacityMetrics } from '../src/operator/parts/addresses-part.ts'
import { registerBackupMetrics } from '../src/operator/parts/backups-part.ts'
import { registerCertificateMetrics } from '../src/operator/parts/certificates-part.ts'
import { registerHostMetrics } from '../src/operator/parts/hosts-part.ts'
import { parts } from '../src/operator/parts.ts'
import { manualClock } from '../test/manual-clock.ts'
import { alerts, grafanaDashboard, monitoringObjects, panels, RUNBOOKS } from './release-monitoring.ts'

/** The registry of a running operator. */
const { registry } = createMetrics({ clock: manualClock(), process: true })
registerCapacityMetrics(registry, () => ({
  attachments: [],
  ipPools: [],
  addressPools: [],
  services: [],
  netConfigs: [],
  reservations: [],
}))
registerFaultMetrics(registry, indexSnapshot({ objects: [], unread: [] }))
registerBackupMetrics(registry, () => [])
registerCertificateMetrics(registry, () => [], Date.now)
registerHostMetrics(registry, () => ({}) as never)
registerAddressMetrics(registry, () => ({ netConfigs: [], ipSets: [], reservations: [], blocks: [] }) as never)

/** Words of PromQL that a query uses beside metrics and labels. */
const WORDS = new Set(
  'absent max min sum by rate increase histogram_quantile predict_linear and offset time'.split(' '),
)

/** Metrics of a query with the labels that it selects or groups by. */
function readQuery(query: string): { readonly metrics: readonly string[]; readonly labels: readonly string[] } {
  const labels = [
    ...[...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(',').map((label) => label.trim())),
    ...[...query.matchAll(/(\w+)(?==|!=)/g)].map(([, label = '']) => label),
  ]
  const rest = query.replace(/by \([^)]*\)/g, '').replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
  const metrics = (rest.match(/(?<![a-z0-9_])[a-z_][a-z0-9_]*/g) ?? []).filter((word) => !WORDS.has(word))
  return { metrics, labels }
}

/** Labels that Prometheus adds or renames when it scrapes. */
const addedLabels = ['job', 'exported_namespace']

const queries = [...alerts, ...panels].map(({ expression }) => expression)

describe('every query', () => {
  it.each(queries)('%s names metrics and labels that the operator serves', (query) => {
    const { metrics, labels } = readQuery(query)
    expect(metrics.length).toBeGreaterThan(0)
    for (const name of metrics) {
      const isBucket = name.endsWith('_bucket')
      const metric = registry.getSingleMetric(name.replace(/_bucket$/, '')) as unknown as
        | { readonly labelNames: readonly string[] }
        | undefined
      expect(metric, name).toBeDefined()
      const known = [...(metric?.labelNames ?? []), ...(isBucket ? ['le'] : []), ...addedLabels]
      expect(labels.filter((label) => !known.includes(label))).toEqual([])
    }
  })
})

it('every alert has a heading on the page that it links to, and the page has no other', () => {
  const headings = [...readFileSync(RUNBOOKS, 'utf8').matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name)
  expect(headings.toSorted()).toEqual(alerts.map(({ name }) => name).toSorted())
})

it('the ServiceMonitor selects the Service of the operator and its port', () => {
  const service = renderManifests(parts, { namespace: 'a', image: 'b', replicas: 1 }).find(
    ({ kind }) => kind === 'Service',
  )
  const monitor = monitoringObjects('a').find(({ kind }) => kind === 'ServiceMonitor') as unknown as {
    readonly spec: {
      readonly selector: { readonly matchLabels: object }
      readonly endpoints: readonly { port: string }[]
    }
  }
  expect(service?.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels)
  const spec = service?.['spec'] as { readonly ports: readonly { readonly name: string }[] } | undefined
  expect(spec?.ports.map(({ name }) => name)).toContain(monitor.spec.endpoints[0]?.port)
})

it('the panels of the dashboard do not overlap', () => {
  const { panels: placed } = grafanaDashboard() as { panels: { gridPos: { x: number; y: number } }[] }
  expect(new Set(placed.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length)
})
