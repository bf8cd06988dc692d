import { createDynamodbClient } from '../../adapters/aws/dynamodb/dynamodb-client.ts'
import { createDynamodbTokenKeys, findDynamodbTokenKey } from '../../adapters/aws/sign-in/dynamodb-token-keys.ts'
import { createTokenSigner, createTokenVerifier } from '../../adapters/node/account-tokens.ts'
import type { TokenSigner } from '../../ports/token-signer.ts'
import type { AwsBoundary } from './boundary.ts'
import { signingKeysOf, tokenKeysOf } from './environment.ts'
import { lazy } from '../../model/lazy.ts'

export type TokenBoundary = Pick<AwsBoundary, 'environment' | 'clock' | 'random' | 'dynamodb'>

/** The authorizer and the API ask one after the other, in the time that a client waits. */
const patienceMs = 3_000

/**
 * Signs tokens of ServiceAccounts, in the function of the API; undefined where the stack has no tables for keys. What
 * reads them is made for the first token: most processes see none.
 */
export function openTokenSigner({ environment, dynamodb, clock, random }: TokenBoundary): TokenSigner | undefined {
  const [table, signingTable] = [tokenKeysOf(environment), signingKeysOf(environment)]
  if (table === undefined || signingTable === undefined) return undefined
  const signer = lazy(() => {
    const client = createDynamodbClient(dynamodb)
    const keys = createDynamodbTokenKeys({ client, table, signingTable, clock, random, patienceMs })
    return createTokenSigner({ keys, clock })
  })
  return {
    sign: (claims, seconds) => signer().sign(claims, seconds),
    verify: (token) => signer().verify(token),
    publicKeys: () => signer().publicKeys(),
  }
}

/** Knows them again, in the authorizer, which does not see the key that signs. */
export function openTokenVerifier({ dynamodb, clock, random }: TokenBoundary, table: string): TokenSigner['verify'] {
  const findKey = findDynamodbTokenKey({ client: createDynamodbClient(dynamodb), table, clock, random, patienceMs })
  return createTokenVerifier({ findKey, clock })
}
