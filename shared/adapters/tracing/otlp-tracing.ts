import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { SpanPlan, Tracing } from '../../ports/tracing.ts'

export interface OpenTracing {
  readonly tracing: Tracing
  /** Sends what has ended, for a process that may stand still after it. Rejects if it cannot be sent. */
  flush(): Promise<void>
  /** Sends what is left. */
  close(): Promise<void>
}

/**
 * Spans that go to a collector by OTLP over HTTP, as the standard variables say: OTEL_EXPORTER_OTLP_*,
 * OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_BSP_*. From then on each `fetch` within a span
 * is one too, and tells the far side of the trace.
 */
export function openOtlpTracing(version: string): OpenTracing {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'setpoint', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }))
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  provider.register()
  const fetches = new UndiciInstrumentation({ requireParentforSpans: true, requestHook: concealQuery })
  fetches.setTracerProvider(provider)
  const tracer = provider.getTracer('setpoint', version)

  const start = ({ name, kind, attributes, parent }: SpanPlan): { readonly span: Span; readonly around: Context } => {
    const outer = parent === undefined ? context.active() : contextOf(parent)
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, outer)
    return { span, around: trace.setSpan(outer, span) }
  }
  return {
    tracing: {
      span: async (plan, work, tell) => {
        const { span, around } = start(plan)
        try {
          const result = await context.with(around, work)
          const { attributes, error } = tell?.(result) ?? { attributes: {} }
          span.setAttributes(attributes)
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
          return result
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'thrown' })
          throw error
        } finally {
          span.end()
        }
      },
      current: () => traceparentOf(trace.getActiveSpan()),
    },
    flush: () => provider.forceFlush(),
    close: async () => {
      fetches.disable()
      await provider.shutdown()
      trace.disable()
      context.disable()
      propagation.disable()
    },
  }
}

const kinds = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, internal: SpanKind.INTERNAL } as const

/** Of somebody else's text, which may be none. */
function contextOf(parent: string): Context {
  return parent === 'none' ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent: parent })
}

/**
 * A span that has ended is not under way, though what it began goes on. One that nobody wants says so to the others.
 */
function traceparentOf(span: Span | undefined): string | undefined {
  if (span === undefined) return undefined
  const isWanted = (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0
  if (isWanted && !span.isRecording()) return undefined
  const carrier: { traceparent?: string } = {}
  propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier)
  return carrier.traceparent
}

/** What stands after the question mark may be a secret. */
function concealQuery(span: Span, { origin, path }: { readonly origin: string; readonly path: string }): void {
  const [plain = ''] = path.split('?', 1)
  if (plain === path) return
  span.setAttributes({ 'url.full': `${origin}${plain}`, 'url.query': '' })
}
