import { expect, it } from 'vitest'
import type { EngineState } from '../../../shared/model/engine-state.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { withFormerOwner } from '../../../shared/resources/former-owner.ts'
import { storedWidget } from '../../support/stored-object.ts'

const owner = (name: string, controller = true) => ({ apiVersion: 'g.dev/v1', kind: 'K', name, uid: name, controller })
const told = (name: string) => ({ apiVersion: 'g.dev/v1', kind: 'K', name })

function ownedBy(engine: EngineState, ...owners: readonly ReturnType<typeof owner>[]): StoredObject {
  return { ...storedWidget('child', owners.length === 0 ? {} : { ownerReferences: [...owners] }), engine }
}

const notes = { memory: { notes: { a: 1 } } }

it.each([
  ['has another controller', [owner('a')], [owner('b')], 'a'],
  ['has none any more', [owner('a')], [], 'a'],
  ['has its controller as one of several', [owner('a')], [owner('a', false)], 'a'],
  ['has another of the same name', [owner('a')], [{ ...owner('a'), uid: 'next' }], 'a'],
  ['has its first', [], [owner('b')], undefined],
  ['keeps it', [owner('a')], [owner('b', false), owner('a')], undefined],
  ['never had one', [owner('a', false)], [], undefined],
] as const)('what %s', (_what, before, after, former) => {
  const next = withFormerOwner(ownedBy({}, ...before), ownedBy(notes, ...after))
  expect(next.engine).toEqual(former === undefined ? notes : { ...notes, formerOwner: told(former) })
  expect(next.object).toEqual(ownedBy(notes, ...after).object)
})

it('the write after it takes the note away', () => {
  const taken = ownedBy({ ...notes, formerOwner: told('a') }, owner('b'))
  expect(withFormerOwner(taken, taken).engine).toEqual(notes)
  expect(withFormerOwner(taken, ownedBy(taken.engine, owner('c'))).engine.formerOwner).toEqual(told('b'))
})
