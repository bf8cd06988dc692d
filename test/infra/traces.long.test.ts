import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTraceCollector, type CollectedSpan, type TraceCollector } from '../support/trace-collector.ts'
import { awsClient, plainClient } from './lambda/runtime-clients.ts'
import { applyFirstShelf } from './lambda/script.ts'
import { openStage, type Stage } from './lambda/stage.ts'

/**
 * `traces: { adot: {} }`, run: the bundles with OpenTelemetry in them, under AWS's own runtime interface client where
 * it can be had, with the variables of the template. In the place of the collector of the layer stands one of ours, at
 * the address that the layer's configuration has for it.
 */
const client = await awsClient().catch(() => plainClient)
/** Of `config.yaml` in the layer: its receiver of OTLP over HTTP. */
const port = 4_318
const collector = await startTraceCollector(port).catch((error: unknown) => String(error))
const taken = typeof collector === 'string' ? collector : ''

describe.skipIf(taken !== '')('traces by ADOT', { meta: { skipped: `port ${port} is somebody's: ${taken}` } }, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(client, { traces: { adot: {}, ratio: 1 } })
    await applyFirstShelf(stage)
  })
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]()
    await (collector as TraceCollector)[Symbol.asyncDispose]()
  })

  const named = (name: string): CollectedSpan | undefined =>
    (collector as TraceCollector).spans.find((span) => span.name === name)

  it('tell of a change from its request to its run and its child, with the answer of each function', () => {
    const request = named('POST /apis/example.dev/v1/namespaces/{namespace}/shelves')
    const written = named('create Shelf')
    const run = named('run shelf')
    expect(written).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId })
    expect(run).toMatchObject({ traceId: request?.traceId, parentSpanId: written?.spanId })
    expect(named('create ConfigMap')).toMatchObject({ parentSpanId: run?.spanId })
  })

  it('name their control plane', () => {
    expect(named('run shelf')?.service).not.toBe('undefined')
  })

  it('are no reason to fail where there is no collector', async () => {
    await (collector as TraceCollector)[Symbol.asyncDispose]()
    const { status } = await stage.request('GET', '/apis/example.dev/v1/namespaces/default/shelves/first')
    expect(status).toBe(200)
  })
})
