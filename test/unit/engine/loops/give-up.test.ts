import { beforeEach, describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { giveUp, type UnendedRun } from '../../../../shared/engine/loops/give-up.ts'
import { installBasics } from '../../../../shared/engine/loops/install-basics.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import { done } from '../../../../shared/index.ts'
import { conditionOf } from '../../../../shared/model/conditions.ts'
import { DamagedObjectError, OperatingError } from '../../../../shared/model/errors.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import type { Origin } from '../../../../shared/ports/work-queue.ts'
import { createResources } from '../../../../shared/resources/create-resources.ts'
import { createKindCatalog } from '../../../../shared/resources/store-kind-catalog.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { openSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'

const controller = widgets([], () => done())
const loop = controller.name
const random = createSeededRandom(1)
const key = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' }

let clock: ReturnType<typeof createVirtualClock>
let store: ObjectStore
let lines: string[]
/** What became of turns. */
let seen: string[]

beforeEach(async () => {
  clock = createVirtualClock()
  store = openSqlite(':memory:').store
  lines = []
  seen = []
})

/** With an object of the controller's that is there. */
async function open(runs: readonly UnendedRun[], isRefusing = (): boolean => false) {
  const catalog = createKindCatalog({ store, clock, maxAgeMs: 0 })
  const resources = createResources({ store, clock, random })
  await installBasics({ resources, catalog, controllers: [controller] })
  const kind = (await catalog.byKind(key.group, key.kind)) as ServedKind
  const metadata = { name: key.name, namespace: key.namespace }
  if ((await store.get(key)) === undefined) await resources.create(kind, { metadata, spec: {} }, { manager: 't' })
  const error = (line: string): void => void lines.push(line)
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error, with: () => logger }
  const replace: ObjectStore['replace'] = async (...asked) => {
    if (isRefusing()) throw new OperatingError('UNAVAILABLE', 'away')
    return store.replace(...asked)
  }
  const onGivenUp = ({ key: { name } }: UnendedRun): void => void lines.push(`noted ${name}`)
  return giveUp(
    { runs, onGivenUp },
    {
      store: { ...store, get: (at) => store.get(at), replace },
      index: openSqlite(':memory:').index,
      resources,
      catalog,
      clock,
      random,
      logger,
      telemetry: createPrometheusTelemetry(),
      events: { record: async () => true },
      controllers: [controller],
    },
  )
}

async function take(
  holdBack: Awaited<ReturnType<typeof open>>,
  origins: readonly Origin[],
  name = 'w',
): Promise<string> {
  seen = []
  const run = holdBack(loop, async () => void seen.push('run'))
  const note = (what: string) => async () => void seen.push(what)
  const wakeUps = origins.map((origin) => ({ origin }))
  const turn = { key: { ...key, name }, wakeUps, settle: note('settled'), delay: note('delayed') } as unknown as Turn
  await run(turn, new AbortController().signal)
  return seen.join(' ')
}

async function change(metadata: object): Promise<void> {
  const { object, engine } = (await store.get(key)) as StoredObject
  await store.replace({ object: { ...object, metadata: { ...object.metadata, ...metadata } }, engine }, ['spec'])
}

describe('an object in whose runs the process ended too often', () => {
  it('is Stalled and waits, and its name is told', async () => {
    await open([{ loop, key }])
    const { object, engine } = (await store.get(key)) as StoredObject
    expect(conditionOf(object, 'Stalled')).toMatchObject({ status: 'True', reason: 'RunNotEnded' })
    expect((engine.wait?.atMs ?? 0) - clock.nowMs()).toBeGreaterThan(400_000)
    expect(lines).toEqual(['noted w', 'the process ended again and again while this object ran: it is Stalled'])
  })

  it('does not run for what is told again, and others do', async () => {
    const holdBack = await open([{ loop, key }])
    expect(await take(holdBack, ['change'])).toBe('settled')
    expect(await take(holdBack, ['resync'])).toBe('settled')
    expect(await take(holdBack, ['timer', 'change'])).toBe('settled')
    expect(await take(holdBack, ['change'], 'other')).toBe('run')
  })

  it.for([
    ['its spec', { generation: 2 }],
    ['an annotation', { annotations: { 'setpoint.dev/reconcile-requested-at': 'now' } }],
  ] as const)('runs when somebody changes %s, and from then on as all do', async ([, metadata]) => {
    const holdBack = await open([{ loop, key }])
    await change(metadata)
    expect(await take(holdBack, ['change'])).toBe('run')
    await change({ generation: 1, annotations: undefined })
    expect(await take(holdBack, ['change'])).toBe('run')
  })

  it('is another one when it was made anew', async () => {
    const holdBack = await open([{ loop, key }])
    const { object, engine } = (await store.get(key)) as StoredObject
    await store.remove({ object, engine })
    await store.create({ object: { ...object, metadata: { ...object.metadata, uid: 'another' } }, engine })
    expect(await take(holdBack, ['change'])).toBe('run')
  })

  it('runs by its timer, and by anything once that is due', async () => {
    const holdBack = await open([{ loop, key }])
    expect(await take(holdBack, ['timer'])).toBe('run')
    expect(await take(holdBack, ['change'])).toBe('settled')
    clock.moveTo((await store.get(key))?.engine.wait?.atMs ?? 0)
    expect(await take(holdBack, ['change'])).toBe('run')
  })

  it('is let go of when it is gone, or nobody reconciles it any more', async () => {
    const gone = { loop, key: { ...key, name: 'gone' } }
    const holdBack = await open([gone, { loop: 'former', key }])
    expect(await take(holdBack, ['change'], 'gone')).toBe('run')
    expect(await take(holdBack, ['change'])).toBe('run')
    expect(lines).toEqual(['noted gone'])
  })

  it('is forgotten when its state has become damaged', async () => {
    const { get } = store
    const damaged = new DamagedObjectError('w is damaged', { uid: 'u', resourceVersion: '1' })
    let isDamaged = false
    store = { ...store, get: (at) => (isDamaged && at.name === 'w' ? Promise.reject(damaged) : get(at)) }
    const holdBack = await open([{ loop, key }])
    isDamaged = true
    expect(await take(holdBack, ['change'])).toBe('run')
  })

  it('waits on in a process that starts later, and is neither written nor told again', async () => {
    await open([{ loop, key }])
    const written = await store.get(key)
    lines = []
    const holdBack = await open([{ loop, key, isGivenUp: true }])
    expect(await take(holdBack, ['change'])).toBe('settled')
    expect([await store.get(key), lines]).toEqual([written, []])
    clock.moveTo(written?.engine.wait?.atMs ?? 0)
    expect(await take(holdBack, ['change'])).toBe('run')
  })

  it.for([
    ['its spec was changed', async (): Promise<void> => change({ generation: 2 })],
    ['its wait is over', async (): Promise<void> => clock.moveTo((await store.get(key))?.engine.wait?.atMs ?? 0)],
  ] as const)('runs in a process that starts later if %s', async ([, act]) => {
    await open([{ loop, key }])
    await act()
    const before = await store.get(key)
    const holdBack = await open([{ loop, key, isGivenUp: true }])
    expect(await take(holdBack, ['change'])).toBe('run')
    expect(await store.get(key)).toEqual(before)
  })

  it('waits until it can be written, and that is told', async () => {
    let isRefusing = true
    const holdBack = await open([{ loop, key }], () => isRefusing)
    expect(lines).toEqual(['object not given up; it waits until it can be written'])
    expect(await take(holdBack, ['change'])).toBe('delayed')
    expect(await take(holdBack, ['timer'])).toBe('delayed')
    expect(await take(holdBack, ['change'], 'other')).toBe('run')
    isRefusing = false
    expect(await take(holdBack, ['change'])).toBe('settled')
    expect(lines.slice(-2)).toEqual([
      'noted w',
      'the process ended again and again while this object ran: it is Stalled',
    ])
  })
})
