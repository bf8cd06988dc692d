import { expect, it } from 'vitest'
import type { Json } from '../../../../shared/model/json.ts'
import { mergeTypeOf } from '../../../../shared/model/apply/typed/merge-type.ts'
import { merge } from '../../../../shared/model/apply/typed/merge.ts'
import { widgetSchema } from './widget.ts'

const type = mergeTypeOf(widgetSchema)

it('a configuration of what is not there is taken as it is', () => {
  const config: Json = { spec: { size: 3 }, metadata: { labels: { a: 'x' } } }
  expect(merge(undefined, config, type)).toBe(config)
})

it('what a configuration leaves as it is stays the same value', () => {
  const live: Json = { spec: { size: 3, colour: 'red' }, metadata: { labels: { a: 'x' } } }
  expect(merge(live, { spec: { size: 3 } }, type)).toBe(live)
  const merged = merge(live, { spec: { size: 4 } }, type)
  expect(merged).toEqual({ ...live, spec: { size: 4, colour: 'red' } })
  expect((merged as { metadata: Json }).metadata).toBe(live['metadata'])
})

it('a schema has one type, which is made once', () => {
  expect(mergeTypeOf(widgetSchema)).toBe(type)
})
