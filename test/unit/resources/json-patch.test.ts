import fc from 'fast-check'
import { applyPatch, type Operation } from 'rfc6902'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { jsonPatch, misfit, tryPatch } from '../../../shared/resources/json-patch.ts'
import { share } from '../../support/strength.ts'

const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)

describe('a JSON patch', () => {
  const fitting: readonly { target: JsonObject; patch: JsonObject[]; gives: JsonObject; because: string }[] = [
    { target: { a: 1 }, patch: [], gives: { a: 1 }, because: 'no operation changes nothing' },
    {
      target: { a: 1 },
      patch: [{ op: 'add', path: '', value: { b: 2 } }],
      gives: { b: 2 },
      because: 'the root is a place',
    },
    {
      target: { l: [1] },
      patch: [{ op: 'add', path: '/l/-', value: 2 }],
      gives: { l: [1, 2] },
      because: '- is the end',
    },
    {
      target: { l: [1] },
      patch: [{ op: 'add', path: '/l/0', value: 2 }],
      gives: { l: [2, 1] },
      because: 'items give way',
    },
    {
      target: {},
      patch: [{ op: 'add', path: '/a~1b~0c', value: 1 }],
      gives: { 'a/b~c': 1 },
      because: 'steps are escaped',
    },
    { target: {}, patch: [{ op: 'add', path: '/', value: 1 }], gives: { '': 1 }, because: 'a name may be empty' },
    {
      target: { a: 1 },
      patch: [{ op: 'replace', path: '/a', value: null }],
      gives: { a: null },
      because: 'null is a value',
    },
    {
      target: { data: { x: '1' } },
      patch: [{ op: 'add', path: '/data/constructor', value: 'c' }],
      gives: { data: { x: '1', constructor: 'c' } },
      because: 'constructor is a name like any other',
    },
    {
      target: { data: { constructor: { prototype: {} } } },
      patch: [{ op: 'add', path: '/data/constructor/prototype/x', value: 1 }],
      gives: { data: { constructor: { prototype: { x: 1 } } } },
      because: 'and what is below it stays below it',
    },
    {
      target: { a: { b: 1 } },
      patch: [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'replace', path: '/c/b', value: 2 },
      ],
      gives: { a: { b: 1 }, c: { b: 2 } },
      because: 'a copy is another',
    },
    {
      target: { l: ['a', 'b'] },
      patch: [{ op: 'move', from: '/l/0', path: '/l/1' }],
      gives: { l: ['b', 'a'] },
      because: 'the place is that of after the taking',
    },
  ]
  it.each(fitting)('$because', ({ target, patch, gives }) => {
    const [before, given] = structuredClone([target, patch])
    expect(jsonPatch(target, patch)).toEqual(gives)
    expect([target, patch]).toEqual([before, given])
  })

  it('changes neither what it is made of nor what it is applied to', () => {
    const patch = [
      { op: 'add', path: '/a', value: { b: 1 } },
      { op: 'replace', path: '/a/b', value: 2 },
    ]
    const given = structuredClone(patch)
    expect([jsonPatch({}, patch), jsonPatch({}, patch)]).toEqual([{ a: { b: 2 } }, { a: { b: 2 } }])
    expect(patch).toEqual(given)
  })

  const refused: readonly { operation: JsonObject; because: string }[] = [
    { operation: { op: 'add', path: 7, value: 1 }, because: 'a path is a text' },
    { operation: { op: 'add', path: 'a', value: 1 }, because: 'a path begins with a slash' },
    { operation: { op: 'add', path: '/a' }, because: 'a value is asked for' },
    { operation: { op: 'add', path: '', value: [1] }, because: 'what remains must be an object' },
    { operation: { op: 'remove', path: '' }, because: 'something must remain' },
    { operation: { op: 'add', path: '/none/a', value: 1 }, because: 'parents are not made' },
    { operation: { op: 'add', path: '/l/2', value: 1 }, because: 'a list has no gaps' },
    { operation: { op: 'add', path: '/l/01', value: 1 }, because: 'an index has no leading zero' },
    { operation: { op: 'add', path: '/l/length', value: 1 }, because: 'a list has no names' },
    { operation: { op: 'remove', path: '/a/toString' }, because: 'what all objects inherit is not there' },
    { operation: { op: 'copy', from: '/a/constructor', path: '/b' }, because: 'nor can it be copied' },
    { operation: { op: 'add', path: '/a/__proto__', value: {} }, because: 'it would be no field' },
    { operation: { op: 'add', path: '/a/__proto__/x', value: 1 }, because: 'nor has it any' },
    { operation: { op: 'move', from: '/a', path: '/a/b' }, because: 'nothing goes into itself' },
    { operation: { op: 'test', path: '/a/c', value: 2 }, because: 'a test that fails refuses all' },
    { operation: { op: 'merge', path: '/a', value: 2 }, because: 'there are six operations' },
    { operation: { op: 'add', path: '/a/b', value: nested(200) as JsonObject }, because: 'depth has a limit' },
    {
      operation: { op: 'add', path: `/deep${'/a'.repeat(180)}`, value: { a: { a: nested(30) } } as JsonObject },
      because: 'it counts from the root',
    },
  ]
  it.each(refused)('is refused: $because', ({ operation }) => {
    const target = { a: { c: 1 }, l: [1], deep: nested(180) } as JsonObject
    expect(() => jsonPatch(target, [operation])).toThrow(expect.objectContaining({ code: 'INVALID' }))
  })

  const moves: readonly [JsonObject, readonly JsonObject[], JsonObject | number][] = [
    [{ a: 1 }, [{ op: 'test', path: '/a', value: 1 }], { a: 1 }],
    [{ a: 1 }, [{ op: 'test', path: '/a' }], 0],
    [{ a: null }, [{ op: 'test', path: '/a', value: null }], { a: null }],
    [{ a: 1 }, [{ op: 'test', path: '/b', value: null }], { a: 1 }],
    [{ a: 1 }, [{ op: 'test', path: '/a', value: null }], 0],
    [{ l: [1] }, [{ op: 'test', path: '/l/1', value: null }], 0],
    [{ l: [1, 2] }, [{ op: 'test', path: '/l/1', value: 2 }], { l: [1, 2] }],
    [{ l: [1, 2] }, [{ op: 'remove', path: '/l/0' }], { l: [2] }],
    [{ l: [1, 2] }, [{ op: 'remove', path: '/l/2' }], 0],
    [{ l: [1, 2] }, [{ op: 'remove', path: '/l/-' }], 0],
    [{ l: [1, 2] }, [{ op: 'remove', path: '/l/01' }], 0],
    [{ l: [1, 2] }, [{ op: 'remove', path: '/l/' }], 0],
    [{ l: [{}, {}] }, [{ op: 'move', from: '/l/0', path: '/l/0/x' }], 0],
    [{ l: [1, 2] }, [{ op: 'replace', path: '/l/0', value: 3 }], { l: [3, 2] }],
    [{ l: [1, 2] }, [{ op: 'add', path: '/l/2', value: 3 }], { l: [1, 2, 3] }],
    [{ l: [] }, [{ op: 'add', path: '/l/x', value: 3 }], 0],
    [{ a: 1 }, [{ op: 'replace', path: '/b', value: 3 }], { a: 1, b: 3 }],
    [{ a: 1 }, [{ op: 'replace', path: '/b/c', value: 3 }], 0],
    [{ a: 1 }, [{ op: 'replace', path: '/a/c', value: 3 }], 0],
    [{ l: [1, 2] }, [{ op: 'replace', path: '/l/2', value: 3 }], 0],
    [{ l: [1, 2] }, [{ op: 'replace', path: '/l/-1', value: 3 }], { l: [1, 3] }],
    [{ l: [1, 2] }, [{ op: 'replace', path: '/l/-3', value: 3 }], 0],
    [{ l: [1, 2] }, [{ op: 'remove', path: '/l/-2' }], { l: [2] }],
    [{ l: [1, 2] }, [{ op: 'test', path: '/l/-1', value: 2 }], { l: [1, 2] }],
    [{ l: [1, 2] }, [{ op: 'add', path: '/l/-1', value: 3 }], { l: [1, 2, 3] }],
    [{ l: [1, 2] }, [{ op: 'add', path: '/l/-3', value: 3 }], { l: [3, 1, 2] }],
    [{ l: [1, 2] }, [{ op: 'add', path: '/l/-4', value: 3 }], 0],
    [{ l: [1, 2] }, [{ op: 'copy', from: '/l/-2', path: '/l/-' }], { l: [1, 2, 1] }],
    [{ a: 1 }, [{ op: 'replace', path: '/a' }], 0],
    [{ a: 1 }, [{ op: 'copy', path: '/b' }], 0],
    [{ a: 1 }, [{ op: 'copy', from: '/c', path: '/b' }], 0],
    [{ a: 1 }, [{ op: 'move', path: '/b' }], 0],
    [{ a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    [{ a: { b: 1 } }, [{ op: 'move', from: '/a/b', path: '/a' }], { a: 1 }],
    [{ a: { b: 1 }, ab: {} }, [{ op: 'move', from: '/a', path: '/ab/c' }], { ab: { c: { b: 1 } } }],
    [{ a: { b: { c: 1 } } }, [{ op: 'move', from: '/a/b', path: '/a/d' }], { a: { d: { c: 1 } } }],
    [{ a: 1 }, [{ op: 'move', from: 'a', path: '/b' }], 0],
    [
      { a: 1 },
      [
        { op: 'add', path: '/b', value: 2 },
        { op: 'remove', path: '/c' },
      ],
      1,
    ],
    [{ a: 'text' }, [{ op: 'add', path: '/a/0', value: 2 }], 0],
    [{ a: 'text' }, [{ op: 'remove', path: '/a/0' }], 0],
    [{ 'a/b': 1 }, [{ op: 'remove', path: '/a~1b' }], {}],
    [{ '~1': 1 }, [{ op: 'remove', path: '/~01' }], {}],
    [{ a: { '': 1 } }, [{ op: 'remove', path: '/a/' }], { a: {} }],
    [{ a: 1 }, [{ path: '/a' }], 0],
  ]
  it.each(moves)('makes of %j by %j %j', (target, patch, made) => {
    expect(tryPatch(target, patch)).toEqual(typeof made === 'number' ? { misfit: made } : { object: made })
  })

  it.each([
    [{ op: 'add', path: '/a', value: 1 }, 10],
    [{ op: 'add', path: '/l/0', value: 1 }, 12],
    [{ op: 'add', path: '/l/40', value: 1 }, 11],
    [{ op: 'add', path: '/l/80', value: 1 }, 10],
    [{ op: 'add', path: '/l/-', value: 1 }, 10],
    [{ op: 'replace', path: '/l/0', value: 1 }, 14],
    [{ op: 'remove', path: '/l/0' }, 12],
    [{ op: 'test', path: '/l/0', value: 1 }, 10],
    [{ op: 'copy', from: '/t', path: '/u' }, 16],
    [{ op: 'copy', from: '/t', path: '/l/0' }, 18],
    [{ op: 'move', from: '/l/0', path: '/l/40' }, 14],
    [{ op: 'move', from: '/t', path: '/u' }, 16],
    [{ op: 'move', from: '/t', path: '/l/0' }, 18],
    [{ op: 'copy', from: '/none', path: '/u' }, 10],
    [{ op: 'copy', path: '/u' }, 10],
    [{ op: 'nothing', path: '/l/0' }, 10],
    [{ op: 'add', path: 5, value: 1 }, 10],
    [{ op: 'add', path: '/o/0', value: 1 }, 10],
    [{ op: 'add', path: '/m/0', value: 1 }, 13],
  ])('costs what it copies and shifts: %j %d steps', (operation, steps) => {
    const spent: number[] = []
    const target = {
      t: '0123456789',
      l: Array.from({ length: 80 }, () => 0),
      m: Array.from({ length: 81 }, () => 0),
      o: {},
    }
    tryPatch(target, [operation], (given) => spent.push(given))
    expect(spent).toEqual([steps])
  })

  it('copies and moves seven hundred KiB, and not more', () => {
    const half = 'x'.repeat(350 * 1_024 - 2)
    const copy = (name: string) => ({ op: 'copy', from: '/a', path: `/${name}` })
    expect(Object.keys(jsonPatch({ a: half }, [copy('b'), copy('c')]))).toEqual(['a', 'b', 'c'])
    expect(() => jsonPatch({ a: half }, [copy('b'), copy('c'), { op: 'copy', from: '/a', path: '/d' }])).toThrow(
      'the JSON patch copies and moves more than 700 KiB',
    )
    const one = { op: 'copy', from: '/n', path: '/d' }
    expect(() => jsonPatch({ a: half, n: 1 }, [copy('b'), copy('c'), one])).toThrow('more than 700 KiB')
  })

  it.each([
    [198, true],
    [199, false],
  ])('makes nothing deeper than two hundred levels: %d below a field %j', (levels, fits) => {
    const patch = [{ op: 'add', path: '/a', value: nested(levels) as JsonObject }]
    expect('object' in tryPatch({}, patch)).toBe(fits)
  })

  it('says which operation does not fit, in a thousand letters at most', () => {
    expect(misfit(3, { op: 'add', path: '/a' }).message).toBe(
      'the JSON patch does not fit the object: operation 3, add /a',
    )
    expect(misfit(0, { op: 's3cret', path: '/a' }).message).toMatch(/: operation 0, an unknown op \/a$/)
    expect(misfit(0, { op: ['s3cret'], path: ['/s3cret'] }).message).toMatch(
      /: operation 0, an unknown op at what is no path$/,
    )
    expect(misfit(1, { op: 'test', path: 's3cret', value: 's3cret' }).message).toMatch(
      /: operation 1, test at what is no path$/,
    )
    const { message, code } = misfit(0, { op: 'add', path: `/${'a'.repeat(2_000)}` })
    expect([message.length, code]).toEqual([1_000 + 'the JSON patch does not fit the object: '.length, 'INVALID'])
  })

  it('does not double what there is again and again', () => {
    const patch = Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/c${i}` }))
    expect(() => jsonPatch({ a: { b: 1 } }, patch)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
  })

  it('does not move what is large to and fro', () => {
    const there = { op: 'move', from: '/a', path: '/b' }
    const back = { op: 'move', from: '/b', path: '/a' }
    const patch = Array.from({ length: 40 }, () => [there, back]).flat()
    expect(() => jsonPatch({ a: 'x'.repeat(100_000) }, patch)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
    expect(jsonPatch({ a: 'x' }, patch)).toEqual({ a: 'x' })
  })

  it('does not push a long list to and fro', () => {
    const list = Array.from({ length: 165_000 }, () => 1)
    const pushed = Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/list/0', value: 1 }))
    expect(() => jsonPatch({ list }, pushed)).toThrow(
      expect.objectContaining({
        code: 'TOO_LARGE',
        message: 'the JSON patch shifts more than 100000000 items of lists',
      }),
    )
    const appended = pushed.map((operation) => ({ ...operation, path: '/list/-' }))
    expect(jsonPatch({ list }, appended)['list']).toHaveLength(175_000)
  })

  it('does to objects what another implementation does, which knows less of lists', () => {
    const step = fc.constantFrom('a', 'b', 'c')
    const path = fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => `/${steps.join('/')}`)
    const value = fc.oneof(fc.nat(3), fc.constant({ a: 1 }), fc.constant({ b: { a: 2 } }))
    const op = fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test')
    const target: JsonObject = { a: { a: 1, b: { a: 2 } }, b: { b: 3 } }
    fc.assert(
      fc.property(fc.array(fc.record({ op, path, from: path, value }), { maxLength: 4 }), (patch) => {
        const other = structuredClone(target)
        const fits = othersFit(other, patch)
        const apply = (): JsonObject => jsonPatch(target, patch)
        if (fits) expect(apply()).toEqual(other)
        else expect(apply).toThrow('does not fit')
      }),
      { numRuns: share(2_000) },
    )
  })
})

/**
 * Whether the operations fit, by the other implementation, to which a `replace` is said as the `add` that Kubernetes
 * takes it for, and which throws in its own way where there is nothing to write
 * into.
 */
function othersFit(target: object, patch: readonly object[]): boolean {
  try {
    const asAdd = (patch as Operation[]).map((one) => (one.op === 'replace' ? { ...one, op: 'add' as const } : one))
    return applyPatch(target, structuredClone(asAdd)).every((error) => error === null)
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}
