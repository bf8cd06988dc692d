import { expect, it } from 'vitest'
import { createAccessBook } from '../../../../shared/model/access/access-book.ts'
import { authorizeAgain } from '../../../../shared/model/access/remembered-decisions.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'

const object = (kind: string, rest: JsonObject): ApiObject =>
  ({ kind, metadata: { name: 'r' }, ...rest }) as unknown as ApiObject
const role = (resourceNames: readonly string[] = []): ApiObject =>
  object('ClusterRole', {
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: [...resourceNames] }],
  })
const binding = object('ClusterRoleBinding', {
  roleRef: { kind: 'ClusterRole', name: 'r' },
  subjects: [{ kind: 'User', name: 'ann' }],
})
const wanted = (name: string) =>
  ({ verb: 'get', group: '', resource: 'configmaps', subresource: '', namespace: 'a', name }) as const

it('what was allowed is forgotten with a change of any role or binding', () => {
  const book = createAccessBook()
  const ann = { name: 'ann', groups: [] }
  expect(authorizeAgain(ann, wanted('x'), book).allowed).toBe(false)
  book.note(role())
  book.note(binding)
  for (let i = 0; i < 2; i++)
    expect(authorizeAgain(ann, wanted('x'), book)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "r" of ClusterRole "r" to User "ann"',
    })
  book.note(role(['y']))
  expect(authorizeAgain(ann, wanted('x'), book).allowed).toBe(false)
  expect(authorizeAgain(ann, wanted('y'), book).allowed).toBe(true)
  expect(authorizeAgain(ann, wanted('x'), book).allowed).toBe(false)
  book.forget(binding)
  expect(authorizeAgain(ann, wanted('y'), book).allowed).toBe(false)
})

it('a book that is read anew is asked', () => {
  const ann = { name: 'ann', groups: [] }
  const book = createAccessBook()
  book.note(role())
  book.note(binding)
  expect(authorizeAgain(ann, wanted('x'), book).allowed).toBe(true)
  expect(authorizeAgain(ann, wanted('x'), createAccessBook()).allowed).toBe(false)
})

it('who may read every path may not read a resource whose question looks like one', () => {
  const ann = { name: 'ann', groups: [] }
  const book = createAccessBook()
  book.note(object('ClusterRole', { rules: [{ verbs: ['get'], nonResourceURLs: ['*'] }] }))
  book.note(binding)
  expect(authorizeAgain(ann, { verb: 'get', path: '/configmaps/ a' }, book).allowed).toBe(true)
  expect(authorizeAgain(ann, wanted('x'), book).allowed).toBe(false)
})
