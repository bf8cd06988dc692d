import { describe, expect, it } from 'vitest'
import {
  columnsOf,
  readableState,
  readRow,
  rowLengthOf,
  stateColumns,
  sumUp,
} from '../../../../../shared/adapters/local/sqlite/sqlite-rows.ts'
import type { JsonObject } from '../../../../../shared/model/json.ts'
import type { StoredObject } from '../../../../../shared/model/stored-object.ts'
import { storedWidget, withMetadata, withSpec } from '../../../../support/stored-object.ts'

const plain = storedWidget('a')
const waking: StoredObject = { ...plain, engine: { wakeAtMs: 500 } }
const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'X', name: uid, uid })

describe('the columns of a state', () => {
  it('are its text, and that of the engine if that remembers anything', () => {
    expect(stateColumns(plain)).toEqual({ doc: JSON.stringify(plain.object), engine: null })
    expect(stateColumns(waking)).toEqual({ doc: JSON.stringify(plain.object), engine: '{"wakeAtMs":500}' })
    expect(rowLengthOf({ doc: '12345', engine: null })).toBe(5)
    expect(rowLengthOf({ doc: '12345', engine: '123' })).toBe(8)
  })

  it.each<[string, StoredObject, object]>([
    ['of nobody’s', plain, { nextRunAtMs: null, owners: null }],
    ['that is to run', waking, { nextRunAtMs: 500, owners: null }],
    [
      'that is owned',
      withMetadata(plain, { ownerReferences: [owner('b'), owner('a'), owner('b')] }),
      { owners: '["a","b"]' },
    ],
    ['with a list of no owners', withMetadata(plain, { ownerReferences: [] }), { owners: null }],
  ])('of an object %s say so', (_what, stored, columns) => {
    expect(columnsOf(stored, ['spec'])).toMatchObject(columns)
  })

  it('are refused if they are too large, in bytes', () => {
    const large = (letter: string, count: number) => withSpec(plain, { text: letter.repeat(count) })
    expect(() => columnsOf(large('x', 300_000), ['spec'])).not.toThrow()
    expect(() => columnsOf(large('ä', 300_000), ['spec'])).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
    const engine = { memory: { notes: { a: 'x'.repeat(300_000) } } } as unknown as StoredObject['engine']
    expect(() => columnsOf({ ...large('x', 300_000), engine }, ['spec'])).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE' }),
    )
  })
})

describe('a row that is read', () => {
  const row = stateColumns(waking)
  it('is the state that was written', () => {
    expect(readRow({ ...row, sum: sumUp(row) })).toEqual(waking)
    expect(readRow({ ...stateColumns(plain), sum: null })).toEqual(plain)
  })

  it.each([
    ['another sum', { ...row, sum: sumUp(row) + 1 }],
    ['another text', { ...row, doc: `${row.doc} `, sum: sumUp(row) }],
    ['another memory', { ...row, engine: null, sum: sumUp(row) }],
    ['no JSON', { ...row, doc: '{', sum: null }],
    ['a memory that is no JSON', { ...row, engine: '{', sum: null }],
  ])('is damaged if it has %s', (_what, damaged) => {
    expect(readRow(damaged)).toBeUndefined()
  })
})

describe('a state that was written', () => {
  const odd = { size: 1, none: undefined } as unknown as JsonObject
  const read = (stored: StoredObject, before?: StoredObject) => readableState(stored, stateColumns(stored), before)

  it('is read as it is if JSON holds it', () => {
    expect(read(waking)).toBe(waking)
  })

  it.each<[string, StoredObject]>([
    ['its spec', withSpec(plain, odd)],
    ['its metadata', withMetadata(plain, { labels: odd as never })],
    ['its memory', { ...plain, engine: { wakeAtMs: undefined } as never }],
    ['a field', { ...plain, object: { ...plain.object, data: undefined } }],
  ])('is read anew if JSON does not hold %s', (_what, stored) => {
    const made = read(stored)
    expect(made).not.toBe(stored)
    expect(made).toStrictEqual(JSON.parse(JSON.stringify(stored)))
  })

  it('is not looked at where it was read before', () => {
    const before = withSpec(plain, odd)
    const stored = { ...before, object: { ...before.object } }
    expect(read(stored, before)).toBe(stored)
    expect(read(withSpec(plain, { ...odd }), before)).toStrictEqual(withSpec(plain, { size: 1 }))
    const gone = { ...plain, object: { ...plain.object, data: undefined } }
    expect(read(gone, gone)).not.toHaveProperty('object.data')
  })
})
