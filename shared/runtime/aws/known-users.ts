import { parseJson } from '../../model/parse-json.ts'
import type { Authenticator, User } from '../../ports/authenticator.ts'

/** So many; the one who asked for the first time longest ago goes first. */
const usersMax = 1_000

/**
 * Reads users from our own text, in which the authorizer says who asks; a token is nobody's here. Who asks again is the
 * same user, so that what was decided for them is remembered (`remembered-decisions.ts`).
 */
export function createKnownUsers(): Authenticator {
  const users = new Map<string, User>()

  return (principal = '') => {
    if (!principal.startsWith('{')) return
    const known = users.get(principal)
    if (known !== undefined) return known
    const user = parseJson(principal) as User
    users.set(principal, user)
    const [oldest = ''] = users.keys()
    if (users.size > usersMax) users.delete(oldest)
    return user
  }
}
