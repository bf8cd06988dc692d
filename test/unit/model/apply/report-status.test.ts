import { describe, expect, it } from 'vitest'
import { reportStatus } from '../../../../shared/model/apply/report-status.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject, ManagedFieldsEntry } from '../../../../shared/model/object.ts'
import { ownership, start, widget } from './widget.ts'

const schema = {
  type: 'object',
  properties: {
    status: {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer' }, c: { type: 'integer' } },
    },
  },
} as const

function entry(manager: string, fields: readonly string[], more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  const status = Object.fromEntries(fields.map((field) => [`f:${field}`, {}]))
  return {
    manager,
    operation: 'Apply',
    apiVersion: 'example.com/v1',
    time: start,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:status': status },
    subresource: 'status',
    ...more,
  }
}

function report(current: JsonObject, reported: JsonObject, entries: readonly ManagedFieldsEntry[] | undefined) {
  const live = widget({}, entries && { managedFields: entries as never }) as unknown as ApiObject
  const { status, metadata } = reportStatus({ live, current, reported, manager: 'me', schema })
  return { status, metadata, live, owners: ownership({ metadata }) }
}

describe('a status that is reported', () => {
  const spec = entry('bob', [], { operation: 'Update', fieldsV1: { 'f:spec': {} } })
  const { subresource: _, ...ofSpec } = spec

  it.each<[string, readonly ManagedFieldsEntry[] | undefined]>([
    ['nobody is tracked', undefined],
    ['nobody owns anything', []],
    ['others own what is no status', [ofSpec]],
    ['the reporter alone owns some of it', [entry('me', ['a'])]],
    ['it was there before anybody applied', [entry('before-first-apply', ['a'])]],
  ])('is the whole status where %s', (_what, entries) => {
    const { status, metadata, live } = report({ a: 1, b: 2 }, { b: 3 }, entries)
    expect(status).toEqual({ b: 3 })
    expect(metadata).toBe(live.metadata)
  })

  it('leaves what others own, and takes away what it says no longer', () => {
    const { status, owners } = report({ a: 1, b: 2, c: 3 }, { b: 4 }, [entry('ann', ['a'])])
    expect(status).toEqual({ a: 1, b: 4 })
    expect(owners).toEqual({ ann: { 'f:status': { 'f:a': {} } } })
  })

  it('takes what it says from whoever said otherwise', () => {
    const { status, owners } = report({ a: 1, b: 2 }, { a: 5 }, [entry('ann', ['a', 'b'])])
    expect(status).toEqual({ a: 5, b: 2 })
    expect(owners).toEqual({ ann: { 'f:status': { 'f:b': {} } } })
  })

  it('shares what it says alike, and keeps no entry of its own', () => {
    const entries = [entry('ann', ['a']), entry('me', ['a', 'b']), entry('before-first-apply', ['c']), ofSpec]
    const { status, owners, metadata } = report({ a: 1, b: 2, c: 3 }, { a: 1 }, entries)
    expect(status).toEqual({ a: 1 })
    expect(owners).toEqual({ ann: { 'f:status': { 'f:a': {} } }, bob: { 'f:spec': {} } })
    expect(metadata).toMatchObject({ name: 'demo', namespace: 'default' })
  })

  it('leaves no entries once nobody else owns anything', () => {
    const { status, metadata } = report({ a: 1 }, { a: 2 }, [entry('ann', ['a'])])
    expect([status, metadata]).toEqual([{ a: 2 }, { name: 'demo', namespace: 'default' }])
  })
})
