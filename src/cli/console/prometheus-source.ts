/** Reads the use of subnets over the last day from a Prometheus that collects the operator's metrics. */
import { Agent, request } from 'undici'
import * as z from 'zod'
import type { UseHistory } from '../../console/use-over-time.ts'
import { wrongUse } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'

const DAY_S = 86_400
const STEP_S = 300
const TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 32 << 20
/** A Date has no later time. */
const LAST_SECOND = 8.64e12

const rangeAnswer = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        values: z.array(z.tuple([z.number(), z.string()])),
      }),
    ),
  }),
})

/** A token in `PROMETHEUS_TOKEN` is sent to this server only: a redirect is not followed. */
export function openPrometheus(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): (signal: AbortSignal) => Promise<UseHistory> {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (base?.protocol !== 'http:' && base?.protocol !== 'https:')
    throw failure(wrongUse, { reason: `${url} is no http or https URL`, command: 'stackloom console' })
  const token = env['PROMETHEUS_TOKEN']
  const dispatcher = new Agent({
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_RESPONSE_BYTES,
  })
  return async (signal) => {
    const end = Math.floor(Date.now() / 1000)
    const target = new URL('api/v1/query_range', base.href.endsWith('/') ? base : `${base.href}/`)
    const query = { query: 'stackloom_ipam_addresses_used', start: end - DAY_S, end, step: STEP_S }
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, String(value))
    const headers = { accept: 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    const { statusCode, body } = await request(target, { dispatcher, signal, headers })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${base.host} answered with HTTP status ${statusCode}`)
    return parseUse(JSON.parse(text))
  }
}

/** Several operators, or one that was started again, count the same addresses: the largest count of each time is kept. */
export function parseUse(answer: unknown): UseHistory {
  const series = new Map<string, { readonly labels: Omit<UseHistory[number], 'points'>; points: Map<string, number> }>()
  for (const { metric, values } of rangeAnswer.parse(answer).data.result) {
    // Prometheus renames the labels of a metric that its own labels of the target have, too.
    const { exported_namespace, namespace = '', network = '', subnet = '' } = metric
    const labels = { namespace: exported_namespace ?? namespace, network, subnet }
    const key = Object.values(labels).join('/')
    const known = series.get(key) ?? { labels, points: new Map<string, number>() }
    for (const [seconds, value] of values) {
      const used = Number(value)
      if (Math.abs(seconds) > LAST_SECOND || !Number.isFinite(used)) continue
      const time = new Date(seconds * 1000).toISOString()
      known.points.set(time, Math.max(used, known.points.get(time) ?? 0))
    }
    series.set(key, known)
  }
  return [...series.values()].map(({ labels, points }) => ({
    ...labels,
    points: [...points].map(([time, used]) => ({ time, used })).toSorted((a, b) => (a.time < b.time ? -1 : 1)),
  }))
}
