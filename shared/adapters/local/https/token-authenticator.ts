import { timingSafeEqual } from 'node:crypto'
import { authenticatedGroup, superuserGroup } from '../../../model/access/authorize.ts'
import { bearerToken } from '../../../model/access/bearer-token.ts'
import type { Authenticator, User } from '../../../ports/authenticator.ts'

/** Knows one user, by one bearer token. */
export function createTokenAuthenticator(token: string, user: User): Authenticator {
  const expected = Buffer.from(token)
  return (authorization) => {
    const given = Buffer.from(bearerToken(authorization))
    // Only the length tells by its time, and it is no secret.
    return given.length === expected.length && timingSafeEqual(given, expected) ? user : undefined
  }
}

/** Who holds the token of a control plane on one machine: its administrator. */
export const localAdministrator: User = { name: 'setpoint-admin', groups: [superuserGroup, authenticatedGroup] }
