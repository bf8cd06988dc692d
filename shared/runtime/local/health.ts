import { text } from 'node:stream/consumers'
import { OperatingError } from '../../model/errors.ts'
import { openLocalRequest } from './local-request.ts'
import { findServerAccess } from './server-access.ts'

/** What `/readyz` of the control plane of a data directory says. Throws UNAVAILABLE unless it takes writes. */
export async function askHealth(directory: string): Promise<string> {
  const access = findServerAccess(directory)
  if (access === undefined)
    throw new OperatingError('UNAVAILABLE', `${directory} has no control plane that was started`)
  const answer = await openLocalRequest(access, { method: 'GET', path: 'readyz' })
  if (answer === undefined) throw new OperatingError('UNAVAILABLE', `no control plane answers at ${access.server}`)
  const said = await text(answer)
  if (answer.statusCode !== 200) throw new OperatingError('UNAVAILABLE', said)
  return said
}
