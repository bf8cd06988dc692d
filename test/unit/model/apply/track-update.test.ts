import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import {
  applied,
  entriesOf,
  later,
  ownership,
  start,
  tryApply,
  update,
  widget,
  withMetadata,
  withSpec,
} from './widget.ts'

describe('a write', () => {
  it('that creates an object owns all of it, structs and lists included', () => {
    const object = widget({ size: 3, retention: { days: 1 }, tags: ['a'] }, { labels: { app: 'x' } })
    expect(entriesOf(update(undefined, object).object)).toEqual([
      {
        manager: 'bob',
        operation: 'Update',
        apiVersion: 'example.com/v1',
        time: start,
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
          'f:spec': {
            '.': {},
            'f:retention': { '.': {}, 'f:days': {} },
            'f:size': {},
            'f:tags': { '.': {}, 'v:"a"': {} },
          },
        },
      },
    ])
  })

  it('takes what it changes from everybody, and adds it to what the writer has', () => {
    const live = applied(undefined, widget({ size: 3, colour: 'red' }))
    const once = update(live, withSpec(live, { size: 4, colour: 'red' })).object
    const twice = update(once, withSpec(once, { size: 4, colour: 'blue', free: 1 }), { at: later }).object
    expect(ownership(twice)).toEqual({ bob: { 'f:spec': { 'f:colour': {}, 'f:free': {}, 'f:size': {} } } })
    expect(entriesOf(twice)).toHaveProperty('0.time', later)
  })

  it('takes what it removes from everybody, and owns nothing by that', () => {
    const live = applied(undefined, widget({ size: 3, options: { a: '1', b: '2' } }))
    const after = update(live, withSpec(live, { options: { b: '2' } }), { at: later }).object
    expect(ownership(after)).toEqual({ alice: { 'f:spec': { 'f:options': { 'f:b': {} } } } })
    expect(entriesOf(after)).toHaveProperty('0.time', start)
  })

  it('that makes a field undefined removes it', () => {
    const live = applied(undefined, widget({ size: 3, colour: 'red' }))
    const after = update(live, withSpec(live, { colour: 'red', size: undefined })).object
    expect(ownership(after)).toEqual({ alice: { 'f:spec': { 'f:colour': {} } } })
  })

  it('of the same object changes nothing', () => {
    const live = applied(undefined, widget({ size: 3, tags: ['a', 'b'] }))
    const same = update(live, structuredClone(live), { at: later })
    expect(same).toEqual({ object: live, changed: false })
    expect(same.object).toBe(live)
  })

  it('that only puts a set in another order is a change that nobody owns', () => {
    const live = applied(undefined, widget({ tags: ['a', 'b'] }))
    const after = update(live, withSpec(live, { tags: ['b', 'a'] }))
    expect(after).toEqual({ object: withSpec(live, { tags: ['b', 'a'] }), changed: true })
  })

  it('through a subresource is another manager than the same name elsewhere', () => {
    const live = update(undefined, widget({ size: 3 })).object
    const after = update(live, { ...live, status: { ready: true } }, { subresource: 'status' }).object
    expect(entriesOf(after).map(({ manager, subresource }) => [manager, subresource])).toEqual([
      ['bob', undefined],
      ['bob', 'status'],
    ])
  })

  it('does not count for fields that cannot be written here', () => {
    const live = applied(undefined, { ...widget({ size: 3 }), status: { ready: true } })
    const owners = { alice: { 'f:status': { 'f:ready': {} } }, bob: { 'f:spec': { 'f:size': {} } } }
    const spec = withSpec(live, { size: 4 })
    for (const object of [
      { ...spec, status: { ready: false } },
      { ...spec, status: {} },
    ]) {
      expect(ownership(update(live, object, { resetFields: [['status']] }).object)).toEqual(owners)
    }
  })

  it('leaves its arguments as they were', () => {
    const live = applied(undefined, widget({ size: 3 }))
    const object = withSpec(live, { size: 4 })
    const before = structuredClone([live, object])
    update(live, object)
    expect([live, object]).toEqual(before)
  })
})

describe('managedFields in a write', () => {
  const live = applied(undefined, widget({ size: 3, colour: 'red' }))
  const [entry] = entriesOf(live)
  const renamed: Json = [{ ...entry, manager: 'carol' }]

  it('are taken over: that is how kubectl renames a manager', () => {
    const after = update(live, withMetadata(live, { managedFields: renamed }))
    expect(after).toEqual({ object: withMetadata(live, { managedFields: renamed }), changed: true })
  })

  it('are not taken over through a subresource', () => {
    const after = update(live, withMetadata(live, { managedFields: renamed }), { subresource: 'status' })
    expect(after).toEqual({ object: live, changed: false })
  })

  const kept: readonly { because: string; sent: Json | undefined }[] = [
    { because: 'there are none', sent: undefined },
    { because: 'they are no list', sent: 'none' },
    { because: 'an entry has no fields', sent: [{ ...entry, fieldsV1: 'x' }] },
    { because: 'an entry has no fields at all', sent: [{ ...entry, fieldsV1: undefined }] },
    { because: 'the fields of an entry are a list', sent: [{ ...entry, fieldsV1: [] }] },
    { because: 'an entry is nothing', sent: [null] },
    { because: 'an entry has another notation', sent: [{ ...entry, fieldsType: 'FieldsV2' }] },
    { because: 'an entry names no version', sent: [{ ...entry, apiVersion: '' }] },
    { because: 'an entry did something else', sent: [{ ...entry, operation: 'Delete' }] },
    { because: 'a time is no text', sent: [{ ...entry, time: 5 }] },
    { because: 'a path is none', sent: [{ ...entry, fieldsV1: { spec: {} } }] },
  ]

  it.each(kept)('are not taken over if $because', ({ sent }) => {
    expect(update(live, withMetadata(live, { managedFields: sent }))).toEqual({ object: live, changed: false })
  })

  it.each([{ sent: [] }, { sent: [{}] }])('end the tracking if they are $sent', ({ sent }) => {
    const untracked = update(live, withMetadata(live, { managedFields: sent })).object
    expect(entriesOf(untracked)).toEqual([])
    const written = update(untracked, withSpec(untracked, { size: 4 }))
    expect([written.changed, entriesOf(written.object)]).toEqual([true, []])
    expect(Object.keys(ownership(applied(written.object, widget({ size: 4 }))))).toEqual([
      'alice',
      'before-first-apply',
    ])
  })
})

describe('of many updaters', () => {
  it('the ten latest are known by name, and the others are ancient changes', () => {
    const object = written(Array.from({ length: 13 }, (_, i) => `updater-${i}`))
    const names = ['ancient-changes', ...Array.from({ length: 9 }, (_, i) => `updater-${i + 4}`)]
    expect(entriesOf(object).map(({ manager }) => manager)).toEqual(names)
    expect(entriesOf(object)).toHaveProperty('0.time', minute(3))
    expect(ownership(object)['ancient-changes']).toEqual({
      'f:spec': {
        'f:options': { '.': {}, 'f:updater-0': {}, 'f:updater-1': {}, 'f:updater-2': {}, 'f:updater-3': {} },
        '.': {},
      },
    })
  })

  it('none is lost when ancient changes are among the oldest themselves', () => {
    const tracked = written(Array.from({ length: 11 }, (_, i) => `updater-${i}`))
    const entries = entriesOf(tracked).map((entry) => ({ ...entry, time: start }))
    const after = written(['aaa', 'aab'], withMetadata(tracked, { managedFields: entries }))
    const owned = Object.values(ownership(after)).flatMap((fields) => Object.keys(optionsIn(fields)))
    expect(new Set(owned.filter((key) => key !== '.')).size).toBe(13)
  })

  it('appliers do not count', () => {
    const appliers = Array.from({ length: 12 }, (_, i) => `applier-${i}`)
    const object = appliers.reduce(
      (live, manager) => applied(live, widget({ size: 1 }), { manager }),
      widget({ size: 1 }),
    )
    const after = update(object, withSpec(object, { size: 1, colour: 'red' })).object
    expect(entriesOf(after)).toHaveLength(14)
  })

  /** Each adds an option of its own name, a minute after the one before. */
  function written(managers: readonly string[], from?: JsonObject): JsonObject {
    const first = from ?? widget({ options: {} })
    return managers.reduce((live, manager, i) => {
      const options = { ...((live['spec'] as JsonObject)['options'] as JsonObject), [manager]: 'x' }
      const creates = i === 0 && from === undefined
      return update(creates ? undefined : live, withSpec(live, { options }), { manager, at: minute(i) }).object
    }, first)
  }

  function optionsIn(fields: JsonObject): JsonObject {
    return ((fields['f:spec'] as JsonObject | undefined)?.['f:options'] ?? {}) as JsonObject
  }

  function minute(i: number): string {
    return `2026-01-01T00:${String(i).padStart(2, '0')}:00Z`
  }
})

describe('a write beside an apply', () => {
  it('is what the applier conflicts with from then on', () => {
    const live = applied(undefined, widget({ size: 3 }))
    const changed = update(live, withSpec(live, { size: 4 })).object
    expect(tryApply(changed, widget({ size: 3 }))).toHaveProperty(
      'message',
      'Apply failed with 1 conflict: conflict with "bob" using example.com/v1: .spec.size',
    )
  })
})
