import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A span as it came by OTLP. */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly error?: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly service: string
}

/** What traces are sent to, and a far side whose requests are noted. */
export interface TraceCollector extends AsyncDisposable {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Of requests to any other path: the path and the `traceparent`. */
  readonly requests: readonly { readonly path: string; readonly traceparent: string | undefined }[]
}

/** At this port of 127.0.0.1, by default at any. Rejects if somebody else has it. */
export async function startTraceCollector(at = 0): Promise<TraceCollector> {
  const spans: CollectedSpan[] = []
  const requests: { path: string; traceparent: string | undefined }[] = []
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request
    const answer = (): void => void response.setHeader('content-type', 'application/json').end('{}')
    if (path !== '/v1/traces') {
      requests.push({ path, traceparent: headers['traceparent']?.toString() })
      return answer()
    }
    void json(request).then((body) => {
      spans.push(...readSpans(body as Export))
      return answer()
    })
  })
  server.listen(at, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string
        readonly spanId: string
        readonly parentSpanId?: string
        readonly name: string
        readonly startTimeUnixNano: string
        readonly endTimeUnixNano: string
        readonly attributes: readonly Attribute[]
        readonly status: { readonly message?: string }
      }[]
    }[]
  }[]
}

function readSpans({ resourceSpans }: Export): readonly CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ traceId, spanId, parentSpanId, name, startTimeUnixNano, endTimeUnixNano, attributes, status }) => ({
        traceId,
        spanId,
        ...(parentSpanId !== undefined && { parentSpanId }),
        name,
        startMs: Number(BigInt(startTimeUnixNano) / 1_000n) / 1_000,
        endMs: Number(BigInt(endTimeUnixNano) / 1_000n) / 1_000,
        ...(status.message !== undefined && { error: status.message }),
        attributes: valuesOf(attributes),
        service: String(valuesOf(resource.attributes)['service.name']),
      })),
  )
}

function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
