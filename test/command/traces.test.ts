import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startLocalControlPlane } from '../../shared/runtime/local/control-plane.ts'
import type { Tracing } from '../../shared/ports/tracing.ts'
import { openTraces } from '../../shared/runtime/local/traces.ts'
import { asksForTraces, routeOf } from '../../shared/runtime/spans.ts'
import { openApiClient } from '../support/api-client.ts'
import { tracedReconcilers } from '../support/traced-reconcilers.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { startTraceCollector, type CollectedSpan, type TraceCollector } from '../support/trace-collector.ts'
import { underLoad } from '../support/under-load.ts'

const patience = { timeout: 60_000 }
const sender = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }

describe('a trace', () => {
  let collector: TraceCollector
  let spans: readonly CollectedSpan[]
  beforeAll(async () => {
    using directory = temporaryDirectory('traces')
    collector = await startTraceCollector()
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url)
    vi.stubEnv('OTEL_SERVICE_NAME', 'planes')
    const traces = await openTraces({ environment: process.env, warn: () => {} })
    const plane = await startLocalControlPlane({
      port: 0,
      dataDirectory: directory.path,
      logLevel: 'error',
      controllers: () => tracedReconcilers,
      tracing: traces?.tracing,
    })
    {
      using client = openApiClient(join(directory.path, 'kubeconfig'))
      const create = (name: string, traceparent?: string) =>
        client.send('POST /apis/example.dev/v1/namespaces/default/sites', {
          body: { apiVersion: 'example.dev/v1', kind: 'Site', metadata: { name }, spec: { url: collector.url } },
          ...(traceparent !== undefined && { headers: { traceparent } }),
        })
      await create('books', `00-${sender.traceId}-${sender.spanId}-01`)
      await create('unseen', `00-${sender.traceId.replace('0af', '1af')}-${sender.spanId}-00`)
      await create('failing')
      const observed = async (name: string) => {
        const { body } = await client.send(`GET /apis/example.dev/v1/namespaces/default/pages/${name}`)
        return body.status?.conditions?.[0]?.reason
      }
      for (const name of ['books', 'unseen'])
        await vi.waitUntil(async () => (await observed(name)) === 'Reconciled', patience)
      await vi.waitUntil(async () => (await observed('failing')) === 'ReconcileFailed', patience)
    }
    await plane.stop(1_000)
    await traces?.close()
    // Other files run in this process.
    vi.unstubAllEnvs()
    spans = collector.spans
  })
  afterAll(() => collector[Symbol.asyncDispose]())

  const named = (name: string, object: string): CollectedSpan | undefined =>
    spans.find((span) => span.name === name && span.attributes['setpoint.name'] === object)

  it('goes from the sender to the request, the write, the run, the call outside, and the run of the child', () => {
    const ofSender = spans.filter(({ traceId }) => traceId === sender.traceId)
    const request = ofSender.find(({ name }) => name === 'POST /apis/example.dev/v1/namespaces/{namespace}/sites')
    expect(request).toMatchObject({ parentSpanId: sender.spanId, service: 'planes' })
    expect(request?.attributes).toMatchObject({ 'http.response.status_code': 201 })
    const written = named('create Site', 'books')
    expect(written).toMatchObject({ traceId: sender.traceId, parentSpanId: request?.spanId })
    const run = named('run site', 'books')
    expect(run).toMatchObject({ traceId: sender.traceId, parentSpanId: written?.spanId })
    expect(run?.attributes).toMatchObject({ 'setpoint.outcome': 'done', 'setpoint.attempt': 0 })
    const outside = ofSender.find(({ attributes }) => String(attributes['url.full']).endsWith('/sites/books'))
    expect(outside).toMatchObject({ name: 'GET', parentSpanId: run?.spanId })
    const child = named('create Page', 'books')
    expect(child).toMatchObject({ parentSpanId: run?.spanId })
    expect(named('run page', 'books')).toMatchObject({ traceId: sender.traceId, parentSpanId: child?.spanId })
    expect(
      ofSender.filter(({ name, parentSpanId }) => name === 'write Site' && parentSpanId === run?.spanId),
    ).toHaveLength(1)
  })

  it('is told to the far side, without what a query may hide', () => {
    const asked = collector.requests.find(({ path }) => path.startsWith('/sites/books'))
    const outside = spans.find(({ attributes }) => String(attributes['url.full']).includes('/sites/books'))
    expect(asked?.traceparent).toBe(`00-${sender.traceId}-${outside?.spanId}-01`)
    expect(JSON.stringify(spans)).not.toContain('hidden')
  })

  it('says how a run failed', () => {
    expect(named('run page', 'failing')).toMatchObject({ error: 'ReconcileFailed: no page' })
  })

  it('is not kept where its sender does not want it, nor what follows from it', () => {
    const kept = ['create Site', 'create Page', 'run page'].filter((name) => named(name, 'unseen') !== undefined)
    expect(kept).toEqual([])
  })
})

it.each([
  ['that refuses them', () => Promise.reject(new Error('no')), 'the last traces are lost: Error: no'],
  ['that does not answer', () => new Promise<void>(() => {}), /^the last traces are lost: the collector did not take/],
  ['that takes them', async () => {}, undefined],
])('a stop with a collector %s ends in time, and well', async (_who, close, told) => {
  const warnings: string[] = []
  const tracing = {} as unknown as Tracing
  const load = async () => ({ openOtlpTracing: () => ({ tracing, flush: async () => {}, close }) })
  const environment = { OTEL_TRACES_EXPORTER: 'otlp' }
  const traces = await openTraces({ environment, warn: (message) => void warnings.push(message), load })
  const startMs = performance.now()
  await traces?.close()
  expect(performance.now() - startMs).toBeLessThan(underLoad(6_000))
  expect(warnings).toEqual(told === undefined ? [] : [expect.stringMatching(told)])
})

it.each([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
  [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, false],
  [{ OTEL_SDK_DISABLED: 'true', OTEL_TRACES_EXPORTER: 'otlp' }, false],
])('%j asks for traces: %j', (environment, asks) => {
  expect(asksForTraces(environment)).toBe(asks)
})

it('is none, and says what to type, where the packages are not installed', async () => {
  const warnings: string[] = []
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
  const environment = { OTEL_TRACES_EXPORTER: 'otlp' }
  const warn = (message: string): void => void warnings.push(message)
  expect(await openTraces({ environment, warn, load: () => Promise.reject(missing) })).toBeUndefined()
  expect(warnings).toEqual([expect.stringContaining('type npm i @opentelemetry/{api,')])
})

it.each([
  ['/api/v1/namespaces/default/configmaps/a', '/api/v1/namespaces/{namespace}/configmaps/{name}'],
  ['/apis/a.b/v1/namespaces/default/cs', '/apis/a.b/v1/namespaces/{namespace}/cs'],
  ['/apis/a.b/v1/namespaces/default/cs/x/status', '/apis/a.b/v1/namespaces/{namespace}/cs/{name}/status'],
  ['/apis/a.b/v1/cs/x', '/apis/a.b/v1/cs/{name}'],
  ['/api/v1/namespaces', '/api/v1/namespaces'],
  ['/api/v1/namespaces/n/finalize', '/api/v1/namespaces/{name}/finalize'],
  ['/apis', '/apis'],
  ['/readyz', '/readyz'],
  ['/anything/a/b', '/anything'],
  ['/', '/'],
])('the route of %s is %s', (path, route) => {
  expect(routeOf(path)).toBe(route)
})
