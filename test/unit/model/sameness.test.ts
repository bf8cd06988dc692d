import { describe, expect, it } from 'vitest'
import { createSameness } from '../../../shared/model/sameness.ts'
import type { Json } from '../../../shared/model/json.ts'

const proto = JSON.parse('{"__proto__":{}}') as Json

describe('two values are the same', () => {
  it.each<[Json | undefined, Json | undefined, boolean]>([
    [1, 1, true],
    [1, 2, false],
    [undefined, undefined, true],
    [undefined, null, false],
    [null, {}, false],
    [{}, null, false],
    [1, {}, false],
    [{}, 1, false],
    ['a', ['a'], false],
    [[], [], true],
    [[1, 2], [1, 2], true],
    [[1, 2], [1, 3], false],
    [[2, 2], [1, 2], false],
    [[1], [1, 2], false],
    [[1, 2], [1], false],
    [[], {}, false],
    [{}, [], false],
    [{}, {}, true],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: 1 }, {}, false],
    [{}, { a: 1 }, false],
    [{ a: 2, b: 1 }, { a: 1, b: 1 }, false],
    [{ a: [{ b: 1 }] }, { a: [{ b: 1 }] }, true],
    [{ a: [{ b: 1 }] }, { a: [{ b: 2 }] }, false],
    [{ a: undefined }, {}, true],
    [{}, { a: undefined }, true],
    [{ a: undefined, b: 1 }, { c: 1 }, false],
    [{}, proto, false],
    [proto, {}, false],
    [proto, structuredClone(proto), true],
  ])('%j and %j: %s', (before, after, same) => {
    expect(createSameness()(before, after)).toBe(same)
  })

  it('also where one of them was compared with another before', () => {
    const isSame = createSameness()
    const after = { a: [1] }
    const answers = [{ a: [2] }, { a: [1] }, { a: [2] }].map((before) => isSame(before, after))
    expect(answers).toEqual([false, true, false])
  })
})
