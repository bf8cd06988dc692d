import { expect, it } from 'vitest'
import { readItem, readItemIfWhole } from '../../../../shared/adapters/aws/dynamodb/dynamodb-items.ts'
import { packTexts } from '../../../../shared/adapters/aws/dynamodb/dynamodb-packing.ts'

const place = { pk: { S: 'g/K#0' }, sk: { S: 'n#w' }, rv: { N: '1' }, uid: { S: 'u' } }
const whole = '{"apiVersion":"g/v1","kind":"K","metadata":{"name":"w","namespace":"n","uid":"u","resourceVersion":"1"}}'

it.each([
  ['no JSON', '{"kind":', ''],
  ['no text', '', ''],
  ['null', 'null', ''],
  ['a text', '"w"', ''],
  ['a list', '[]', ''],
  ['no apiVersion', '{"kind":"K","metadata":{"name":"w"}}', ''],
  ['no kind', '{"apiVersion":"g/v1","metadata":{"name":"w"}}', ''],
  ['a kind that is no text', '{"apiVersion":"g/v1","kind":1,"metadata":{"name":"w"}}', ''],
  ['no metadata', '{"apiVersion":"g/v1","kind":"K"}', ''],
  ['metadata that are null', '{"apiVersion":"g/v1","kind":"K","metadata":null}', ''],
  ['no name', '{"apiVersion":"g/v1","kind":"K","metadata":{}}', ''],
  ['an engine that is null', whole, 'null'],
  ['an engine that is a number', whole, '7'],
  ['an engine that is a list', whole, '[]'],
])('an item that holds %s is damaged', (_, doc, engine) => {
  for (const texts of [{ doc: { S: doc }, engine: { S: engine } }, packTexts({ doc: doc.padEnd(600), engine })]) {
    const item = Object.fromEntries(Object.entries({ ...place, ...texts }).filter(([, value]) => value !== undefined))
    expect(() => readItem(item as typeof place)).toThrow(expect.objectContaining({ code: 'DAMAGED' }))
    expect(readItemIfWhole(item as typeof place)).toBeUndefined()
  }
})

it('an item that is whole is read', () => {
  const item = { ...place, doc: { S: whole }, engine: { S: '{"wakeAtMs":5}' } }
  expect(readItem(item)).toEqual({ object: JSON.parse(whole) as object, engine: { wakeAtMs: 5 } })
})
