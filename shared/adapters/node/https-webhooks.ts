import { Agent, request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { OperatingError } from '../../model/errors.ts'
import type { WebhookCall, Webhooks } from '../../ports/webhooks.ts'

/** Connections stay open for the next request; the agents of so many sets of authorities. */
const agentsMax = 50
const socketsPerHost = 32

/** Connections that are checked by one set of authorities. */
interface Connections {
  readonly agent: Agent
  /** Calls under way. */
  calls: number
  /** Others have taken its place: it ends with its last call. */
  isRetired: boolean
}

/** Webhooks over the network of the process. */
export function createHttpsWebhooks(): Webhooks {
  /** What was used last stands last. */
  const kept = new Map<string, Connections>()

  const take = (authorities: string): Connections => {
    const connections = kept.get(authorities) ?? connect(authorities)
    connections.calls++
    kept.delete(authorities)
    const [oldest] = kept.size < agentsMax ? [] : kept
    if (oldest !== undefined) {
      kept.delete(oldest[0])
      oldest[1].isRetired = true
      endIfUnused(oldest[1])
    }
    kept.set(authorities, connections)
    return connections
  }

  return {
    post: async (call) => {
      const signal = AbortSignal.timeout(call.timeoutMs)
      const connections = take(call.authorities ?? '')
      const { agent } = connections
      try {
        return await send(call, { agent, signal })
      } catch (error) {
        // A connection that was kept may have ended by now, before the server has seen the request.
        if (!(error instanceof StaleConnectionError)) throw error
        return await send(call, { agent: new Agent({ ...agent.options, keepAlive: false }), signal })
      } finally {
        connections.calls--
        endIfUnused(connections)
      }
    },
  }
}

function connect(authorities: string): Connections {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: socketsPerHost,
    ...(authorities !== '' && { ca: authorities }),
  })
  return { agent, calls: 0, isRetired: false }
}

/** A connection in use is not ended: its call would fail, though its webhook did not. */
function endIfUnused({ agent, calls, isRetired }: Connections): void {
  if (isRetired && calls === 0) agent.destroy()
}

class StaleConnectionError extends Error {}

function unavailable(call: WebhookCall, why: string, cause?: unknown): OperatingError {
  const seconds = Math.ceil(call.timeoutMs / 1_000)
  return new OperatingError('UNAVAILABLE', `Post "${call.url}?timeout=${seconds}s": ${why}`, { cause })
}

async function send(
  call: WebhookCall,
  { agent, signal }: { readonly agent: Agent; readonly signal: AbortSignal },
): Promise<string> {
  const url = new URL(call.url)
  url.searchParams.set('timeout', `${Math.ceil(call.timeoutMs / 1_000)}s`)
  const body = Buffer.from(call.body)
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json',
        'content-length': body.length,
      }
      const sent = request(url, { method: 'POST', headers, agent, signal }, resolve)
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const isStale = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
        reject(isStale ? new StaleConnectionError() : error)
      })
      sent.end(body)
    })
    return await read(call, response)
  } catch (error) {
    if (error instanceof OperatingError || error instanceof StaleConnectionError) throw error
    const why = signal.aborted ? 'context deadline exceeded' : error instanceof Error ? error.message : String(error)
    throw unavailable(call, why, error)
  }
}

async function read(call: WebhookCall, response: IncomingMessage): Promise<string> {
  const { statusCode = 0 } = response
  if (statusCode < 200 || statusCode > 206) {
    response.destroy()
    throw unavailable(call, `the server answered with status ${statusCode}`)
  }
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > call.answerBytesMax) {
      response.destroy()
      throw unavailable(call, `its answer has more than ${call.answerBytesMax} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
