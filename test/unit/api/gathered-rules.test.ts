import { expect, it } from 'vitest'
import { isClusterRole, showGathered } from '../../../shared/api/access/gathered-rules.ts'
import { createAccessBook } from '../../../shared/model/access/access-book.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { clusterRoleKind, roleKind } from '../../../shared/resources/access-kinds.ts'

function roleOf(name: string, labels: JsonObject, more: JsonObject): ApiObject {
  return { kind: 'ClusterRole', metadata: { name, labels }, ...more } as unknown as ApiObject
}

const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [], nonResourceURLs: [] }
const part = roleOf('part', { a: '1' }, { rules: [rule] })
const whole = roleOf('whole', {}, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: '1' } }] } })

it('a ClusterRole that gathers others is shown with their rules', () => {
  const book = createAccessBook()
  const show = showGathered(book)
  expect(show(whole)).toStrictEqual({ ...whole, rules: [] })
  book.note(whole)
  book.note(part)
  expect(show(whole)).toStrictEqual({
    ...whole,
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  })
  expect(show(part)).toBe(part)
})

it('a ClusterRole is one by kind and group', () => {
  const of = (kind: string, group: string) => isClusterRole({ ...clusterRoleKind, kind, group })
  const { group } = clusterRoleKind
  expect(isClusterRole(roleKind)).toBe(false)
  expect([of('ClusterRole', group), of('ClusterRole', 'g.dev'), of('Role', group)]).toEqual([true, false, false])
})
