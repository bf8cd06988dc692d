import { parseJson } from '../../../model/parse-json.ts'
import { bearerToken } from '../../../model/access/bearer-token.ts'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { User } from '../../../ports/authenticator.ts'

/**
 * Who asks, on its way from the authorizer to the API: in the authorizer's context, which API Gateway hands on and no
 * client can set. A context holds texts only.
 */
export interface PrincipalContext {
  readonly principal: string
  readonly groups: string
}

/** A ServiceAccount, whose token the API looks at itself: it ends with objects that the API alone can read. */
export interface AccountContext {
  readonly account: string
}

export function contextOf({ name, groups }: User): PrincipalContext {
  return { principal: name, groups: JSON.stringify(groups) }
}

/**
 * The ARN in a name `issuer#subject` if the issuer is STS itself, which makes tokens for the principals of one account:
 * `https://<id>.tokens.sts.global.api.aws`. Source: IAM User Guide, "Understanding token claims".
 */
export function iamSubjectOf(name: string): string | undefined {
  return /^https:\/\/[\w-]+\.tokens\.sts\.(?:[\w-]+\.)*api\.aws#(arn:.+)$/.exec(name)?.[1]
}

/**
 * What the API takes for the Authorization header: who asks, as JSON, or the token of a ServiceAccount behind `Bearer`.
 * A header of the client is never taken for JSON. Nobody asks if no authorizer stands before the function.
 */
export function credentialsOf(event: Pick<APIGatewayProxyEvent, 'requestContext' | 'headers'>): string {
  const context = (event.requestContext.authorizer ?? {}) as Partial<PrincipalContext & AccountContext>
  const { principal: name, groups, account } = context
  if (account !== undefined) return `Bearer ${bearerToken(authorizationOf(event))}`
  return name === undefined || groups === undefined ? '' : JSON.stringify({ name, groups: parseJson(groups) })
}

function authorizationOf({ headers }: Pick<APIGatewayProxyEvent, 'headers'>): string | undefined {
  return Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'authorization')?.[1]
}
