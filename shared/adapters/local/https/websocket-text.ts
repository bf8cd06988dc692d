import { createHash } from 'node:crypto'
import type { HttpResponse } from '../../../ports/http-handler.ts'

/** How a connection of HTTP/1.1 becomes a websocket (RFC 6455 section 4.2); what it then carries is the handler's. */

/** By the fields Upgrade and Connection. */
export function opensWebsocket(upgrade = '', connection = ''): boolean {
  return upgrade.toLowerCase() === 'websocket' && connection.toLowerCase().split(',').some(isUpgrade)
}

function isUpgrade(option: string): boolean {
  return option.trim() === 'upgrade'
}

type WebsocketResponse = HttpResponse & { readonly body: Exclude<HttpResponse['body'], string | Uint8Array> }

/** The response with what proves that it answers the key of a request. Throws if it is no stream, which is a bug. */
export function acceptWebsocket({ status, headers, body }: HttpResponse, key = ''): WebsocketResponse {
  if (typeof body === 'string' || body instanceof Uint8Array)
    throw new TypeError('a websocket is answered with a stream')
  const accept = createHash('sha1').update(`${key}${guid}`).digest('base64')
  return { status, headers: { ...headers, 'sec-websocket-accept': accept }, body }
}

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
