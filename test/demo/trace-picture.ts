import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startLocalControlPlane } from '../../shared/runtime/local/control-plane.ts'
import { openTraces } from '../../shared/runtime/local/traces.ts'
import { openApiClient } from '../support/api-client.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { startTraceCollector, type CollectedSpan } from '../support/trace-collector.ts'
import { tracedReconcilers } from '../support/traced-reconcilers.ts'

/** `npx node test/demo/trace-picture.ts`: one trace of a control plane of its own, as `docs/images/trace.svg`. */
const traceId = '0af7651916cd43dd8448eb211c80319c'
const collection = '/apis/example.dev/v1/namespaces/default'
const fills = ['#4c78a8', '#f2a33a', '#54a24b', '#b279a2'] as const
await using collector = await startTraceCollector()
using directory = temporaryDirectory('trace')
process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
await trace(directory.path)
writeFileSync('docs/images/trace.svg', drawTrace(collector.spans.filter((span) => span.traceId === traceId)))

/** The first objects are slower: code is compiled, and connections are made. The last one is in the picture. */
async function trace(dataDirectory: string): Promise<void> {
  const traces = await openTraces({ environment: process.env, warn: console.warn })
  const plane = await startLocalControlPlane({
    port: 0,
    dataDirectory,
    logLevel: 'error',
    controllers: () => tracedReconcilers,
    tracing: traces?.tracing,
  })
  using client = openApiClient(join(dataDirectory, 'kubeconfig'))
  for (const name of ['first', 'second', 'third', 'books']) {
    await client.send(`POST ${collection}/sites`, {
      body: { apiVersion: 'example.dev/v1', kind: 'Site', metadata: { name }, spec: { url: collector.url } },
      ...(name === 'books' && { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } }),
    })
    for (let isReady = false; !isReady;) {
      const { body } = await client.send(`GET ${collection}/pages/${name}`)
      isReady = body.status?.conditions?.[0]?.status === 'True'
    }
  }
  await plane.stop(1_000)
  await traces?.close()
}

interface Row {
  readonly span: CollectedSpan
  readonly depth: number
}

/** Each span below the one that it belongs to, in the order of time. */
function rowsOf(spans: readonly CollectedSpan[]): readonly Row[] {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const rowsBelow = (parent: string | undefined, depth: number): readonly Row[] =>
    spans
      .filter(({ parentSpanId: id = '' }) => (parent === undefined ? !ids.has(id) : id === parent))
      .toSorted((a, b) => a.startMs - b.startMs)
      .flatMap((span) => [{ span, depth }, ...rowsBelow(span.spanId, depth + 1)])
  return rowsBelow(undefined, 0)
}

function drawTrace(spans: readonly CollectedSpan[]): string {
  const rows = rowsOf(spans)
  const startMs = Math.min(...spans.map((span) => span.startMs))
  const lastsMs = Math.max(...spans.map(({ endMs }) => endMs)) - startMs
  const [left, width, rowHeight, top] = [480, 480, 26, 34]
  const x = (ms: number): number => left + ((ms - startMs) / lastsMs) * width
  const lines = rows.map(({ span, depth }, i) => {
    const y = top + i * rowHeight
    const wide = Math.max(2, x(span.endMs) - x(span.startMs)).toFixed(1)
    const ms = (span.endMs - span.startMs).toFixed(1)
    const fill = fills[depth % fills.length]
    return `  <text x="${12 + depth * 18}" y="${y + 16}">${labelOf(span)}</text>
  <rect x="${x(span.startMs).toFixed(1)}" y="${y + 4}" width="${wide}" height="16" rx="2" fill="${fill}"/>
  <text x="${(x(span.endMs) + 6).toFixed(1)}" y="${y + 16}" class="ms">${ms} ms</text>`
  })
  const height = top + rows.length * rowHeight + 10
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1040 ${height}" font-family="sans-serif" font-size="13">
  <style>text { fill: #222 } .ms { fill: #666; font-size: 11px }</style>
  <rect width="1040" height="${height}" fill="#fff"/>
  <text x="12" y="20" font-weight="bold">${lastsMs.toFixed(1)} ms from the request to the end of the last run</text>
${lines.join('\n')}
</svg>
`
}

function labelOf({ name, attributes }: CollectedSpan): string {
  const outside = attributes['http.route'] === undefined ? attributes['url.path'] : undefined
  const about = attributes['setpoint.name'] ?? outside
  const label = name.replace('/apis/example.dev/v1/', '…/')
  return typeof about === 'string' ? `${label} ${about}` : label
}
