import { expect, it } from 'vitest'
import { bearerToken } from '../../../../shared/model/access/bearer-token.ts'

it.each([
  ['Bearer abc', 'abc'],
  ['bearer  abc', 'abc'],
  ['BEARER abc ', 'abc'],
  ['Bearer a b', ''],
  ['Bearer', ''],
  ['Bearer ', ''],
  ['Basic abc', ''],
  ['', ''],
  [undefined, ''],
])('%j has the token %j', (authorization, token) => expect(bearerToken(authorization)).toBe(token))
