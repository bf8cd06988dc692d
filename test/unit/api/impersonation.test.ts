import { describe, expect, it } from 'vitest'
import { actingUser } from '../../../shared/api/access/impersonation.ts'
import { createAccessBook, type AccessBook } from '../../../shared/model/access/access-book.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { HttpRequest } from '../../../shared/ports/http-handler.ts'
import { endOf } from './end-of.ts'

const everything = { name: 'admin', groups: ['system:masters'] }
const book = async () => ({ roles: new Map(), bindings: [] }) as unknown as AccessBook

function request(fields: Readonly<Record<string, string | readonly string[]>>): HttpRequest {
  const all = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => [`impersonate-${name}`, value]),
  )
  return { fieldsUnder: () => all } as unknown as HttpRequest
}

const authenticated = 'system:authenticated'

describe('in the name of', () => {
  it.each([
    ['a user', { user: 'jane' }, { name: 'jane', groups: [authenticated] }],
    ['a user of groups', { user: 'jane', group: ['a', 'b'] }, { name: 'jane', groups: ['a', 'b', authenticated] }],
    ['a user of all', { user: 'jane', group: [authenticated] }, { name: 'jane', groups: [authenticated] }],
    ['nobody', { user: 'system:anonymous' }, { name: 'system:anonymous', groups: ['system:unauthenticated'] }],
    [
      'nobody in a group',
      { user: 'system:anonymous', group: 'g' },
      { name: 'system:anonymous', groups: ['g', 'system:unauthenticated'] },
    ],
    [
      'nobody in the group of nobodies',
      { user: 'system:anonymous', group: 'system:unauthenticated' },
      { name: 'system:anonymous', groups: ['system:unauthenticated'] },
    ],
    [
      'somebody unknown',
      { user: 'jane', group: 'system:unauthenticated' },
      { name: 'jane', groups: ['system:unauthenticated'] },
    ],
    [
      'an account',
      { user: 'system:serviceaccount:n:a' },
      {
        name: 'system:serviceaccount:n:a',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:n', authenticated],
      },
    ],
    [
      'an account in a group',
      { user: 'system:serviceaccount:n:a', group: 'g' },
      { name: 'system:serviceaccount:n:a', groups: ['g', authenticated] },
    ],
    ['a uid', { user: 'jane', uid: 'u' }, { name: 'jane', uid: 'u', groups: [authenticated] }],
    ['no uid', { user: 'jane', uid: '' }, { name: 'jane', groups: [authenticated] }],
    [
      'more',
      { user: 'jane', 'extra-a%2fb': ['1', '2'], 'extra-%': '3' },
      { name: 'jane', groups: [authenticated], extra: { 'a/b': ['1', '2'], '%': ['3'] } },
    ],
    [
      'a user in UTF-8, as its bytes are read',
      { user: 'J\u00c3\u00bcrgen', group: '\u00e6\u0097\u00a5', 'extra-a': '\u00c3\u00bc' },
      { name: 'Jürgen', groups: ['日', authenticated], extra: { a: ['ü'] } },
    ],
    [
      'a user in another encoding, or decoded already',
      { user: 'J\u00fcrgen', group: '日\u00c3\u00bc' },
      { name: 'Jürgen', groups: ['日\u00c3\u00bc', authenticated] },
    ],
  ])('%s', async (_whom, fields, user) => {
    expect(await actingUser(request(fields), everything, book)).toEqual(user)
  })

  it('oneself, without a word', async () => {
    expect(await actingUser(request({}), everything, book)).toBe(everything)
  })

  it.each([
    ['two users', { user: ['a', 'b'] }],
    ['two uids', { user: 'a', uid: ['1', '2'] }],
    ['a group alone', { group: 'g' }],
    ['a header that is not known', { user: 'a', groups: 'g' }],
    ['more without a name', { user: 'a', 'extra-': 'g' }],
  ])('%s is refused', async (_whom, fields) => {
    await expect(actingUser(request(fields), everything, book)).rejects.toThrow(
      /one user|without impersonating|is not known/,
    )
  })
})

describe('who names somebody', () => {
  const authentication = 'authentication.k8s.io'
  const account = 'system:serviceaccount:n:a'
  /** What may be impersonated, as `group/resource name`. */
  function bookOf(rights: readonly string[]): AccessBook {
    const rules = rights.map((right): JsonObject => {
      const [, group = '', resource = '', name = ''] = /^([^/]*)\/(\S+) (.*)$/.exec(right) ?? []
      return { verbs: ['impersonate'], apiGroups: [group], resources: [resource], resourceNames: [name] }
    })
    const found = createAccessBook()
    const roleRef = { kind: 'ClusterRole', name: 'r' }
    const subjects = [{ kind: 'User', name: 'ann' }]
    for (const object of [
      { kind: 'ClusterRole', metadata: { name: 'r' }, rules },
      { kind: 'ClusterRoleBinding', metadata: { name: 'r' }, roleRef, subjects },
    ])
      found.note(object as unknown as ApiObject)
    return found
  }
  const asked = (fields: Readonly<Record<string, string>>, rights: readonly string[]): unknown =>
    endOf(() => actingUser(request(fields), { name: 'ann', groups: [] }, () => bookOf(rights)))

  const rows: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
    [{ user: 'jane' }, ['/users jane']],
    [{ user: 'jane', group: 'g' }, ['/users jane', '/groups g']],
    [{ user: 'jane', uid: 'u' }, ['/users jane', `${authentication}/uids u`]],
    [{ user: 'jane', uid: '' }, ['/users jane']],
    [{ user: 'jane', 'extra-a': '1' }, ['/users jane', `${authentication}/userextras/a 1`]],
    [{ user: account }, ['/serviceaccounts a']],
    [{ user: 'system:serviceaccount:n' }, ['/users system:serviceaccount:n']],
    [{ user: 'system:serviceaccount::a' }, ['/users system:serviceaccount::a']],
  ]
  it.each(rows)('as %j may impersonate %j', async (fields, rights) => {
    expect(await asked(fields, rights)).toMatchObject({ name: fields['user'] })
    for (const right of rights) {
      const others = rights.filter((one) => one !== right)
      expect(await asked(fields, others)).toMatch(/^FORBIDDEN: .* User "ann" cannot impersonate resource /)
    }
  })

  it('is told in which namespace the account is', async () => {
    expect(await asked({ user: account }, ['/users x'])).toBe(
      'FORBIDDEN: serviceaccounts "a" is forbidden: User "ann" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "n"',
    )
  })
})
