import { expect, it } from 'vitest'
import { childReason, ownReason } from '../../../../shared/engine/wake/wake-reasons.ts'
import type { ManagedFieldsEntry } from '../../../../shared/model/object.ts'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import { storedWidget } from '../../../support/stored-object.ts'

function entry(manager: string, time: string): ManagedFieldsEntry {
  return { manager, time, operation: 'Update', apiVersion: 'example.com/v1', fieldsType: 'FieldsV1', fieldsV1: {} }
}

function change(managedFields: ManagedFieldsEntry[], more: Partial<Change> = {}): Change {
  return { type: 'modified', touched: ['spec'], stored: storedWidget('w', { managedFields }), ...more }
}

const [earlier, later] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:05Z']

it.each([
  { because: 'it wrote last', entries: [entry('a', later), entry('b', earlier)], by: ' by a' },
  { because: 'the order does not count', entries: [entry('b', earlier), entry('a', later)], by: ' by a' },
  { because: 'two wrote in one second', entries: [entry('a', later), entry('b', later)], by: '' },
  { because: 'nobody is tracked', entries: [], by: '' },
])('a child changed$by, since $because', ({ entries, by }) => {
  expect(childReason(change(entries))).toBe(`child Widget default/w changed${by}`)
})

it('a child that is gone was removed, whoever wrote it last', () => {
  expect(childReason(change([entry('a', later)], { type: 'removed' }))).toBe('child Widget default/w was removed')
})

it.each([
  [['status'], 'child status of Widget default/w changed'],
  [['status', 'engine', 'fields'], 'child status of Widget default/w changed'],
  [['status', 'labels'], 'child Widget default/w changed by a'],
] as const)('a child of which %j changed is told so', (touched, reason) => {
  expect(childReason(change([entry('a', later)], { touched }))).toBe(reason)
})

it('a child without a namespace is named without one', () => {
  const { stored, ...rest } = change([])
  const { namespace: _, ...metadata } = stored.object.metadata
  const object = { ...stored.object, metadata }
  expect(childReason({ ...rest, stored: { ...stored, object } })).toBe('child Widget w changed')
})

it('a change of the object names its parts, without who manages what', () => {
  expect(ownReason(change([], { touched: ['labels', 'fields'] }))).toBe('labels changed')
})

it('a change of its desired state names who changed which fields', () => {
  const { stored, ...rest } = change([])
  const note = { verb: 'changed', atMs: 0, by: 'kubectl-edit', fields: ['spec.size'] } as const
  const noted = { ...rest, stored: { ...stored, engine: { change: { ...note, fields: [...note.fields] } } } }
  expect(ownReason(noted)).toBe('changed by kubectl-edit (spec.size)')
})
