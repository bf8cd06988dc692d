import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { isIP } from 'node:net'
import { checkServerIdentity, type ConnectionOptions } from 'node:tls'
import { OperatingError } from '../../model/errors.ts'
import type { ServerAccess } from './server-access.ts'

const patienceMs = 5_000
const none: undefined = undefined

/** Sends a request without a body as the administrator. Undefined if nobody listens there; rejects with UNAVAILABLE. */
export function openLocalRequest(
  { server, authority: ca, name, token }: ServerAccess,
  { method, path }: { readonly method: string; readonly path: string },
): Promise<IncomingMessage | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-length': 0 }
    // A connection that is kept may be one to a control plane that has ended.
    const options = { method, ca, headers, timeout: patienceMs, agent: false, ...calledBy(name) } as const
    const asked = request(`${server}/${path}`, options)
    asked.once('response', resolve)
    if (method === 'GET') asked.once('timeout', () => asked.destroy(new Error(`no answer in ${patienceMs / 1_000} s`)))
    asked.once('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ECONNREFUSED') resolve(none)
      else reject(new OperatingError('UNAVAILABLE', `${server} does not answer: ${cause.message}`, { cause }))
    })
    asked.end()
  })
}

/** By a name that is not the address: of another address nobody is told ahead of its certificate (RFC 6066). */
function calledBy(name: string | undefined): Pick<ConnectionOptions, 'servername' | 'checkServerIdentity'> {
  if (name === undefined) return {}
  return {
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  }
}
