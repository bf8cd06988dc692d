import { describe, expect, it } from 'vitest'
import { noFields, setOfPaths } from '../../../../shared/model/apply/fields/field-set.ts'
import {
  byAge,
  decodeOwners,
  encodeOwners,
  withoutManagedFields,
} from '../../../../shared/model/apply/managed-fields.ts'
import { ownerId, withFields, type FieldOwner, type Manager } from '../../../../shared/model/apply/ownership.ts'
import { mergeTypeOf } from '../../../../shared/model/apply/typed/merge-type.ts'
import { applied, start, widget, widgetSchema } from './widget.ts'

const type = mergeTypeOf(widgetSchema)
const fields = setOfPaths([['f:spec', 'f:size']])
const manager = (more: Partial<Manager> = {}): Manager => ({
  manager: 'ann',
  operation: 'Apply',
  apiVersion: 'v1',
  time: start,
  ...more,
})

describe('entries', () => {
  const order: readonly Manager[] = [
    manager({ time: '2025-01-01T00:00:00Z', manager: 'zed' }),
    manager({ apiVersion: 'v0' }),
    manager(),
    manager({ subresource: 'scale' }),
    manager({ subresource: 'status' }),
    manager({ manager: 'bob', apiVersion: 'v0' }),
    manager({ time: '2027-01-01T00:00:00Z', manager: 'aaa' }),
    manager({ operation: 'Update', time: '2024-01-01T00:00:00Z' }),
  ]

  it.each([
    ['as they are', order],
    ['turned round', order.toReversed()],
    ['mixed', order.toSorted((a, b) => (ownerId(a) < ownerId(b) ? -1 : 1))],
  ])('stand by operation, age, name, version and subresource, whatever came first: %s', (_what, given) => {
    const owners = new Map(given.map((one, i): [string, FieldOwner] => [String(i), { ...one, fields }]))
    const entries = encodeOwners(owners).map(({ fieldsType: _, fieldsV1: __, ...entry }) => entry)
    expect(entries).toEqual(order)
  })

  it('cannot be read as none where a version cannot be asked for', () => {
    const live = applied(undefined, widget({ size: 3 }))
    const views = (): never => {
      throw new Error('no such version')
    }
    expect(() => decodeOwners(live, type, views)).toThrow('no such version')
  })
})

it.each([
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', -1],
  ['2026-01-01T00:00:02Z', '2026-01-01T00:00:01Z', 1],
  ['2026-01-01T00:00:00.9Z', '2026-01-01T00:00:00.1Z', 0],
  [undefined, '1970-01-01T00:00:01Z', -1],
  [undefined, '1970-01-01T00:00:00Z', 0],
  ['soon', '1970-01-01T00:00:00Z', 0],
])('one of %s is older than one of %s by the second: %d', (a, b, sign) => {
  const of = (time: string | undefined): Manager => {
    const { time: _, ...timeless } = manager()
    return time === undefined ? timeless : { ...timeless, time }
  }
  expect(Math.sign(byAge(of(a), of(b)))).toBe(sign)
})

it('who keeps all fields stays the same, and who keeps none is gone', () => {
  const owners = new Map(['a', 'b', 'c'].map((id): [string, FieldOwner] => [id, { ...manager(), fields }]))
  const left = withFields(owners, (owned) => owned)
  expect([...left.values()].every((owner, i) => owner === [...owners.values()][i])).toBe(true)
  const fewer = setOfPaths([['f:spec', 'f:colour']])
  let count = 0
  const changed = withFields(owners, () => [noFields, fewer, noFields][count++] ?? noFields)
  expect([...changed]).toEqual([['b', { ...manager(), fields: fewer }]])
})

it('an object without managed fields is the same object', () => {
  for (const object of [{ spec: {} }, { metadata: { name: 'a' } }]) expect(withoutManagedFields(object)).toBe(object)
  expect(withoutManagedFields({ metadata: { name: 'a', managedFields: [] } })).toEqual({ metadata: { name: 'a' } })
})
