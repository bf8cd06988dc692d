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

it('what takes time is made once for all who ask meanwhile, from what was made last', async () => {
  let kinds = [namespaceKind]
  const befores: unknown[] = []
  const derived = deriveFromKinds<number>({ all: async () => kinds } as never, async (_, before) => {
    befores.push(before)
    await Promise.resolve()
    return befores.length
  })
  expect(await Promise.all([derived(), derived(), derived()])).toEqual([1, 1, 1])
  kinds = [secretKind]
  expect(await derived()).toBe(2)
  expect(befores).toEqual([undefined, 1])
})

it('what could not be made is made again', async () => {
  let asked = 0
  const derived = deriveFromKinds({ all: async () => [] } as never, async () => {
    asked++
    if (asked === 1) throw new Error('once')
    return asked
  })
  await expect(derived()).rejects.toThrow('once')
  expect(await derived()).toBe(2)
})

it('what could not be made of earlier kinds leaves what was made of later ones', async () => {
  let kinds = [namespaceKind]
  const made: string[] = []
  const first = Promise.withResolvers<string>()
  const derived = deriveFromKinds<string>({ all: async () => kinds } as never, ([one]) => {
    made.push(one?.kind ?? '')
    return one === namespaceKind ? first.promise : 'later'
  })
  const early = derived()
  await Promise.resolve()
  kinds = [secretKind]
  expect(await derived()).toBe('later')
  first.reject(new Error('gone'))
  await expect(early).rejects.toThrow('gone')
  expect([await derived(), made]).toEqual(['later', ['Namespace', 'Secret']])
})
