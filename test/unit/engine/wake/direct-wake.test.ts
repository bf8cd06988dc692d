import { beforeEach, describe, expect, it } from 'vitest'
import { ConfigMap, done, reference, type Controller } from '../../../../shared/index.ts'
import { withDirectWake } from '../../../../shared/engine/wake/direct-wake.ts'
import { routesOf } from '../../../../shared/engine/wake/routes.ts'
import { wakeUpOf } from '../../../../shared/engine/wake/wake-up.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { StoredObject, Touched } from '../../../../shared/model/stored-object.ts'
import type { ObjectIndex } from '../../../../shared/ports/object-index.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import type { WakeUp, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/** The wake-up that the API sends itself, ahead of the relay. */
const clock = createVirtualClock(0)
let sent: { readonly loop: string; readonly wakeUp: WakeUp }[]
let lines: string[]
let asked: string[]
let send: (loop: string) => WorkQueue['send']
const logger = {
  debug: () => {},
  info: () => {},
  warn: (line: string) => void lines.push(line),
  error: () => {},
  with: () => logger,
}

beforeEach(() => {
  sent = []
  lines = []
  asked = []
  send = (loop) => async (wakeUps) => void sent.push(...wakeUps.map((wakeUp) => ({ loop, wakeUp })))
})

const stored = (resourceVersion: string, engine: EngineState = {}): StoredObject => ({
  object: {
    apiVersion: 'test.setpoint.dev/v1',
    kind: 'Widget',
    metadata: {
      name: 'w',
      namespace: 'default',
      uid: 'uid-w',
      resourceVersion,
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: {},
  },
  engine,
})

/** Of a store whose writes get the next version. */
function writer(controllers: readonly Controller[], write = async (one: StoredObject) => one): ObjectStore {
  const next = (one: StoredObject): Promise<StoredObject> => {
    const { object, engine } = one
    const resourceVersion = String(Number(object.metadata.resourceVersion) + 1)
    return write({ object: { ...object, metadata: { ...object.metadata, resourceVersion } }, engine })
  }
  const store = { create: next, replace: next, remove: next } as unknown as ObjectStore
  const queueOf = ({ name }: { readonly name: string }): WorkQueue => {
    asked.push(name)
    return { send: send(name) } as unknown as WorkQueue
  }
  return withDirectWake(store, { controllers, queueOf, clock, logger })
}

const widget = widgets([], () => done())

describe('a write of the API', () => {
  it.each<[string, (store: ObjectStore) => Promise<StoredObject>, 'added' | 'modified', Touched]>([
    ['that creates', (store) => store.create(stored('4')), 'added', ['spec']],
    ['of a spec', (store) => store.replace(stored('4'), ['spec']), 'modified', ['spec']],
    ['that deletes', (store) => store.replace(stored('4'), ['delete']), 'modified', ['delete']],
    ['of a label', (store) => store.replace(stored('4'), ['labels']), 'modified', ['labels']],
  ])('%s sends what the relay sends, under the same id', async (_, write, type, touched) => {
    const written = await write(writer([widget]))
    const change = { type, touched, stored: written }
    const targets = (
      await Promise.all(routesOf(widget, {} as ObjectIndex).map(async (one) => one.targets(change, [])))
    ).flat()
    expect(sent).toEqual(targets.map((target) => ({ loop: 'widget', wakeUp: wakeUpOf(target, change) })))
    if (sent.length > 0) expect(sent[0]?.wakeUp.dedupId).toBe('uid-w:5')
  })

  it('of a status, or of what the engine keeps, wakes nobody', async () => {
    await writer([widget]).replace(stored('4'), ['status', 'engine'])
    await writer([widget]).remove(stored('4'))
    expect([sent, asked]).toEqual([[], []])
  })

  it('that fails, or whose end nobody knows, wakes nobody: the relay does if it came about', async () => {
    const unknown = async (): Promise<never> => {
      throw new OperatingError('WRITE_UNKNOWN', 'no answer')
    }
    await expect(writer([widget], unknown).create(stored('4'))).rejects.toThrow('no answer')
    expect(sent).toEqual([])
  })

  it('wakes when it is there, and not before', async () => {
    const there = Promise.withResolvers<StoredObject>()
    const write = writer([widget], () => there.promise).replace(stored('4'), ['spec'])
    await clock.advance(1_000)
    expect(sent).toEqual([])
    there.resolve(stored('5'))
    await write
    expect(sent).toHaveLength(1)
    expect(clock.nextDueMs()).toBeUndefined()
  })

  it('succeeds though the queue is away, and says so in the log', async () => {
    send = () => async () => {
      throw new OperatingError('UNAVAILABLE', 'no queue')
    }
    await writer([widget]).replace(stored('4'), ['spec'])
    expect(lines).toHaveLength(1)
  })

  it('waits for a queue that does not answer for three tenths of a second', async () => {
    send = () => () => new Promise(() => {})
    const beganMs = clock.nowMs()
    const write = writer([widget]).replace(stored('4'), ['spec'])
    expect(clock.nextDueMs()).toBeUndefined()
    await clock.advance(0)
    expect(clock.nextDueMs()).toBe(beganMs + 300)
    await clock.advance(300)
    await write
  })
})

describe('an object', () => {
  it('that refers to others is left to the relay, which notes to whom before it wakes it', async () => {
    const referring = widgets([], () => done(), { watches: [reference(ConfigMap, () => ({ name: 'parts' }))] })
    await writer([referring]).replace(stored('4'), ['spec'])
    expect(sent).toEqual([])
  })

  it('that is debounced is left to the relay', async () => {
    await writer([widgets([], () => done(), { debounce: '5s' })]).replace(stored('4'), ['spec'])
    expect(sent).toEqual([])
  })

  it('that is held is left to the relay, which ends the hold', async () => {
    await writer([widget]).replace(stored('4', { hold: { handle: 'h', untilMs: 9 } }), ['spec'])
    expect(sent).toEqual([])
  })

  it('of a kind that nobody runs wakes nobody', async () => {
    await writer([]).replace(stored('4'), ['spec'])
    expect([sent, lines]).toEqual([[], []])
  })
})
