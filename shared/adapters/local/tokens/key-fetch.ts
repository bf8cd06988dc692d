import { request } from 'node:https'
import type { KeyFetch } from '../../node/oidc-verifier.ts'

/** Keys and documents of issuers are much smaller. */
const bytesMax = 1_000_000

/**
 * A GET over HTTPS that trusts whoever signed the issuer's certificate (PEM), or those that everybody trusts. No
 * redirect is followed, and no answer is longer than a megabyte.
 */
export function createKeyFetch(authority?: string): KeyFetch {
  return (url, { signal, headers }) =>
    new Promise((resolve, reject) => {
      const sent = request(
        url,
        {
          agent: false,
          headers: Object.fromEntries(new Headers(headers)),
          ...(signal && { signal }),
          ...(authority === undefined ? {} : { ca: authority }),
        },
        (answer) => {
          const pieces: Buffer[] = []
          let length = 0
          answer.on('data', (piece: Buffer) => {
            length += piece.length
            if (length > bytesMax) answer.destroy(new Error(`${url} answers with more than ${bytesMax} bytes`))
            else pieces.push(piece)
          })
          answer.on('error', reject)
          answer.on('end', () => {
            const status = answer.statusCode ?? 500
            if (hasBody(status)) resolve(new Response(Buffer.concat(pieces), { status }))
            else reject(new Error(`${url} answers with the status ${status}, and no document`))
          })
        },
      )
      sent.on('error', reject)
      sent.end()
    })
}

/** `Response` takes no others. */
function hasBody(status: number): boolean {
  return status >= 200 && status <= 599 && ![204, 205, 304].includes(status)
}
