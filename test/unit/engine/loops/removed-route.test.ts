import { describe, expect, it } from 'vitest'
import { createRemovedRoute } from '../../../../shared/engine/loops/removed/route.ts'
import type { RemovedRecord } from '../../../../shared/engine/state/removed-record.ts'
import { done } from '../../../../shared/index.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { ObjectKey } from '../../../../shared/model/object-key.ts'
import { OperatingError, type ErrorCode } from '../../../../shared/model/errors.ts'
import type { Logger } from '../../../../shared/ports/logger.ts'
import type { Part, StoredObject } from '../../../../shared/model/stored-object.ts'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const nowMs = 1_000_000
const key = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' }

function changeOf(type: Change['type'], kind = 'Widget'): Change {
  const { object } = storedWidget('w')
  return {
    type,
    touched: ['spec'],
    stored: { object: { ...object, apiVersion: 'test.setpoint.dev/v1', kind }, engine: {} },
  }
}

/** Whom a change wakes where this record is there, and what is kept. */
async function wokenBy(change: Change, record?: EngineState, refusal?: OperatingError) {
  const told: string[] = []
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (message) => void told.push(message),
    with: () => logger,
  }
  const written: StoredObject[] = []
  const asked: ObjectKey[] = []
  const write = async (one: StoredObject): Promise<StoredObject> => {
    if (refusal !== undefined) throw refusal
    written.push(one)
    return one
  }
  const store = {
    get: async (at: ObjectKey) => {
      asked.push(at)
      if (refusal?.code === 'DAMAGED') throw refusal
      return record && { object: { ...changeOf('removed').stored.object, removed: [] }, engine: record }
    },
    create: write,
    replace: write,
  } as unknown as ObjectStore
  const route = createRemovedRoute(
    widgets([], () => done()),
    {
      store,
      clock: createVirtualClock(nowMs),
      logger,
      events: { record: async (about, { reason }) => told.push(`${about.metadata.name} ${reason}`) > 0 },
    },
  )
  const targets = await route.targets(change, [])
  return { route, targets, written, asked, told }
}

const held: EngineState = { hold: { handle: 'h', untilMs: 5 } }

describe('the removal of an object', () => {
  it('is kept, and then wakes the key that it had', async () => {
    const { route, targets, written, asked } = await wokenBy(changeOf('removed'))
    expect([route.name, route.debounceMs]).toEqual(['widget', 0])
    expect(asked).toEqual([{ ...key, group: 'removed.test.setpoint.dev' }])
    expect(written.map(({ object }) => (object as RemovedRecord).removed.length)).toEqual([1])
    expect(targets).toEqual([{ key, stored: written[0], lane: 'urgent', reason: 'Widget w was removed' }])
  })

  it('of an object that was removed before is added to its record, held or not', async () => {
    for (const record of [{}, held]) {
      const { targets, written } = await wokenBy(changeOf('removed'), record)
      expect([written.length, targets.length]).toEqual([1, 1])
    }
  })

  it.each<ErrorCode>(['TOO_LARGE', 'DAMAGED'])('whose last state cannot be kept (%s) is told of', async (code) => {
    const { targets, told } = await wokenBy(changeOf('removed'), {}, new OperatingError(code, 'no'))
    expect([targets, told]).toEqual([[], ['no last run of a removed object: it cannot be kept', 'w LastRunLost']])
  })

  it('is told again where the store is away', async () => {
    const away = new OperatingError('UNAVAILABLE', 'away')
    await expect(wokenBy(changeOf('removed'), {}, away)).rejects.toBe(away)
  })

  it('of another kind is nothing to it', async () => {
    const { targets, asked } = await wokenBy(changeOf('removed', 'Gadget'))
    expect([targets, asked]).toEqual([[], []])
  })
})

describe('a record whose wait goes on without its message', () => {
  const wait: EngineState = { wait: { kind: 'Requeue', atMs: nowMs + 2_000, generation: 1 } }
  const ofRecord = (touched: readonly Part[], engine = wait, group = 'removed.test.setpoint.dev'): Change => {
    const { object } = changeOf('modified').stored
    return { type: 'modified', touched, stored: { object: { ...object, apiVersion: `${group}/v1` }, engine } }
  }

  it('is woken for its time by the key that it shares', async () => {
    const change = ofRecord(['engine', 'timer'])
    const { targets, asked } = await wokenBy(change)
    const { stored } = change
    expect(targets).toEqual([{ key, stored, lane: 'background', reason: 'its wait continues', dueAtMs: nowMs + 2_000 }])
    expect(asked).toEqual([key])
  })

  it.each([
    ['its write asks for no timer', ofRecord(['meta', 'engine']), undefined],
    ['it waits for nothing', ofRecord(['timer'], {}), undefined],
    ['it is of another kind', ofRecord(['timer'], wait, 'removed.other.setpoint.dev'), undefined],
    ['there is an object of its name again', ofRecord(['timer']), {}],
  ])('is left alone where %s', async (_what, change, present) => {
    const { targets, written } = await wokenBy(change, present)
    expect([targets, written]).toEqual([[], []])
  })
})

describe('a new object of a name', () => {
  it.each([
    ['that has no record', undefined, []],
    ['whose record waits for nothing', {}, []],
    ['whose record is held', held, ['Widget w is there again']],
  ])('%s wakes %j', async (_what, record, reasons) => {
    const { targets, written } = await wokenBy(changeOf('added'), record)
    expect([targets.map(({ reason }) => reason), written]).toEqual([reasons, []])
  })

  it('is woken by what somebody else writes, and by nothing that its own runs write', async () => {
    const parts: readonly Part[] = [
      'spec',
      'labels',
      'annotations',
      'control',
      'meta',
      'delete',
      'status',
      'engine',
      'timer',
    ]
    const woken = parts.map((part) => wokenBy({ ...changeOf('modified'), touched: [part] }, held))
    const counts = (await Promise.all(woken)).map(({ targets, asked }) => [targets.length, asked.length])
    expect(counts).toEqual([...parts.slice(0, 6).map(() => [1, 1]), ...parts.slice(6).map(() => [0, 0])])
  })
})
