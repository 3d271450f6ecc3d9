/**
 * Sends the events of a run as OpenTelemetry traces, if the environment has an endpoint for them.
 *
 * The SDK is loaded only then. A collector that does not answer never changes the result of a run.
 */

import { tracesNotSent } from '../../../errors/common.ts'
import { formatError } from '../../../errors/failure.ts'
import { finding } from '../../../errors/finding.ts'
import type { EventSink } from '../../../run/events.ts'
import type { Io } from '../../io.ts'
import { printFindings } from '../findings.ts'

export interface Traces {
  /** Passes every event on, and records it. */
  readonly record: (sink: EventSink) => EventSink
  /** Sends what is recorded; called once, after the last event. */
  readonly close: () => Promise<void>
}

const notRecorded: Traces = { record: (sink) => sink, close: () => Promise.resolve() }

export async function openTraces(io: Io): Promise<Traces> {
  const { env } = io
  const [variable, endpoint] = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
    ? ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']]
    : ['OTEL_EXPORTER_OTLP_ENDPOINT', env['OTEL_EXPORTER_OTLP_ENDPOINT']]
  if (!endpoint || env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none')
    return notRecorded
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL']
  const report = (reason: string): void => printFindings([finding(tracesNotSent, { reason })], io)
  // The SDK would send to its default address.
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    report(`${variable} is not the address of an HTTP server: ${endpoint}`)
    return notRecorded
  }
  if (protocol === 'grpc') {
    report('OTEL_EXPORTER_OTLP_PROTOCOL is grpc')
    return notRecorded
  }
  try {
    const { startTracing } = await import('./trace-exporter.ts')
    const { sink: record, close } = startTracing()
    return {
      record: (sink) => (event) => {
        sink(event)
        record(event)
      },
      close: async () => {
        const failed = await close()
        if (failed !== undefined) report(`${new URL(endpoint).origin}: ${failed}`)
      },
    }
  } catch (thrown) {
    report(formatError(thrown))
    return notRecorded
  }
}
