import type { ClientCertificate } from '../../ports/authenticator.ts'
import type { HttpRequest } from '../../ports/http-handler.ts'

/** Whether a page in a browser sends the request that is of another site than this server. */
export function isFromForeignPage(request: HttpRequest): boolean {
  const origin = request.header('origin')
  return origin !== undefined && origin.toLowerCase() !== `https://${request.header('host')?.toLowerCase()}`
}

/**
 * The certificate that speaks for the sender. A browser shows that of its user for the pages of every site, and so it
 * speaks for none of theirs: not to read by a websocket, and not to write by a POST without a type.
 */
export function certificateOfSender(request: HttpRequest): ClientCertificate | undefined {
  const { certificate } = request
  return certificate === undefined || isFromForeignPage(request) ? undefined : certificate
}
