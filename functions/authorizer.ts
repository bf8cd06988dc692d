import middy, { type MiddyfiedHandler } from '@middy/core'
import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import { createAuthorizer, tokenRefusalOf } from '../shared/runtime/aws/authorizer.ts'
import { createSeeing, lambdaBoundary } from '../shared/runtime/aws/boundary.ts'
import { recordInvocation } from './middleware/record-invocation.ts'

/** Says whose a token is, and whether they may call the API. */
export function authorizerFunction(
  boundary = lambdaBoundary,
  ask = fetch,
): MiddyfiedHandler<APIGatewayTokenAuthorizerEvent, APIGatewayAuthorizerResult> {
  const authorize = createAuthorizer(boundary, ask)
  return middy<APIGatewayTokenAuthorizerEvent, APIGatewayAuthorizerResult>()
    .use(recordInvocation(createSeeing(boundary), tokenRefusalOf))
    .handler((event) => authorize(event))
}

export const handler = authorizerFunction()
