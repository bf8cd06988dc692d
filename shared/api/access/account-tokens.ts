import { serviceAccountUser } from '../../model/access/access-book.ts'
import { apiAudience } from '../../model/access/account-token.ts'
import { bearerToken } from '../../model/access/bearer-token.ts'
import { serviceAccountGroups } from '../../model/access/authorize.ts'
import { absentIfNotFound } from '../../model/errors.ts'
import { proceed } from '../../model/eventual.ts'
import { isDeleting } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { Authenticator, User } from '../../ports/authenticator.ts'
import type { TokenClaims } from '../../ports/token-signer.ts'
import { serviceAccountKind } from '../../resources/access-kinds.ts'
import { secretKind } from '../../resources/built-in-kinds.ts'
import type { Place, Resources } from '../../resources/resources.ts'
import type { ApiServices } from '../call.ts'

type AccountServices = Pick<ApiServices, 'resources' | 'tokens'>

/** The same, and whoever shows a token of a ServiceAccount for this API. */
export function withAccounts(authenticate: Authenticator, services: AccountServices): Authenticator {
  if (services.tokens === undefined) return authenticate
  const findUser = async (token: string): Promise<User | undefined> =>
    (await findAccount(token, [apiAudience], services))?.user
  return (authorization, certificate) =>
    proceed(authenticate(authorization, certificate), (user) => {
      const token = user === undefined ? bearerToken(authorization) : ''
      return token === '' ? user : findUser(token)
    })
}

export interface KnownAccount {
  readonly user: User
  /** Of those that were asked for. */
  readonly audiences: readonly string[]
}

/** Whose token it is, if it is for one of the audiences and all that it is bound to is there. */
export async function findAccount(
  token: string,
  wanted: readonly string[],
  { resources, tokens }: AccountServices,
): Promise<KnownAccount | undefined> {
  const claims = await tokens?.verify(token)
  const asked = new Set(wanted)
  const audiences = claims?.audiences.filter((audience) => asked.has(audience)) ?? []
  if (claims === undefined || audiences.length === 0) return
  const { bound, subject } = claims
  const { namespace, serviceaccount, secret } = bound
  if (subject !== serviceAccountUser(namespace, serviceaccount.name)) return
  const at = (name: string): Place => ({ namespace, name })
  const accountIsThere = await isThere(resources, serviceAccountKind, {
    at: at(serviceaccount.name),
    uid: serviceaccount.uid,
  })
  if (!accountIsThere) return
  if (secret !== undefined && !(await isThere(resources, secretKind, { at: at(secret.name), uid: secret.uid }))) return
  return { user: userOf(claims), audiences }
}

/** The signer gives the same claims for the same token. So each request with this token has the same user. */
const users = new WeakMap<TokenClaims, User>()

function userOf(claims: TokenClaims): User {
  const known = users.get(claims)
  if (known !== undefined) return known
  const { subject, bound, id } = claims
  const user: User = {
    name: subject,
    groups: serviceAccountGroups(bound.namespace),
    uid: bound.serviceaccount.uid,
    ...(id === undefined ? {} : { extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${id}`] } }),
  }
  users.set(claims, user)
  return user
}

interface Bound {
  readonly at: Place
  readonly uid: string
}

/** One of the same name that was made later is another. */
async function isThere(resources: Resources, kind: ServedKind, { at, uid }: Bound): Promise<boolean> {
  const found = await absentIfNotFound(resources.get(kind, at))
  return found !== undefined && found.object.metadata.uid === uid && !isDeleting(found.object)
}
