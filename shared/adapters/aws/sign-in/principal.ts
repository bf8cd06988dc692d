import { parseJson } from '../../../model/parse-json.ts'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { User } from '../../../ports/authenticator.ts'

/**
 * Who asks, on its way from the authorizer to the API: in the authorizer's context, which API Gateway hands on and no
 * client can set. A context holds texts only.
 */
export type PrincipalContext = { readonly principal: string; readonly groups: string }

export function contextOf({ name, groups }: User): PrincipalContext {
  return { principal: name, groups: JSON.stringify(groups) }
}

/** Undefined if no authorizer stands before the function. */
export function principalOf({ requestContext }: Pick<APIGatewayProxyEvent, 'requestContext'>): User | undefined {
  const context = requestContext.authorizer as Partial<PrincipalContext> | null | undefined
  if (context?.principal === undefined || context.groups === undefined) return undefined
  return { name: context.principal, groups: parseJson(context.groups) as string[] }
}
