import { expect, it } from 'vitest'
import {
  currentWait,
  foreignFinalizers,
  objectSituationOf,
} from '../../../../../shared/engine/insight/explain/situation.ts'
import { deleted, factsOf, failure, paused, situations, waiting, type Given } from './given-facts.ts'

it.each(Object.entries(situations))('an object is %s', (name, given) => {
  expect(objectSituationOf(factsOf(given))).toBe(name)
})

it.each([
  ['nobody’s, on its way', { metadata: deleted, facts: { controller: undefined } }, 'held'],
  ['paused, though it fails', { metadata: paused, engine: waiting('Backoff', failure) }, 'paused'],
  ['another’s on its way, though it fails', { ...situations.held, engine: waiting('Backoff', failure) }, 'held'],
  ['held by one that has no clean-up', { ...situations.held, controller: { finalizer: undefined } }, 'held'],
  ['without finalizers on its way', { metadata: { ...deleted, finalizers: undefined } }, 'held'],
  ['held by others, and not on its way', { metadata: { finalizers: ['x/one'] } }, 'asDesired'],
  ['failing while it is deleted', { metadata: deleted, engine: waiting('Backoff', failure) }, 'failing'],
  [
    'of one that reports nothing',
    { controller: { reportsStatus: false }, status: { observedGeneration: 0 } },
    'asDesired',
  ],
  ['without conditions', { status: { conditions: [] } }, 'notReady'],
  ['failing in a generation before', { metadata: { generation: 3 }, engine: waiting('Backoff', failure) }, 'changed'],
] as unknown as readonly [string, Given, string][])('an object %s: %j is %s', (_what, given, name) => {
  expect(objectSituationOf(factsOf(given))).toBe(name)
})

it.each([
  [{}, undefined],
  [{ engine: waiting('Resync') }, 'Resync'],
  [{ engine: waiting('Resync', { generation: 1 }) }, undefined],
])('of %j the wait is %s', (given, kind) => {
  expect(currentWait(factsOf(given).stored)).toBe(kind)
})

it.each([
  ['ours is none', ['test/ours', 'x/one'], {}, ['x/one']],
  ['all, where nobody is ours', ['test/ours'], { controller: undefined }, ['test/ours']],
  ['none', undefined, {}, []],
])('finalizers of others: %s', (_what, finalizers, facts, names) => {
  expect(foreignFinalizers(factsOf({ metadata: { finalizers } as never, facts }))).toEqual(names)
})
