import { expect, it } from 'vitest'
import { isStillAllowed } from '../../../shared/api/access/readmission.ts'
import { createAccessBook } from '../../../shared/model/access/access-book.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { User } from '../../../shared/ports/authenticator.ts'
import { request, type Sent } from './sent-request.ts'

const administrator: User = { name: 'root', groups: ['system:masters'] }
const ann: User = { name: 'ann', groups: [] }
const nobody: User | undefined = undefined
const wanted = { verb: 'watch', group: '', resource: 'secrets', subresource: '', namespace: 'n', name: '' }
const asAnn: Sent = { headers: { 'impersonate-user': 'ann' } }
const fails = (code: 'UNAVAILABLE' | 'FORBIDDEN') => () => Promise.reject(new OperatingError(code, 'no'))

it.each<[string, () => User | undefined | Promise<User>, Sent, boolean]>([
  ['whoever may', () => administrator, {}, true],
  ['whoever may not', () => ann, {}, false],
  ['whoever is known no more', () => nobody, {}, false],
  ['who is in the name of one who may not', () => administrator, asAnn, false],
  ['who may be in the name of nobody', () => ann, asAnn, false],
  ['who cannot be asked', fails('UNAVAILABLE'), {}, true],
  ['who is refused', fails('FORBIDDEN'), {}, false],
])('%s', async (_who, sender, sent, isAllowed) => {
  const book = createAccessBook()
  const watch = request('GET /api/v1/namespaces/n/secrets?watch=1', sent)
  expect(await isStillAllowed(watch, wanted, { sender, readAccess: () => book })).toBe(isAllowed)
})
