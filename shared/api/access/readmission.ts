import type { Attributes } from '../../model/access/rules.ts'
import { hasCode } from '../../model/errors.ts'
import type { Authenticator } from '../../ports/authenticator.ts'
import type { HttpRequest } from '../../ports/http-handler.ts'
import { decideAgain, type ReadAccess } from './guard.ts'
import { actingUser } from './impersonation.ts'

interface Admitting {
  /** Who sends the request, by what it sends. */
  readonly sender: (request: HttpRequest) => ReturnType<Authenticator>
  readonly readAccess: ReadAccess
}

/**
 * Whether a request that goes on, as a watch does, would be let in now: tokens end, and roles are taken away. Who
 * cannot be asked has said nothing against it.
 */
export async function isStillAllowed(
  request: HttpRequest,
  wanted: Attributes,
  { sender, readAccess }: Admitting,
): Promise<boolean> {
  try {
    const from = await sender(request)
    if (from === undefined) return false
    const user = await actingUser(request, from, readAccess)
    return (await decideAgain(user, wanted, readAccess)).allowed
  } catch (error) {
    return !hasCode(error, 'FORBIDDEN')
  }
}
