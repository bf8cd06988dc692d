import { expect, it } from 'vitest'
import {
  asJson,
  conditionOf,
  conditionsOf,
  findOddCondition,
  isCondition,
  patchConditions,
  type Condition,
} from '../../../shared/model/conditions.ts'

const at = { nowMs: 1_000, generation: 1 }

const said = (type: string): Condition => ({
  type,
  status: 'True',
  reason: 'Said',
  message: '',
  lastTransitionTime: '1970-01-01T00:00:00Z',
})

it('a condition that nobody names stays, whatever it is called', () => {
  const types = ['Fine', 'constructor', 'toString']
  const next = patchConditions(types.map(said), { Ready: { status: 'True', reason: 'Reconciled' } }, at)
  expect(next.map(({ type }) => type)).toEqual(['Fine', 'Ready', 'constructor', 'toString'])
})

it('one that is named is set or removed, whatever it is called', () => {
  const patch = { Fine: null, constructor: { status: 'False', reason: 'Broken' } } as const
  expect(patchConditions(['Fine', 'constructor'].map(said), patch, at)).toMatchObject([
    { type: 'constructor', status: 'False', reason: 'Broken', lastTransitionTime: '1970-01-01T00:00:01Z' },
  ])
})

it('the time of a condition moves only with its status', () => {
  const before = { ...said('Ready'), reason: 'Old', message: 'old', observedGeneration: 1 }
  const patch = (status: Condition['status']) =>
    patchConditions([before], { Ready: { status, reason: 'New' } }, { nowMs: 5_000, generation: 2 })
  const next = { type: 'Ready', reason: 'New', message: '', observedGeneration: 2 }
  expect(patch('True')).toEqual([{ ...next, status: 'True', lastTransitionTime: '1970-01-01T00:00:00Z' }])
  expect(patch('Unknown')).toEqual([{ ...next, status: 'Unknown', lastTransitionTime: '1970-01-01T00:00:05Z' }])
  const first = patchConditions([], { Ready: { status: 'False', reason: 'New', message: 'new' } }, at)
  expect(first).toEqual([
    { ...next, status: 'False', message: 'new', observedGeneration: 1, lastTransitionTime: '1970-01-01T00:00:01Z' },
  ])
})

it.each<[unknown, readonly unknown[]]>([
  [undefined, []],
  ['Ready', []],
  [[5, null, said('Ready')], [said('Ready')]],
])('the conditions of a status with %j', (conditions, found) => {
  const object = { metadata: { generation: 1 }, status: { conditions } }
  expect(conditionsOf(object)).toEqual(found)
  expect(conditionOf(object, 'Ready')).toEqual(found[0])
  expect(conditionOf(object, 'Other')).toBeUndefined()
})

it.each<[string, Partial<Condition> | undefined, boolean]>([
  ['of this generation', { observedGeneration: 2 }, true],
  ['of a later generation', { observedGeneration: 3 }, true],
  ['of one that is over', { observedGeneration: 1 }, false],
  ['that says no generation', {}, true],
  ['that is False', { status: 'False' }, false],
  ['that is Unknown', { status: 'Unknown' }, false],
  ['of another type', { type: 'Other' }, false],
  ['that is not there', undefined, false],
])('a condition %s', (_what, condition, is) => {
  const conditions = condition === undefined ? undefined : [{ ...said('Ready'), ...condition }]
  expect(isCondition({ metadata: { generation: 2 }, status: { conditions } }, 'Ready')).toBe(is)
  expect(isCondition({ metadata: { generation: 2 } }, 'Ready')).toBe(false)
})

it('a status field shares nothing with the conditions that it was made of', () => {
  const conditions = [said('Ready')]
  const field = asJson(conditions)
  expect(field).toEqual(conditions)
  expect(field[0]).not.toBe(conditions[0])
})

it.each([
  [{ A: { status: 'True', reason: 'R' }, B: { status: 'Unknown', reason: 'R', message: 'm' }, C: null }, undefined],
  [{ A: { status: 'False', reason: '' } }, undefined],
  [{}, undefined],
  ['A', 'conditions: an object'],
  [[], 'conditions: an object'],
  [{ A: 'True' }, 'conditions.A: an object'],
  [{ A: {} }, "conditions.A.status: one of 'True'"],
  [{ A: { status: true, reason: 'R' } }, "conditions.A.status: one of 'True'"],
  [{ A: { status: 'Yes', reason: 'R' } }, "conditions.A.status: one of 'True'"],
  [{ A: { status: 'True' } }, 'conditions.A.reason: a text'],
  [{ A: { status: 'True', reason: 'R', message: 5 } }, 'conditions.A.message: a text'],
])('of conditions %j is wrong: %j', (patches, fault) => {
  const found = findOddCondition(patches)
  if (fault === undefined) expect(found).toBeUndefined()
  else expect(found).toContain(fault)
})
