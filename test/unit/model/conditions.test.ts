import { expect, it } from 'vitest'
import { patchConditions, type Condition } from '../../../shared/model/conditions.ts'

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
