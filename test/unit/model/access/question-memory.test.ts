import { expect, it } from 'vitest'
import { createAccessBook } from '../../../../shared/model/access/access-book.ts'
import { createQuestionMemory } from '../../../../shared/model/access/question-memory.ts'
import { authorizeAgain, RememberedDecision } from '../../../../shared/model/access/remembered-decisions.ts'
import type { Attributes } from '../../../../shared/model/access/rules.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'

const asked = { verb: 'get', group: 'g', resource: 'r', subresource: 's', namespace: 'n', name: 'x' } as const
const path = { verb: 'get', path: '/p' } as const

it.each<[string, Attributes, string | undefined]>([
  ['is known', asked, 'of r'],
  ['is known beside others of its namespace', { ...asked, verb: 'watch' }, 'other'],
  ['about a path is known beside others', { ...path, verb: 'post' }, 'other'],
  ['is known whatever the name', { ...asked, name: 'y' }, 'of r'],
  ['is another one by its verb', { ...asked, verb: 'list' }, undefined],
  ['is another one by its group', { ...asked, group: 'h' }, undefined],
  ['is another one by its resource', { ...asked, resource: 'q' }, undefined],
  ['is another one by its subresource', { ...asked, subresource: '' }, undefined],
  ['is another one by its namespace', { ...asked, namespace: 'm' }, undefined],
  ['about a path is known', path, 'of /p'],
  ['about a path is another one by its verb', { ...path, verb: 'head' }, undefined],
  ['about another path is another one', { ...path, path: '/q' }, undefined],
  ['about a path that is called like a namespace is another one', { verb: 'get', path: 'n' }, undefined],
])('a question %s', (_what, wanted, value) => {
  const memory = createQuestionMemory<string>()
  expect(memory.find(wanted)).toBeUndefined()
  memory.keep({ ...asked, verb: 'watch' }, 'other')
  memory.keep(asked, 'of r')
  memory.keep({ ...path, verb: 'post' }, 'other')
  memory.keep(path, 'of /p')
  expect(memory.find(wanted)).toBe(value)
})

it('two hundred questions are kept, and then it begins anew', () => {
  const memory = createQuestionMemory<number>()
  const question = (i: number): Attributes =>
    i % 2 === 0 ? { ...asked, namespace: `n${i}` } : { ...path, path: `/${i}` }
  const known = (): number =>
    Array.from({ length: 500 }, (_, i) => i).filter((i) => memory.find(question(i)) === i).length
  for (let i = 0; i < 200; i++) memory.keep(question(i), i)
  expect(known()).toBe(200)
  memory.keep(question(200), 200)
  expect(known()).toBe(1)
  for (let i = 201; i < 400; i++) memory.keep(question(i), i)
  expect(known()).toBe(200)
  memory.keep(question(400), 400)
  expect(known()).toBe(1)
})

it('what is allowed is the same answer each time, whatever the name; what is refused is looked at each time', () => {
  const book = createAccessBook()
  const rules = [
    { verbs: ['get'], apiGroups: ['g'], resources: ['r/s'] },
    { verbs: ['list'], apiGroups: ['g'], resources: ['r/s'], resourceNames: ['x'] },
    { verbs: ['get'], nonResourceURLs: ['/p'] },
  ]
  book.note({ kind: 'ClusterRole', metadata: { name: 'r' }, rules } as unknown as ApiObject)
  const roleRef = { kind: 'ClusterRole', name: 'r' }
  const subjects = [{ kind: 'User', name: 'ann' }]
  book.note({ kind: 'ClusterRoleBinding', metadata: { name: 'b' }, roleRef, subjects } as unknown as ApiObject)
  const ann = { name: 'ann', groups: [] }
  const ask = (wanted: Attributes) => authorizeAgain(ann, wanted, book)
  const first = ask(asked)
  expect(first).toBeInstanceOf(RememberedDecision)
  expect(ask({ ...asked, name: 'y' })).toBe(first)
  const ofPath = ask(path)
  expect(ask(path)).toBe(ofPath)
  expect([ask(path).allowed, ask({ ...path, verb: 'post' }).allowed]).toEqual([true, false])
  expect(ask({ ...path, verb: 'post' })).not.toBe(ask({ ...path, verb: 'post' }))
  const listing = { ...asked, verb: 'list' }
  expect([ask(listing).allowed, ask({ ...listing, name: 'y' }).allowed]).toEqual([true, false])
  expect(ask(listing)).not.toBeInstanceOf(RememberedDecision)
  expect(authorizeAgain({ ...ann, name: 'bob' }, asked, book).allowed).toBe(false)
})
