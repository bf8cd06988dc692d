import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import { createJwtVerifier, type Principal } from '../../adapters/aws/sign-in/jwt-verifier.ts'
import type { KeyFetch } from '../../adapters/node/oidc-verifier.ts'
import { contextOf } from '../../adapters/aws/sign-in/principal.ts'
import { createStsVerifier, stsTokenPrefix } from '../../adapters/aws/sign-in/sts-verifier.ts'
import { authenticatedGroup, readerGroup, superuserGroup } from '../../model/access/authorize.ts'
import { bearerToken } from '../../model/access/bearer-token.ts'
import { hasCode } from '../../model/errors.ts'
import type { User } from '../../ports/authenticator.ts'
import type { AwsBoundary } from './boundary.ts'
import { administratorsOf, clusterIdOf, issuersOf, readersOf } from './environment.ts'
import { lazy } from './lazy.ts'

/**
 * Decides who may call the API: whoever proves by a token to be an administrator or a reader, a principal of the
 * account, or a subject of an issuer that lets all of its own in. What they may do there, the API decides by their
 * groups and by bindings. API Gateway keeps the answer for as long as the authorizer's time to live says, under the
 * token. Throws `Unauthorized`, which is answered with 401, for a token that proves nothing; any other error, for one
 * that cannot be verified now, is answered with 500.
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

export function createAuthorize(boundary: Pick<AwsBoundary, 'environment' | 'clock'>, fetch: KeyFetch): Authorize {
  const { environment, clock } = boundary
  const jwt = createJwtVerifier({ issuers: issuersOf(environment), fetch, clock })
  const sts = createStsVerifier({ clusterId: clusterIdOf(environment), fetch, clock })
  const administrators = new Set(administratorsOf(environment).map(withoutPath))
  const readers = new Set(readersOf(environment).map(withoutPath))

  return async ({ authorization, methodArn }) => {
    const token = bearerToken(authorization)
    const isOfSts = token.startsWith(stsTokenPrefix)
    const principal = await (isOfSts ? sts(token).then(principalIn(methodArn)) : jwt(token)).catch(asAnswer)
    const { name, groups, isAdmitted } = principal
    const standing = [
      ...(administrators.has(name) ? [superuserGroup] : []),
      ...(readers.has(name) ? [readerGroup] : []),
    ]
    const user = { name, groups: [...standing, ...groups, authenticatedGroup] }
    return answer(user, isAdmitted || standing.length > 0 ? 'Allow' : 'Deny', stageOf(methodArn))
  }
}

/** A principal of the account that the API is in comes in, listed or not. */
function principalIn(methodArn: string): (name: string) => Principal {
  return (name) => ({ name, groups: [], isAdmitted: accountOf(name) === accountOf(methodArn) })
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

function answer(user: User, Effect: 'Allow' | 'Deny', Resource: string): APIGatewayAuthorizerResult {
  return {
    principalId: user.name,
    policyDocument: { Version: '2012-10-17', Statement: [{ Action: 'execute-api:Invoke', Effect, Resource }] },
    context: { ...contextOf(user) },
  }
}
