import { expect, it } from 'vitest'
import { refersToMore } from '../../../../shared/engine/state/new-references.ts'
import type { Controller } from '../../../../shared/reconciler/controller.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import { refersByStatus } from '../../../support/referring-widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const { object } = storedWidget('w')
const using = (...uses: string[]): ApiObject => ({ ...object, status: { uses } })
const refersToNothing = { ...refersByStatus, references: [] }
const throwing: Controller = {
  ...refersByStatus,
  references: refersByStatus.references.map((watch) => ({
    ...watch,
    targets: () => {
      throw new Error('no')
    },
  })),
}

it.each([
  ['begins to name something', refersByStatus, object, using('a'), true],
  ['names something else', refersByStatus, using('a'), using('b'), true],
  ['names one more', refersByStatus, using('a'), using('b', 'a'), true],
  ['names the same', refersByStatus, using('a', 'b'), using('b', 'a'), false],
  ['names less', refersByStatus, using('a', 'b'), using('b'), false],
  ['names nothing any more', refersByStatus, using('a'), object, false],
  ['names nothing', refersByStatus, object, using(), false],
  ['names something, for a reconciler that watches no references', refersToNothing, object, using('a'), false],
  ['names what the function cannot tell', throwing, object, using('a'), false],
  [
    'has names that are none: the function throws',
    refersByStatus,
    using('a'),
    { ...object, status: { uses: 7 } },
    false,
  ],
  ['had names that were none', refersByStatus, { ...object, status: { uses: 7 } }, using('a'), true],
] as const)('a status that %s', (...[, controller, before, after, isMore]) => {
  expect(refersToMore(controller, { before, after })).toBe(isMore)
})

it('looks at the name and at the namespace', () => {
  const elsewhere = { ...using('a'), metadata: { ...object.metadata, namespace: 'other' } }
  expect(refersToMore(refersByStatus, { before: elsewhere, after: using('a') })).toBe(true)
})
