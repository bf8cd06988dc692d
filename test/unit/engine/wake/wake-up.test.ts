import { expect, it } from 'vitest'
import { wakeUpOf } from '../../../../shared/engine/wake/wake-up.ts'
import { keyOf } from '../../../../shared/model/object-key.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const stored = storedWidget('w', { resourceVersion: '7' })
const key = keyOf(stored.object)
const target = { key, lane: 'urgent', reason: 'r' } as const
const wakeUp = { key, dedupId: 'uid-default-w:7', resourceVersion: '7', lane: 'urgent', reason: 'r' }

it.each([
  ['a change', target, { ...wakeUp, origin: 'change' }],
  ['a timer', { ...target, dueAtMs: 5 }, { ...wakeUp, origin: 'timer', notBeforeMs: 5 }],
  ['a timer of long ago', { ...target, dueAtMs: 0 }, { ...wakeUp, origin: 'timer', notBeforeMs: 0 }],
])('is one of %s', (_what, to, sent) => {
  expect(wakeUpOf(to, { type: 'modified', touched: ['spec'], stored })).toEqual(sent)
})
