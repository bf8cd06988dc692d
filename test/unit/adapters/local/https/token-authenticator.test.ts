import { describe, expect, it } from 'vitest'
import {
  createTokenAuthenticator,
  localAdministrator,
} from '../../../../../shared/adapters/local/https/token-authenticator.ts'

const authenticate = createTokenAuthenticator('s3cret', localAdministrator)

describe('a bearer token', () => {
  const rows = [
    { header: 'Bearer s3cret', user: localAdministrator, because: 'it is the token' },
    { header: 'bearer s3cret', user: localAdministrator, because: 'the scheme has no case' },
    { header: undefined, user: undefined, because: 'there is none' },
    { header: '', user: undefined, because: 'it is empty' },
    { header: 'Bearer ', user: undefined, because: 'the token is empty' },
    { header: 'Bearer s3creT', user: undefined, because: 'one letter differs' },
    { header: 'Bearer s3cret2', user: undefined, because: 'it is longer' },
    { header: 'Bearer s3cre', user: undefined, because: 'it is shorter' },
    { header: 'Bearer s3crét', user: undefined, because: 'it is longer in bytes alone' },
    { header: 's3cret', user: undefined, because: 'it has no scheme' },
    { header: 'Basic s3cret', user: undefined, because: 'the scheme is another' },
  ]
  it.each(rows)('$header is $user.name: $because', ({ header, user }) => {
    expect(authenticate(header)).toBe(user)
  })
})
