import { describe, expect, it } from 'vitest'
import { withSafetyNet } from '../../../../shared/engine/wake/safety-net.ts'
import { done, type Controller } from '../../../../shared/index.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { StoredObject, Touched } from '../../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const nowMs = 1_000_000
const netMs = nowMs + 300_000
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }
const change = { verb: 'changed', atMs: 1, by: 'me' } as const
const netted = (engine: EngineState): EngineState => ({ ...engine, wakeAtMs: netMs, netMs })

interface Written {
  readonly apiVersion?: string
  readonly kind?: string
  readonly engine?: EngineState
}

function storedAs({
  apiVersion = 'test.setpoint.dev/v1',
  kind = 'Widget',
  engine = { change },
}: Written): StoredObject {
  const { object } = storedWidget('w')
  return { object: { ...object, apiVersion, kind }, engine }
}

/** What the engine keeps with what is written. */
async function written(
  write: (store: ObjectStore) => Promise<unknown>,
  controllers: readonly Controller[],
): Promise<EngineState | undefined> {
  const seen: StoredObject[] = []
  const note = async (stored: StoredObject): Promise<StoredObject> => {
    seen.push(stored)
    return stored
  }
  const store = { create: note, replace: note } as unknown as ObjectStore
  await write(withSafetyNet(store, { clock: createVirtualClock(nowMs), controllers, logger }))
  return seen[0]?.engine
}

const widget = widgets([], () => done())
const picky = widgets([], () => done(), { when: () => false })

describe('a write', () => {
  const rows: readonly (readonly [string, Written, Touched, boolean, Controller])[] = [
    ['of a spec', {}, ['spec'], true, widget],
    ['of a spec and a label', {}, ['labels', 'spec'], true, widget],
    ['that deletes', {}, ['delete'], true, widget],
    ['of a label', {}, ['labels'], false, widget],
    ['of a status', {}, ['status'], false, widget],
    ['of a spec whose change is not noted: nobody runs it', { engine: {} }, ['spec'], false, widget],
    ['that deletes what nobody runs', { engine: {} }, ['delete'], false, widget],
    ['that deletes a Namespace', { apiVersion: 'v1', kind: 'Namespace', engine: {} }, ['delete'], true, widget],
    [
      'that deletes a definition',
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', engine: {} },
      ['delete'],
      true,
      widget,
    ],
    [
      'that deletes what is called so elsewhere',
      { apiVersion: 'x.dev/v1', kind: 'Namespace', engine: {} },
      ['delete'],
      false,
      widget,
    ],
    ['of the spec of a Namespace', { apiVersion: 'v1', kind: 'Namespace', engine: {} }, ['spec'], false, widget],
    ['of a spec that the predicate keeps back', {}, ['spec'], false, picky],
    ['that deletes, whatever the predicate says', {}, ['delete'], true, picky],
    ['of a spec of a kind that is not known here', { kind: 'Gadget' }, ['spec'], true, picky],
  ]
  it.each(rows)('%s', async (...[, stored, touched, hasNet, controller]) => {
    const one = storedAs(stored)
    const engine = await written((store) => store.replace(one, touched), [controller])
    expect(engine).toEqual(hasNet ? netted(one.engine) : one.engine)
  })

  it('that creates has a net, unless the predicate keeps it back', async () => {
    const create = (store: ObjectStore) => store.create(storedAs({}))
    expect(await written(create, [widget])).toEqual(netted({ change }))
    expect(await written(create, [picky])).toEqual({ change })
  })

  // A run that began with the wish that is there strikes it out, and may not see this change.
  const next = { change, wakeAtMs: netMs, netMs }
  it.each([
    ['is not yet lost', nowMs - 299_999, next],
    ['must be lost by now', nowMs - 300_000, { wakeAtMs: netMs - 10 }],
  ])('behind a change that nobody has seen, and that %s', async (_how, sinceMs, wanted) => {
    const unseen = { ...change, sinceMs }
    const one = storedAs({ engine: { change: unseen, wakeAtMs: netMs - 9, netMs: netMs - 9 } })
    const after = await written((store) => store.replace(one, ['spec']), [widget])
    expect(after).toEqual({ ...wanted, change: unseen })
  })

  it.each([
    ['sooner', { wakeAtMs: netMs - 1 }, { change, wakeAtMs: netMs - 2 }],
    ['at the same time', { wakeAtMs: netMs }, { change, wakeAtMs: netMs - 1 }],
    ['later', { wakeAtMs: netMs + 1 }, next],
    ['by the net of an earlier change', { wakeAtMs: netMs - 9, netMs: netMs - 9 }, next],
    ['sooner than by the net of an earlier change', { wakeAtMs: 5, netMs: netMs - 9 }, { change, wakeAtMs: 4 }],
  ])('of what is to run %s anyway leaves another wish', async (_when, engine, wanted) => {
    const one = storedAs({ engine: { change, ...engine } })
    expect(await written((store) => store.replace(one, ['spec']), [widget])).toEqual(wanted)
  })
})
