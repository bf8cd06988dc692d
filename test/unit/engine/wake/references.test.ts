import { afterEach, beforeEach, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { createNoteStored, createReferences, type NoteStored } from '../../../../shared/engine/wake/references.ts'
import { createRelay, type Relay } from '../../../../shared/engine/wake/relay.ts'
import { DamagedObjectError } from '../../../../shared/model/errors.ts'
import type { ObjectKey } from '../../../../shared/model/object-key.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import { ConfigMap, done, mapped, reference } from '../../../../shared/index.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import type { ObjectIndex } from '../../../../shared/ports/object-index.ts'
import { widgets, type WidgetObject } from '../../../acceptance/support/widgets.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/**
 * Who refers to whom is noted by the relay, change by change, and by the first look of a loop: neither undoes what the
 * other noted.
 */
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }
const of = (widget: WidgetObject) => (widget.metadata.labels?.['refers'] ?? '').split(',').map((name) => ({ name }))
const controllers = [widgets([], () => done(), { watches: [reference(ConfigMap, of)] })]
const key = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' }

let opened: OpenSqlite
const clock = createVirtualClock()
beforeEach(() => {
  opened = openSqlite(':memory:', clock)
})
afterEach(() => opened.close())

function create(refers: string): Promise<StoredObject> {
  const metadata = {
    name: key.name,
    namespace: key.namespace,
    uid: 'uid-w',
    resourceVersion: '0',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { refers },
  }
  return opened.store.create({
    object: { apiVersion: 'test.setpoint.dev/v1', kind: 'Widget', metadata, spec: {} },
    engine: {},
  })
}

function relabel(stored: StoredObject, refers: string): Promise<StoredObject> {
  const { object } = stored
  return opened.store.replace(
    { ...stored, object: { ...object, metadata: { ...object.metadata, labels: { refers } } } },
    ['labels'],
  )
}

const changeTo = (stored: StoredObject): Change => ({ type: 'modified', touched: ['labels'], stored })
const noted = async (): Promise<string> =>
  (await opened.index.references(key))
    .map(({ name }) => name)
    .sort()
    .join()

/** `sent`: told whom it wakes, and why. */
function relay(sent: string[] = []): Relay {
  const queue = {
    send: async (wakeUps: readonly WakeUp[]) =>
      void sent.push(...wakeUps.map(({ key: { name }, reason }) => `${name} ${reason}`)),
    receive: async () => [],
    settle: async () => {},
    hold: async () => {},
    wake: async () => {},
  }
  return createRelay({
    ...opened,
    controllers,
    queueOf: () => queue,
    clock,
    logger,
    telemetry: createPrometheusTelemetry(),
  })
}

it('of two changes in one batch the first does not forget what the second refers to again', async () => {
  const one = await create('a')
  await relay()([changeTo(one)])
  const two = await relabel(one, 'b')
  const three = await relabel(two, 'a,b')
  await relay()([changeTo(two), changeTo(three)])
  expect(await noted()).toBe('a,b')
})

it('a change that is told again forgets nothing that a later one refers to', async () => {
  const one = await create('a')
  await relay()([changeTo(one)])
  const two = await relabel(one, 'b')
  const three = await relabel(two, 'a,b')
  await relay()([changeTo(two), changeTo(three)])
  await relay()([changeTo(two)])
  expect(await noted()).toBe('a,b')
})

it('of several changes in one batch all is forgotten that the last does not refer to', async () => {
  const one = await create('a')
  await relay()([changeTo(one)])
  const two = await relabel(one, 'b')
  const three = await relabel(two, 'c')
  await relay()([changeTo(two), changeTo(three)])
  expect(await noted()).toBe('c')
})

it('a reference counts from its own batch on, whichever of its changes comes first', async () => {
  const one = await create('a')
  const { metadata } = one.object
  const target: StoredObject = {
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, name: 'a', uid: 'uid-a' } },
    engine: {},
  }
  for (const changes of [
    [changeTo(one), changeTo(target)],
    [changeTo(target), changeTo(one)],
  ]) {
    await opened.index.setReferences(key, [])
    const sent: string[] = []
    await relay(sent)(changes)
    expect(sent).toContain('w ConfigMap default/a changed, and is referred to')
  }
})

it('what is damaged refers to what is noted already, and keeps nobody waiting', async () => {
  const one = await create('b')
  await opened.index.setReferences(key, [{ group: '', kind: 'ConfigMap', namespace: 'default', name: 'a' }])
  const damaged = async () => {
    throw new DamagedObjectError('damaged', { uid: 'uid-w', resourceVersion: '1' })
  }
  await createNoteStored(controllers, { ...opened, store: { ...opened.store, get: damaged } })(key)
  expect(await noted()).toBe('a')
  const { note } = createReferences(controllers, { ...opened, store: { ...opened.store, get: damaged } })
  const { dropped, forget } = (await note(changeTo(one))) ?? expect.fail('something is noted')
  await forget()
  expect([dropped.length, await noted()]).toEqual([1, 'a,b'])
})

/** The first look, in which something happens before its n-th call of the index. */
function noteStored(happens: Readonly<Record<number, () => Promise<void>>>): NoteStored {
  let calls = 0
  const counted =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await happens[++calls]?.()
      return call(...args)
    }
  const index: ObjectIndex = {
    ...opened.index,
    references: counted(opened.index.references),
    setReferences: counted(opened.index.setReferences),
  }
  return createNoteStored(controllers, { store: opened.store, index })
}

it('notes what was never noted, and writes nothing where all is', async () => {
  await create('a,b')
  const look = noteStored({
    3: async () => {},
    4: () => Promise.reject(new Error('there is nothing to write')),
  })
  await look(key)
  expect(await noted()).toBe('a,b')
  await look(key)
})

it.each([1, 2])('undoes no note of a newer state that comes before its call %i of the index', async (call) => {
  const one = await create('a')
  const happen = async (): Promise<void> => {
    const two = await relabel(one, 'b')
    const { forget } = (await createReferences(controllers, opened).note(changeTo(two))) ?? {}
    await forget?.()
  }
  await noteStored({ [call]: happen })(key)
  expect(await noted()).toContain('b')
})

it('asks a function that names others each time ten times, and no more', async () => {
  await create('')
  let asked = 0
  const impure = reference(ConfigMap, () => {
    if (asked === 100) throw new Error('it is asked for ever')
    return { name: `at-${asked++}` }
  })
  await createNoteStored([widgets([], () => done(), { watches: [impure] })], opened)(key)
  expect(asked).toBe(10)
})

it('leaves to the relay what the object refers to no more', async () => {
  const one = await create('a')
  await relay()([changeTo(one)])
  await relabel(one, 'b')
  await noteStored({})(key)
  expect(await noted()).toBe('a,b')
})

/** Each call of the index that writes. */
function counting(): {
  readonly ports: Pick<OpenSqlite, 'store'> & { readonly index: ObjectIndex }
  readonly writes: string[]
} {
  const writes: string[] = []
  const index: ObjectIndex = {
    ...opened.index,
    setReferences: async (referrer, targets) => {
      writes.push(targets.map(({ name }) => name).join())
      await opened.index.setReferences(referrer, targets)
    },
  }
  return { ports: { store: opened.store, index }, writes }
}

it('forgets one that is dropped, and writes nothing more where none is', async () => {
  const { ports, writes } = counting()
  const references = createReferences(controllers, ports)
  const one = await create('a')
  await (await references.note(changeTo(one)))?.forget()
  const two = await relabel(one, 'b')
  const { dropped = [], forget } = (await references.note(changeTo(two))) ?? {}
  expect(dropped.map(({ name }) => name)).toEqual(['a'])
  await forget?.()
  expect(writes).toEqual(['a', 'b,a', 'b,b'])
})

it('forgets nothing of an object that is gone by then', async () => {
  const { ports, writes } = counting()
  const one = await create('a')
  const references = createReferences(controllers, ports)
  await references.note(changeTo(one))
  const second = await references.note(
    changeTo({ ...one, object: { ...one.object, metadata: { ...one.object.metadata, labels: { refers: 'b' } } } }),
  )
  await opened.store.remove(one)
  await second?.forget()
  expect(writes).toEqual(['a', 'b,a'])
})

it('forgets what was noted behind the removal, and nothing of what has that name since or cannot be read', async () => {
  const lists: (readonly ObjectKey[])[] = [[key]]
  const index: ObjectIndex = {
    ...opened.index,
    references: async () => lists.at(-1) ?? [],
    setReferences: async (_, targets) => void lists.push(targets),
  }
  const one = await create('a')
  await opened.store.remove(one)
  const forget = async (store = opened.store): Promise<void> => {
    const told = await createReferences(controllers, { store, index }).note({ ...changeTo(one), type: 'removed' })
    expect(told?.dropped).toEqual([])
    await told?.forget()
  }
  const damaged = async (): Promise<never> => {
    throw new DamagedObjectError('damaged', { uid: 'u', resourceVersion: '1' })
  }
  await forget({ ...opened.store, get: damaged })
  expect(lists).toEqual([[key]])
  await forget()
  expect(lists).toEqual([[key], []])
  // What was interrupted may look done: the index knows what is left, and finds nothing to write if nothing is.
  await forget()
  expect(lists).toEqual([[key], [], []])
  lists.push([key])
  await create('b')
  await forget()
  expect(lists).toEqual([[key], [], [], [key]])
})

it('drops what the change itself tells of before, where the notes are gone with the object', async () => {
  const { ports, writes } = counting()
  const { note } = createReferences(controllers, ports)
  const one = await create('a,b')
  const two = await relabel(one, 'b,c')
  await opened.store.remove(two)
  const moved = await note({ ...changeTo(two), before: one })
  await moved?.forget()
  expect([moved?.dropped.map(({ name }) => name), writes]).toEqual([['a'], ['b,c']])
  const letGo = await note({ type: 'removed', touched: ['delete'], stored: two, before: one })
  expect(letGo?.dropped.map(({ name }) => name)).toEqual(['a'])
})

it('drops once what both the notes and the change tell', async () => {
  const one = await create('a')
  await relay()([changeTo(one)])
  const two = await relabel(one, 'b')
  const moved = await createReferences(controllers, opened).note({ ...changeTo(two), before: one })
  expect(moved?.dropped.map(({ name }) => name)).toEqual(['a'])
})

it('is asked nothing by a removal, by what the engine keeps, or by objects that nobody asks', async () => {
  const { ports, writes } = counting()
  const references = createReferences(controllers, ports)
  const one = await create('a')
  const removed = await references.note({ ...changeTo(one), type: 'removed' })
  expect(removed?.dropped).toEqual([])
  expect(references.note({ ...changeTo(one), touched: ['engine', 'timer'] })).toBeUndefined()
  const configMap = { ...one, object: { ...one.object, apiVersion: 'v1', kind: 'ConfigMap' } }
  expect(references.note(changeTo(configMap))).toBeUndefined()
  expect(createReferences([widgets([], () => done())], ports).note(changeTo(one))).toBeUndefined()
  expect(writes).toEqual([])
})

it('asks a controller that both refers and maps', async () => {
  const { ports, writes } = counting()
  const both = widgets([], () => done(), {
    watches: [reference(ConfigMap, of), mapped(ConfigMap, () => ({ name: 'm' }))],
  })
  const references = createReferences([both], ports)
  const one = await create('a')
  await references.note(changeTo(one))
  await references.note(changeTo({ ...one, object: { ...one.object, apiVersion: 'v1', kind: 'ConfigMap' } }))
  expect(writes).toEqual(['a', 'm'])
})

it('those of a status are noted when that is written', async () => {
  const named = ({ status }: WidgetObject) => ({ name: status?.seen ?? 'none' })
  const ofStatus = [widgets([], () => done(), { watches: [reference(ConfigMap, named)] })]
  const live = await create('')
  const stored = { ...live, object: { ...live.object, status: { seen: 'settings' } } }
  await createReferences(ofStatus, opened).note({ type: 'modified', touched: ['status'], stored })
  expect(await noted()).toBe('settings')
})
