/** Loads the OpenTelemetry SDK and exports the spans of a run over OTLP/HTTP. The SDK reads its `OTEL_` variables itself. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import type { EventSink } from '../../../run/events.ts'
import { programVersion } from '../../program-version.ts'
import { spanRecorder } from './spans.ts'

export interface Tracing {
  readonly sink: EventSink
  /** Sends all spans. Resolves with the reason if some could not be sent. */
  readonly close: () => Promise<string | undefined>
}

export function startTracing(): Tracing {
  let failed: string | undefined
  const exporter = new OTLPTraceExporter()
  const observed: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        // ExportResultCode.FAILED
        if (result.code === 1) failed ??= result.error?.message ?? 'no reason is known'
        done(result)
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
  const version = programVersion()
  const resource = resourceFromAttributes({ 'service.name': 'stackloom', 'service.version': version })
  const provider = new TracerProvider({
    resource: resource.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter: observed })],
  })
  const recorder = spanRecorder(provider.getTracer('stackloom', version))
  return {
    sink: recorder.sink,
    close: async () => {
      recorder.close()
      await provider.shutdown().catch((error: unknown) => {
        failed ??= error instanceof Error ? error.message : String(error)
      })
      return failed
    },
  }
}
