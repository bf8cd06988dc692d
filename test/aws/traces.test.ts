import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openOtlpTracing, type OpenTracing } from '../../shared/adapters/tracing/otlp-tracing.ts'
import { startTraceCollector, type CollectedSpan, type TraceCollector } from '../support/trace-collector.ts'
import { tracedReconcilers } from '../support/traced-reconcilers.ts'
import { startWholePath } from './whole-path.ts'

/** The real functions, on emulators: the context of a trace lies in the object while a queue has its key. */
const sender = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
const collection = '/apis/example.dev/v1/namespaces/default'

let collector: TraceCollector
let opened: OpenTracing | undefined
beforeAll(async () => {
  collector = await startTraceCollector()
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url)
  vi.stubEnv('OTEL_SERVICE_NAME', 'planes')
})
afterAll(async () => {
  await opened?.close()
  vi.unstubAllEnvs()
  await collector[Symbol.asyncDispose]()
})

function named(name: string): CollectedSpan | undefined {
  const ofSender = collector.spans.filter(({ traceId }) => traceId === sender.traceId)
  return ofSender.find((span) => span.name === name && span.attributes['setpoint.name'] !== 'other')
}

it('a trace goes from the sender through the API, the table, the queue and the run to the call outside and the child', async () => {
  await using plane = await startWholePath({
    controllers: tracedReconcilers,
    // One for all functions: they share a process here.
    openTraces: (version) => (opened ??= openOtlpTracing(version)),
  })
  const body = {
    apiVersion: 'example.dev/v1',
    kind: 'Site',
    metadata: { name: 'books' },
    spec: { url: collector.url },
  }
  const traceparent = `00-${sender.traceId}-${sender.spanId}-01`
  expect(await plane.request(`POST ${collection}/sites`, body, 'application/json', traceparent)).toMatchObject({
    status: 201,
  })
  await vi.waitUntil(() => named('run page') !== undefined, { timeout: 60_000 })

  const request = named('POST /apis/example.dev/v1/namespaces/{namespace}/sites')
  expect(request).toMatchObject({ parentSpanId: sender.spanId, service: 'planes' })
  const written = named('create Site')
  expect(written).toMatchObject({ parentSpanId: request?.spanId })
  const run = named('run site')
  expect(run).toMatchObject({ parentSpanId: written?.spanId })
  const outside = collector.spans.find(({ attributes }) => String(attributes['url.full']).endsWith('/sites/books'))
  expect(outside).toMatchObject({ traceId: sender.traceId, parentSpanId: run?.spanId })
  const child = named('create Page')
  expect(child).toMatchObject({ parentSpanId: run?.spanId })
  expect(named('run page')).toMatchObject({ parentSpanId: child?.spanId })
})
