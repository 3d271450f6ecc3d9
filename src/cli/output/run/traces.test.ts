import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { testIo } from '../../../../test/io.ts'
import { manualClock } from '../../../../test/manual-clock.ts'
import { internalError } from '../../../errors/common.ts'
import { failure } from '../../../errors/failure.ts'
import { runStages } from '../../../run/engine.ts'
import type { Stage } from '../../../run/stage.ts'
import { openTraces } from './traces.ts'

interface OtlpSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[]
  readonly events: readonly { readonly name: string }[]
  readonly status: { readonly code?: number; readonly message?: string }
}

/** A collector: keeps the spans that it receives. */
let server: Server
let spans: OtlpSpan[]
let resources: unknown[]
let answer: number

beforeEach(async () => {
  spans = []
  resources = []
  answer = 200
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => void (body += chunk))
    request.on('end', () => {
      if (answer === 200 && request.url === '/v1/traces') {
        const { resourceSpans } = JSON.parse(body) as {
          resourceSpans: { resource: unknown; scopeSpans: { spans: OtlpSpan[] }[] }[]
        }
        for (const { resource, scopeSpans } of resourceSpans) {
          resources.push(resource)
          spans.push(...scopeSpans.flatMap((scope) => scope.spans))
        }
      }
      response.writeHead(answer, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await new Promise((resolve) => server.close(resolve))
})

/** The SDK reads the environment of the process. */
function collectorIo(more: Readonly<Record<string, string>> = {}) {
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...more }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  return testIo({ env })
}

const stage = (name: string, work: () => Promise<void>, more: Partial<Stage> = {}): Stage => ({
  id: `rhoso1/${name}`,
  name,
  cloud: 'rhoso1',
  after: [],
  locks: [],
  work,
  ...more,
})

async function run(io: ReturnType<typeof testIo>, stages: readonly Stage[]): Promise<void> {
  const traces = await openTraces(io)
  const sink = traces.record(() => undefined)
  const stop = new AbortController().signal
  await runStages({ run: 'r1', what: 'up site.yaml', stages, sink, clock: manualClock(), stop })
  await traces.close()
}

const valueOf = (span: OtlpSpan | undefined, key: string): string | undefined =>
  span?.attributes.find((attribute) => attribute.key === key)?.value.stringValue

describe('with an endpoint in the environment', () => {
  it('a run is one trace with a span for each stage', async () => {
    const first = stage('namespace', () => Promise.resolve())
    await run(collectorIo(), [
      first,
      stage('nncp', () => Promise.resolve(), { after: [{ id: first.id, why: 'it needs one' }] }),
    ])
    const root = spans.find(({ name }) => name === 'up site.yaml')
    expect(spans.map(({ name }) => name).toSorted()).toEqual(['namespace', 'nncp', 'up site.yaml'])
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    expect(root?.parentSpanId).toBeUndefined()
    for (const span of spans.filter((other) => other !== root)) {
      expect(span.parentSpanId).toBe(root?.spanId)
      expect(valueOf(span, 'stackloom.cloud')).toBe('rhoso1')
      expect(valueOf(span, 'stackloom.outcome')).toBe('done')
    }
    expect(JSON.stringify(resources)).toContain('"stackloom"')
  })

  it('a failed stage has the status error, its reason and its finding; a blocked one is in the trace too', async () => {
    const first = stage('namespace', () => Promise.reject(failure(internalError, { reason: 'no quota' })))
    await run(collectorIo(), [
      first,
      stage('nncp', () => Promise.resolve(), { after: [{ id: first.id, why: 'it needs one' }] }),
    ])
    const failed = spans.find(({ name }) => name === 'namespace')
    expect(failed?.status).toMatchObject({ code: 2, message: expect.stringContaining('no quota') })
    expect(failed?.events.map(({ name }) => name)).toEqual(['finding'])
    expect(
      valueOf(
        spans.find(({ name }) => name === 'nncp'),
        'stackloom.outcome',
      ),
    ).toBe('blocked')
    expect(spans.find(({ name }) => name === 'up site.yaml')?.status.code).toBe(2)
  })

  it('the name of the service can be set, as in other programs', async () => {
    await run(collectorIo({ OTEL_SERVICE_NAME: 'nightly' }), [stage('namespace', () => Promise.resolve())])
    expect(JSON.stringify(resources)).toContain('nightly')
  })

  it('a collector that refuses is reported, and the run goes on', async () => {
    answer = 400
    const io = collectorIo()
    const work = vi.fn(() => Promise.resolve())
    await run(io, [stage('namespace', work)])
    expect(work).toHaveBeenCalledOnce()
    expect(io.err()).toContain('SL1075')
  })

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' }, 'localhost:4318'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'grpc'],
  ])('%o is reported, and nothing is sent', async (env, reason) => {
    const io = collectorIo(env)
    await run(io, [stage('namespace', () => Promise.resolve())])
    expect(io.err()).toContain('SL1075')
    expect(io.err()).toContain(reason)
    expect(spans).toEqual([])
  })
})

it.each([{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, { OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])(
  'nothing is sent or reported with %o',
  async (env) => {
    const io = collectorIo(env)
    await run(io, [stage('namespace', () => Promise.resolve())])
    expect(io.err()).toBe('')
    expect(spans).toEqual([])
  },
)
