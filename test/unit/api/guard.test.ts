import { describe, expect, it } from 'vitest'
import {
  decideAccess,
  decideAgain,
  forbiddenObject,
  requireAllowed,
  type ReadAccess,
} from '../../../shared/api/access/guard.ts'
import { createAccessBook } from '../../../shared/model/access/access-book.ts'
import type { Attributes } from '../../../shared/model/access/rules.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { endOf } from './end-of.ts'

const ann = { name: 'ann', groups: ['team'] }
const get = { verb: 'get', group: '', resource: 'pods', subresource: '', namespace: 'n', name: 'a' }

function bookOf() {
  const book = createAccessBook()
  const roleRef = { kind: 'ClusterRole', name: 'r' }
  const subjects = [{ kind: 'User', name: 'ann' }]
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]
  for (const object of [
    { kind: 'ClusterRole', metadata: { name: 'r' }, rules },
    { kind: 'ClusterRoleBinding', metadata: { name: 'b' }, roleRef, subjects },
  ])
    book.note(object as unknown as ApiObject)
  return book
}

describe('a decision', () => {
  const neverAsked: ReadAccess = () => expect.fail('nobody has to look')
  it.each([
    ['everything', 'system:masters', { verb: 'delete', path: '/x' }],
    ['everything', 'system:masters', { ...get, verb: 'delete' }],
    ['reading', 'setpoint:readers', get],
  ] as const)('of who may do %s by the group %s waits for nothing', (_what, group, wanted) => {
    expect(decideAccess({ name: 'x', groups: [group] }, wanted, neverAsked)).toEqual({ allowed: true, reason: '' })
    expect(decideAgain({ name: 'x', groups: [group] }, wanted, neverAsked)).toEqual({ allowed: true, reason: '' })
  })

  it.each([
    ['at hand', () => bookOf()],
    ['that comes', async () => bookOf()],
  ] as const)('by roles %s', async (_how, read) => {
    const because = 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "ann"'
    for (const decide of [decideAccess, decideAgain]) {
      expect(await decide(ann, get, read)).toMatchObject({ allowed: true, reason: because })
      expect(await decide(ann, { ...get, verb: 'delete' }, read)).toMatchObject({ allowed: false, reason: '' })
    }
  })

  it('is made anew each time, or remembered', () => {
    const book = bookOf()
    expect(decideAgain(ann, get, () => book)).toBe(decideAgain(ann, get, () => book))
    expect(decideAccess(ann, get, () => book)).not.toBe(decideAccess(ann, get, () => book))
  })
})

describe('a refusal', () => {
  const of = 'User "ann" cannot get resource'
  it.each<[Attributes, string, string]>([
    [{ verb: 'get', path: '/x' }, '', 'forbidden: User "ann" cannot get path "/x"'],
    [{ verb: 'get', path: '/x' }, 'why', 'forbidden: User "ann" cannot get path "/x": why'],
    [get, '', `pods "a" is forbidden: ${of} "pods" in API group "" in the namespace "n"`],
    [get, 'why', `pods "a" is forbidden: ${of} "pods" in API group "" in the namespace "n": why`],
    [
      { ...get, group: 'g.dev', namespace: '', name: '' },
      '',
      `pods.g.dev is forbidden: ${of} "pods" in API group "g.dev" at the cluster scope`,
    ],
    [
      { ...get, subresource: 'log' },
      '',
      `pods "a" is forbidden: ${of} "pods/log" in API group "" in the namespace "n"`,
    ],
  ])('of %j because of %j', (wanted, reason, message) => {
    expect(endOf(() => requireAllowed({ allowed: false, reason }, ann, wanted))).toBe(`FORBIDDEN: ${message}`)
    expect(endOf(() => requireAllowed({ allowed: true, reason }, ann, wanted))).toBeUndefined()
  })

  it.each([
    [{ group: '', resource: 'pods', name: '' }, { kind: 'pods' }],
    [
      { group: 'g.dev', resource: 'ks', name: '' },
      { kind: 'ks', group: 'g.dev' },
    ],
    [
      { group: '', resource: 'pods', name: 'a' },
      { kind: 'pods', name: 'a' },
    ],
    [
      { group: 'g.dev', resource: 'ks', name: 'a' },
      { kind: 'ks', group: 'g.dev', name: 'a' },
    ],
  ])('about %j has the details %j', (about, details) => {
    expect(forbiddenObject(about, 'why').details).toStrictEqual(details)
  })
})
