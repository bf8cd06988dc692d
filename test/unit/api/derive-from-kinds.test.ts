import { expect, it } from 'vitest'
import { deriveFromKinds } from '../../../shared/api/derive-from-kinds.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { namespaceKind, secretKind } from '../../../shared/resources/built-in-kinds.ts'

it.each<readonly [string, readonly (readonly ServedKind[])[], number]>([
  ['the same kinds', [[namespaceKind], [namespaceKind]], 1],
  ['no kinds, twice', [[], []], 1],
  ['one more kind', [[namespaceKind], [namespaceKind, secretKind]], 2],
  ['one kind less', [[namespaceKind, secretKind], [namespaceKind]], 2],
  [
    'another order',
    [
      [namespaceKind, secretKind],
      [secretKind, namespaceKind],
    ],
    2,
  ],
  ['as many other kinds', [[namespaceKind], [secretKind]], 2],
  ['a kind that was changed', [[namespaceKind], [{ ...namespaceKind }]], 2],
])('what is made of the kinds is made again only if they differ: %s', async (_, answers, times) => {
  const left = [...answers]
  let made = 0
  const derived = deriveFromKinds({ all: async () => left.shift() ?? [] } as never, (kinds) => {
    made++
    return kinds.map(({ kind }) => kind)
  })
  for (const kinds of answers) expect(await derived()).toEqual(kinds.map(({ kind }) => kind))
  expect(made).toBe(times)
})
