/** Trees of fields against the plain idea: a set of paths, each written as one text. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  difference,
  differenceBelow,
  intersection,
  isSubset,
  noFields,
  pathsOf,
  sameFields,
  setOfPaths,
  union,
  unionOf,
  type FieldSet,
} from '../../../../../shared/model/apply/fields/field-set.ts'
import { fieldSets, paths } from './field-arbitrary.ts'

describe('a field set', () => {
  it('holds the paths it was made of, each once', () => {
    const same = (given: string[][]) => {
      expect(plain(setOfPaths(given))).toEqual(plainOf(given))
    }
    fc.assert(fc.property(paths, same))
  })

  const operations = [
    { name: 'union', tree: union, plain: (a: Paths, b: Paths) => new Set([...a, ...b]) },
    {
      name: 'intersection',
      tree: intersection,
      plain: (a: Paths, b: Paths) => new Set([...a].filter((path) => b.has(path))),
    },
    {
      name: 'difference',
      tree: difference,
      plain: (a: Paths, b: Paths) => new Set([...a].filter((path) => !b.has(path))),
    },
    { name: 'difference with all below', tree: differenceBelow, plain: withoutBelow },
  ]

  it.each(operations)('has the $name of sets of paths', ({ tree, plain: expected }) => {
    const same = (a: FieldSet, b: FieldSet) => {
      expect(plain(tree(a, b))).toEqual(expected(plain(a), plain(b)))
    }
    fc.assert(fc.property(fieldSets, fieldSets, same))
  })

  it.each(operations)('is empty in one way only: $name', ({ tree, plain: expected }) => {
    const oneEmpty = (a: FieldSet, b: FieldSet) => {
      expect(tree(a, b) === noFields).toBe(expected(plain(a), plain(b)).size === 0)
    }
    fc.assert(fc.property(fieldSets, fieldSets, oneEmpty))
  })

  it('is a subset if all its paths are in the other', () => {
    const agrees = (a: FieldSet, b: FieldSet) => {
      expect(isSubset(a, b)).toBe([...plain(a)].every((path) => plain(b).has(path)))
      expect(isSubset(intersection(a, b), a)).toBe(true)
      expect(sameFields(union(a, b), union(b, a))).toBe(true)
    }
    fc.assert(fc.property(fieldSets, fieldSets, agrees))
  })

  it.each([
    { a: [['f:a']], b: [['f:a', 'f:b']], is: false },
    { a: [['f:a', 'f:b']], b: [['f:a']], is: false },
    { a: [['f:a']], b: [['f:a'], ['f:a', 'f:b']], is: true },
    { a: [['f:a'], ['f:a', 'f:b']], b: [['f:a', 'f:b']], is: false },
    { a: [], b: [['f:a']], is: true },
  ])('$a is part of $b: $is', ({ a, b, is }) => {
    expect(isSubset(setOfPaths(a), setOfPaths(b))).toBe(is)
  })

  it('of many sets is the same as of one after the other', () => {
    const agrees = (sets: readonly FieldSet[]) => {
      const all = sets.reduce((sum, set) => union(sum, set), noFields)
      expect(plain(unionOf(sets))).toEqual(plain(all))
      expect(unionOf(sets) === noFields).toBe(all === noFields)
      expect(unionOf([...sets, noFields]) === noFields).toBe(all === noFields)
    }
    fc.assert(fc.property(fc.array(fieldSets, { maxLength: 5 }), agrees))
  })

  it('is itself when nothing is taken from it', () => {
    const shares = (a: FieldSet, b: FieldSet) => {
      const others = difference(b, a)
      expect(difference(a, others)).toBe(a)
      expect(union(a, noFields)).toBe(a)
      expect(unionOf([noFields, a, noFields])).toBe(a)
    }
    fc.assert(fc.property(fieldSets, fieldSets, shares))
  })

  it('lists the fields of a place before those below it', () => {
    const set = setOfPaths([['f:b', 'f:x'], ['f:b'], ['f:a', 'f:y'], ['f:c']])
    expect(pathsOf(set)).toEqual([['f:b'], ['f:c'], ['f:a', 'f:y'], ['f:b', 'f:x']])
  })
})

type Paths = ReadonlySet<string>

function plain(set: FieldSet): Paths {
  return plainOf(pathsOf(set))
}

function plainOf(given: readonly (readonly string[])[]): Paths {
  return new Set(given.map((path) => JSON.stringify(path)))
}

function withoutBelow(a: Paths, b: Paths): Paths {
  const isBelow = (path: string) => [...b].some((above) => path === above || path.startsWith(`${above.slice(0, -1)},`))
  return new Set([...a].filter((path) => !isBelow(path)))
}
