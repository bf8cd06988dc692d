import { bytesFromBase64 } from '../../model/base64.ts'
import { OperatingError } from '../../model/errors.ts'
import type { HttpRequest } from '../../ports/http-handler.ts'
import { isFromForeignPage } from '../access/page-origin.ts'

/** What a request to open a websocket says beside what every request says (RFC 6455 section 4.2). */

/** Whether a client asks for a websocket, in the right words or not. */
export function asksForWebsocket(request: HttpRequest): boolean {
  return request.header('upgrade')?.toLowerCase() === 'websocket'
}

/**
 * The subprotocol to agree on; `undefined` if the client offers none. Throws BAD_REQUEST for what is no handshake, and
 * FORBIDDEN for a page of another site.
 */
export function checkHandshake(request: HttpRequest): string | undefined {
  const version = request.header('sec-websocket-version')
  if (version !== '13')
    throw new OperatingError('BAD_REQUEST', `Sec-WebSocket-Version is ${shown(version)}: the server speaks 13`, {
      details: { answer: { status: 426, reason: 'UpgradeRequired' } },
    })
  const key = request.header('sec-websocket-key')
  if (key === undefined || !sixteenBytes.test(key))
    throw new OperatingError('BAD_REQUEST', `Sec-WebSocket-Key is ${shown(key)}: it must be 16 bytes in base64`)
  const { token, others } = subprotocols(request)
  if (token === undefined && request.header('authorization') === undefined) requireOwnOrigin(request)
  return others[0]
}

const sixteenBytes = /^[A-Za-z0-9+/]{21}[AQgw]==$/

function shown(value: string | undefined): string {
  return value === undefined ? 'missing' : JSON.stringify(value.slice(0, 64))
}

/**
 * A browser opens websockets for the pages of every site, with the certificate of its user: a page that does not know a
 * token must not read by it.
 */
function requireOwnOrigin(request: HttpRequest): void {
  if (!isFromForeignPage(request)) return
  throw new OperatingError('FORBIDDEN', 'forbidden: a page of another origin needs a token to open a websocket')
}

/** The Authorization header that a browser cannot send, from where its pages may put the token. Throws UNAUTHORIZED. */
export function websocketAuthorization(request: HttpRequest): string | undefined {
  if (request.websocket === undefined) return undefined
  const { token, others } = subprotocols(request)
  if (token === undefined) return undefined
  if (others.length === 0)
    throw new OperatingError('UNAUTHORIZED', 'Unauthorized: offer a subprotocol beside the one with the token')
  return `Bearer ${tokenText(token)}`
}

/** As the apiserver's `ProtocolAuthenticator` reads it. */
const tokenPrefix = 'base64url.bearer.authorization.k8s.io.'

interface Subprotocols {
  /** In base64url, without padding. */
  readonly token: string | undefined
  readonly others: readonly string[]
}

function subprotocols(request: HttpRequest): Subprotocols {
  const offered = (request.header('sec-websocket-protocol') ?? '').split(',').map((one) => one.trim())
  const tokens = offered.filter((one) => one.startsWith(tokenPrefix))
  if (tokens.length > 1) throw new OperatingError('UNAUTHORIZED', 'Unauthorized: several subprotocols hold a token')
  return {
    token: tokens[0]?.slice(tokenPrefix.length),
    others: offered.filter((one) => one !== '' && !one.startsWith(tokenPrefix)),
  }
}

function tokenText(encoded: string): string {
  try {
    if (!/^[\w-]+$/.test(encoded)) throw new TypeError('not in base64url')
    const bytes = bytesFromBase64(encoded.replaceAll('-', '+').replaceAll('_', '/'))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new OperatingError('UNAUTHORIZED', 'Unauthorized: the token is not UTF-8 in base64url', { cause })
  }
}
