/** Owners who wrote an object in another version: their fields are fields of that version. */
import { describe, expect, it } from 'vitest'
import type { OwnerViews } from '../../../../shared/model/apply/owner-views.ts'
import { mergeTypeOf } from '../../../../shared/model/apply/typed/merge-type.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { applied, entriesOf, later, ownership, start, tryApply, update, widget, withMetadata } from './widget.ts'

const specOf = (properties: StructuralSchema['properties']): StructuralSchema => ({
  type: 'object',
  properties: { spec: { type: 'object', ...(properties && { properties }) } },
})
const colour: StructuralSchema = { type: 'string' }
const schema = specOf({ amount: { type: 'integer' }, colour, note: colour })
const former = mergeTypeOf(specOf({ size: { type: 'integer' }, colour }))

/** What is an amount in v2 is a size in v1, where nobody knows of notes. */
function toV1({ spec, ...rest }: JsonObject): JsonObject {
  const { amount, note: _, ...others } = spec as JsonObject
  return { ...rest, apiVersion: 'example.com/v1', spec: { ...others, ...(amount !== undefined && { size: amount }) } }
}

const views: OwnerViews = (apiVersion) =>
  apiVersion === 'example.com/v1' ? { type: former, convert: toV1 } : undefined
/** Of a version that nothing can be shown in. */
const blind: OwnerViews = (apiVersion) =>
  apiVersion === 'example.com/v1' ? { type: former, convert: () => {} } : undefined

const v2 = { schema, apiVersion: 'example.com/v2', at: later, views }
const widget2 = (spec: JsonObject): JsonObject => ({ ...widget(spec), apiVersion: 'example.com/v2' })

/** Who owns what of the spec in v1, of what is stored in v2. */
function owned(spec: JsonObject, ...fields: readonly string[]): JsonObject {
  const fieldsV1 = { 'f:spec': Object.fromEntries(fields.map((field) => [`f:${field}`, {}])) }
  const entry = { manager: 'alice', operation: 'Apply', apiVersion: 'example.com/v1', time: start }
  return withMetadata(widget2(spec), { managedFields: [{ ...entry, fieldsType: 'FieldsV1', fieldsV1 }] })
}

const size = { 'f:spec': { 'f:size': {} } }

describe('who owns a field in another version', () => {
  const live = owned({ amount: 3 }, 'size')

  it('is in the way of who changes it, by the name that it has there', () => {
    expect(tryApply(live, widget2({ amount: 4 }), { ...v2, manager: 'carol' })).toHaveProperty(
      'message',
      'Apply failed with 1 conflict: conflict with "alice": .spec.size',
    )
  })

  it('shares it with who says the same', () => {
    const shared = applied(live, widget2({ amount: 3 }), { ...v2, manager: 'carol' })
    expect(ownership(shared)).toEqual({ alice: size, carol: { 'f:spec': { 'f:amount': {} } } })
  })

  it('loses it by force, and by a write', () => {
    const forced = applied(live, widget2({ amount: 4 }), { ...v2, manager: 'carol', force: true })
    expect(ownership(forced)).toEqual({ carol: { 'f:spec': { 'f:amount': {} } } })
    expect(ownership(update(live, { ...live, spec: { amount: 4 } }, v2).object)).toEqual({
      bob: { 'f:spec': { 'f:amount': {} } },
    })
  })

  it('keeps it beside what others write, and beside what its version does not show', () => {
    const written = update(live, { ...live, spec: { amount: 3, colour: 'red', note: 'x' } }, v2).object
    expect(ownership(written)).toEqual({ alice: size, bob: { 'f:spec': { 'f:colour': {}, 'f:note': {} } } })
  })

  it('keeps all where nothing can be shown in its version', () => {
    const written = update(live, { ...live, spec: { amount: 4 } }, { ...v2, views: blind }).object
    expect(ownership(written)['alice']).toEqual(size)
  })

  it.each([3, 4])('keeps all where an amount of %d cannot be shown in its version', (unshown) => {
    const half: OwnerViews = (apiVersion) => {
      const view = views(apiVersion)
      const isShown = ({ spec }: JsonObject): boolean => (spec as JsonObject)['amount'] !== unshown
      return view && { ...view, convert: (object) => (isShown(object) ? view.convert(object) : undefined) }
    }
    const written = update(live, { ...live, spec: { amount: 4 } }, { ...v2, views: half }).object
    expect(ownership(written)).toEqual({ alice: size, bob: { 'f:spec': { 'f:amount': {} } } })
  })

  it('is compared once, however many there are', () => {
    let count = 0
    const counted: OwnerViews = (apiVersion) => {
      const view = views(apiVersion)
      const convert = (object: JsonObject) => {
        count++
        return view?.convert(object)
      }
      return view && { ...view, convert }
    }
    const [entry] = entriesOf(live)
    const several = ['a', 'b', 'c'].map((manager) => ({ ...entry, manager }))
    const both = withMetadata(live, { managedFields: several })
    const written = update(both, { ...both, spec: { amount: 4 } }, { ...v2, views: counted }).object
    expect([Object.keys(ownership(written)), count]).toEqual([['bob'], 2])
  })

  it('owns all of what is atomic there by now', () => {
    const list: StructuralSchema = { type: 'array', items: colour }
    const type = mergeTypeOf(specOf({ size: list }))
    const tags = owned({ amount: ['a', 'b'] }, 'size')
    const fieldsV1 = { 'f:spec': { 'f:size': { 'v:"a"': {} } } }
    const [entry] = entriesOf(tags)
    const set = withMetadata(tags, { managedFields: [{ ...entry, fieldsV1 }] as never })
    const set2 = specOf({ amount: { ...list, 'x-kubernetes-list-type': 'set' } })
    const written = tryApply(set, widget2({ amount: ['c'] }), {
      ...v2,
      schema: set2,
      manager: 'carol',
      views: (apiVersion) => views(apiVersion) && { type, convert: toV1 },
    })
    expect(written).toHaveProperty('message', expect.stringContaining('conflict with "alice": .spec.size'))
  })
})

describe('what a manager no longer applies', () => {
  const both = applied(owned({ amount: 3 }, 'size'), widget2({ amount: 3, colour: 'red', note: 'x' }), {
    ...v2,
    manager: 'carol',
  })
  const apply2 = (spec: JsonObject, more: object = {}): unknown =>
    applied(both, widget2(spec), { ...v2, manager: 'carol', ...more })['spec']

  it('goes', () => {
    expect(apply2({ amount: 3, note: 'x' })).toEqual({ amount: 3, note: 'x' })
  })

  it('stays if somebody owns it in another version, with what goes with it', () => {
    expect(apply2({ colour: 'red', note: 'x' })).toEqual({ amount: 3, colour: 'red', note: 'x' })
    expect(apply2({ note: 'x' })).toEqual({ amount: 3, colour: 'red', note: 'x' })
  })

  it('stays if somebody else owns it in the same version', () => {
    const three = applied(both, widget2({ colour: 'red' }), { ...v2, manager: 'dave' })
    const left = applied(three, widget2({ amount: 3 }), { ...v2, manager: 'carol' })
    expect(left['spec']).toEqual({ amount: 3, colour: 'red' })
  })

  it('goes once nobody owns it there', () => {
    const alone = withMetadata(both, {
      managedFields: entriesOf(both).filter(({ manager }) => manager === 'carol'),
    })
    const left = applied(alone, widget2({ note: 'x' }), { ...v2, manager: 'carol' })
    expect(left['spec']).toEqual({ note: 'x' })
  })

  it('stays if nobody can tell', () => {
    expect(apply2({ amount: 3, note: 'x' }, { views: blind })).toEqual({ amount: 3, colour: 'red', note: 'x' })
  })

  it('stays when only the version is another', () => {
    const live = owned({ amount: 3, colour: 'red' }, 'size', 'colour')
    const object = applied(live, widget2({ amount: 3 }), v2)
    expect(object['spec']).toEqual({ amount: 3, colour: 'red' })
    expect(ownership(object)).toEqual({ alice: { 'f:spec': { 'f:amount': {} } } })
    const again = applied(applied(object, widget2({ amount: 3, note: 'x' }), v2), widget2({ amount: 3 }), v2)
    expect(again['spec']).toEqual({ amount: 3, colour: 'red' })
  })
})
