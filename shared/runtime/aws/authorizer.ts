import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import { createJwtVerifier, type Principal } from '../../adapters/aws/sign-in/jwt-verifier.ts'
import { loadOnce } from '../../model/load-once.ts'
import { claimedIssuer } from '../../adapters/node/claimed-issuer.ts'
import { fetchAgain } from '../../adapters/node/fetch-again.ts'
import type { KeyFetch } from '../../adapters/node/oidc-verifier.ts'
import {
  contextOf,
  iamSubjectOf,
  type AccountContext,
  type PrincipalContext,
} from '../../adapters/aws/sign-in/principal.ts'
import { createStsVerifier, stsTokenPrefix } from '../../adapters/aws/sign-in/sts-verifier.ts'
import { accountTokenIssuer, apiAudience } from '../../model/access/account-token.ts'
import { authenticatedGroup, readerGroup, superuserGroup } from '../../model/access/authorize.ts'
import { bearerToken } from '../../model/access/bearer-token.ts'
import { hasCode, OperatingError } from '../../model/errors.ts'
import type { TokenBoundary } from './account-tokens.ts'
import type { AwsBoundary } from './boundary.ts'
import { administratorsOf, clusterIdOf, issuersOf, readersOf, regionOf, tokenKeysOf } from './environment.ts'
import { lazy } from '../../model/lazy.ts'

/**
 * Decides who may call the API: whoever proves by a token to be an administrator or a reader, a principal of the
 * account, a ServiceAccount, or a subject of an issuer that lets all of its own in. What they may do there, the API
 * decides by their groups and by bindings. API Gateway keeps the answer for as long as the authorizer's time to live
 * says, under the token. Throws `Unauthorized`, which is answered with 401, for a token that proves nothing; any other
 * error, for one that cannot be verified now, is answered with 500.
 */
export type Authorize = (request: AuthorizeRequest) => Promise<APIGatewayAuthorizerResult>

export interface AuthorizeRequest {
  readonly authorization: string | undefined
  readonly methodArn: string
}

/** The function behind the authorizer, of type TOKEN. */
export function createAuthorizer(
  boundary: AwsBoundary,
  fetch: KeyFetch,
): (event: APIGatewayTokenAuthorizerEvent) => ReturnType<Authorize> {
  const authorize = lazy(() => createAuthorize(boundary, fetch))
  return ({ authorizationToken, methodArn }) => authorize()({ authorization: authorizationToken, methodArn })
}

export function createAuthorize(boundary: TokenBoundary, fetch: KeyFetch): Authorize {
  const findAccount = createFindAccount(boundary)
  const identify = createIdentify(boundary, fetch)

  return async ({ authorization, methodArn }) => {
    const token = bearerToken(authorization)
    const account = await findAccount(token)
    if (account !== undefined) return answer('Allow', { name: account, context: { account }, methodArn })
    const { name, groups, isAdmitted } = await identify(token, accountOf(methodArn)).catch(asAnswer)
    return answer(isAdmitted ? 'Allow' : 'Deny', { name, context: contextOf({ name, groups }), methodArn })
  }
}

/**
 * Whose token it is that an issuer or STS vouches for, with all their groups, and whether they come in; a principal of
 * this account does. Throws UNAUTHORIZED for a token that proves nothing, UNAVAILABLE if nobody answers.
 */
export type Identify = (token: string, account: string | undefined) => Promise<Principal>

export function createIdentify(
  { environment, clock }: Pick<TokenBoundary, 'environment' | 'clock'>,
  ask: KeyFetch,
): Identify {
  const fetch = fetchAgain(ask)
  const jwt = createJwtVerifier({ issuers: issuersOf(environment), fetch, clock })
  const sts = createStsVerifier({ clusterId: clusterIdOf(environment), region: regionOf(environment), fetch, clock })
  const administrators = new Set(administratorsOf(environment).map(withoutPath))
  const readers = new Set(readersOf(environment).map(withoutPath))

  return async (token, account) => {
    const principal = await (token.startsWith(stsTokenPrefix) ? sts(token).then(principalIn(account)) : jwt(token))
    const { name } = principal
    const names = namesOnLists(name)
    const standing = [
      ...(names.some((one) => administrators.has(one)) ? [superuserGroup] : []),
      ...(names.some((one) => readers.has(one)) ? [readerGroup] : []),
    ]
    const groups = [...standing, ...principal.groups, authenticatedGroup]
    return { name, groups, isAdmitted: principal.isAdmitted || standing.length > 0 }
  }
}

/**
 * Whose token it is, if a ServiceAccount's is due here. Throws `Unauthorized` for one that only says so. What reads the
 * keys is loaded for the first of them.
 */
function createFindAccount(boundary: TokenBoundary): (token: string) => Promise<string | undefined> {
  const table = tokenKeysOf(boundary.environment)
  const open = loadOnce(async () => {
    const { openTokenVerifier } = await import('./account-tokens.ts')
    return openTokenVerifier(boundary, table ?? '')
  })
  return async (token) => {
    if (table === undefined || claimedIssuer(token) !== accountTokenIssuer) return
    const verify = await open()
    const claims = await verify(token)
    if (claims?.audiences.includes(apiAudience) === true) return claims.subject
    return asAnswer(
      new OperatingError('UNAUTHORIZED', 'the token was rejected: it is none of a ServiceAccount for this API'),
    )
  }
}

/** A principal of the account that the API is in comes in, listed or not. */
function principalIn(account: string | undefined): (name: string) => Principal {
  return (name) => ({ name, groups: [], isAdmitted: account !== undefined && accountOf(name) === account })
}

function accountOf(arn: string): string | undefined {
  return arn.split(':')[4]
}

/** The only message that API Gateway answers with 401. */
function asAnswer(error: unknown): never {
  if (hasCode(error, 'UNAUTHORIZED')) throw new Error('Unauthorized', { cause: error })
  throw error
}

/** Why a token was not taken, if that is what the error of an `Authorize` says. */
export function tokenRefusalOf(error: unknown): string | undefined {
  return error instanceof Error && hasCode(error.cause, 'UNAUTHORIZED') ? error.cause.message : undefined
}

/** Whom STS has signed a token for, a list may name as its issuer's subject, or by the ARN alone. */
function namesOnLists(name: string): readonly string[] {
  const arn = iamSubjectOf(name)
  return arn === undefined ? [name] : [name, withoutPath(arn)]
}

/** The ARN of an assumed role does not tell the role's path, and within an account its name is enough. */
function withoutPath(principal: string): string {
  return principal.replace(/^(arn:[^:]+:iam::\d+:role\/)(?:[^/]+\/)+/, '$1')
}

/**
 * The whole stage of the API, since the answer is kept for other requests, too:
 * `arn:aws:execute-api:region:account:api/stage/GET/…`.
 */
function stageOf(methodArn: string): string {
  return `${methodArn.split('/').slice(0, 2).join('/')}/*`
}

interface Answered {
  readonly name: string
  readonly context: PrincipalContext | AccountContext
  readonly methodArn: string
}

function answer(Effect: 'Allow' | 'Deny', { name, context, methodArn }: Answered): APIGatewayAuthorizerResult {
  const statement = { Action: 'execute-api:Invoke', Effect, Resource: stageOf(methodArn) }
  return {
    principalId: name,
    policyDocument: { Version: '2012-10-17', Statement: [statement] },
    context: { ...context },
  }
}
