import fc from 'fast-check'
import { expect, it } from 'vitest'
import { digest } from '../../../../shared/model/digest.ts'
import { keyText } from '../../../../shared/model/object-key.ts'
import { orderKeys } from '../../../../shared/engine/wake/key-order.ts'

const keyOf = (name: string) => ({ group: 'test.dev', kind: 'Widget', namespace: 'default', name })

it('some at a time, all come once, whichever come and go between', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 60 })
  fc.assert(
    fc.property(names, names, fc.integer({ min: 1, max: 7 }), (stay, others, most) => {
      const seen: string[] = []
      let place: string | undefined
      for (let round = 0; ; round++) {
        const there = round % 2 === 0 ? stay : [...stay, ...others.filter((name) => !stay.includes(name))]
        const { keys, placeAfter } = orderKeys(there.map(keyOf), place)
        seen.push(...keys.slice(0, most).map(({ name }) => name))
        if (keys.length <= most) break
        place = placeAfter(most)
      }
      const ofStay = seen.filter((name) => stay.includes(name))
      expect(ofStay.toSorted()).toEqual(stay.toSorted())
    }),
  )
})

it('of keys with the same place none is left out: those that were woken come again', () => {
  // By chance these have the same place.
  const alike = Array.from({ length: 3 }, () => keyOf('same'))
  const all = [...alike, keyOf('other')]
  const first = orderKeys(all)
  const inMiddle = first.keys.findIndex(({ name }) => name === 'same') + 1
  const next = orderKeys(all, first.placeAfter(inMiddle))
  expect(next.keys.filter(({ name }) => name === 'same')).toHaveLength(3)
})

it('a place is a short piece of the digest of its key', () => {
  const key = keyOf('a')
  expect(orderKeys([key]).placeAfter(1)).toBe(digest(keyText(key)).slice(0, 8))
})

it('behind nothing there is no place yet', () => {
  expect(orderKeys([keyOf('a')]).placeAfter(0)).toBeUndefined()
  expect(orderKeys([keyOf('a')], '00000000').placeAfter(0)).toBe('00000000')
})
