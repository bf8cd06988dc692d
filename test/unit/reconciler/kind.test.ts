import { expect, it } from 'vitest'
import type { ApiObject } from '../../../shared/index.ts'
import { kindsBroughtBy, kindsNamedBy, type Controller } from '../../../shared/reconciler/controller.ts'
import { isOf, isOfKind } from '../../../shared/reconciler/kind.ts'

const page = { group: 'test.dev', kind: 'Page' }

it.each([
  ['test.dev/v1', 'Page', true],
  ['test.dev/v2', 'Page', true],
  ['test.dev/v1', 'Book', false],
  ['other.dev/v1', 'Page', false],
  ['v1', 'Page', false],
])('%s %s is a Page of test.dev: %j', (apiVersion, kind, is) => {
  expect(isOf({ apiVersion, kind } as ApiObject, page)).toBe(is)
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
  expect(isOfKind(page)({ group: group ?? '', kind })).toBe(is)
})

it('a controller names its own kind, what it owns, and what it watches', () => {
  const named = (kind: string) => ({ kind: { ...page, kind } })
  const controller = { ...named('A'), owns: [named('B')], references: [named('C')], maps: [named('D')] }
  const kinds = kindsNamedBy([controller as unknown as Controller])
  expect(kinds.map(({ kind }) => kind)).toEqual(['A', 'B', 'C', 'D'])
})

it('controllers bring their own kinds, and what they name with a definition, each once, the own ones first', () => {
  const named = (kind: string, definition?: object) => ({ kind: { ...page, kind, ...(definition && { definition }) } })
  const own = named('A')
  const controllers = [
    { ...own, owns: [named('B', {})], references: [named('C'), named('A', {})], maps: [] },
    { ...named('D'), owns: [named('B', {})], references: [], maps: [named('E', {})] },
  ]
  const kinds = kindsBroughtBy(controllers as unknown as Controller[])
  expect(kinds.map(({ kind }) => kind)).toEqual(['A', 'D', 'B', 'E'])
  expect(kinds[0]).toBe(own.kind)
})
