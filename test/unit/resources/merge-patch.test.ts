import { describe, expect, it } from 'vitest'
import type { Json } from '../../../shared/model/json.ts'
import { mergePatch } from '../../../shared/resources/merge-patch.ts'

describe('a merge patch', () => {
  it.each<[Json | undefined, Json | undefined, Json | undefined]>([
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1 }, { a: null }, {}],
    [{ a: 1 }, { b: null }, { a: 1 }],
    [{ a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
    [{ a: 1 }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: { b: 1 } }, { a: [1] }, { a: [1] }],
    [undefined, { a: 1 }, { a: 1 }],
    ['text', { a: 1 }, { a: 1 }],
    ['text', {}, {}],
    [{ a: 1 }, 'text', 'text'],
    [{ a: 1 }, null, null],
    [undefined, undefined, undefined],
    [{}, { constructor: { name: 'x' } }, { constructor: { name: 'x' } }],
    [{}, { toString: null }, {}],
  ])('of %j by %j is %j', (target, patch, merged) => {
    const [before, sent] = structuredClone([target, patch])
    const made = mergePatch(target, patch)
    expect(made).toEqual(merged)
    expect(Object.keys(made ?? {})).toEqual(Object.keys(merged ?? {}))
    expect([target, patch]).toEqual([before, sent])
  })

  it.each<[Json, Json]>([
    [{ a: 1 }, {}],
    [{ a: { b: 1 } }, { a: { b: 1 } }],
    [{ a: { b: 1 } }, { c: null }],
    [{ a: 1 }, { toString: null }],
    [
      [1, 2],
      [1, 2],
    ],
  ])('that changes nothing of %j gives it back: %j', (target, patch) => {
    expect(mergePatch(target, patch)).toBe(target)
  })

  it('leaves the parts that it does not change the target’s own', () => {
    const target = { a: { b: 1 }, c: { d: 1 } }
    const merged = mergePatch(target, { a: { b: 2 }, c: { d: 1 } }) as typeof target
    expect(merged.c).toBe(target.c)
    expect(merged.a).not.toBe(target.a)
  })
})
