import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { createReconcileKey } from '../../../../shared/engine/turn/reconcile-key.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import { done } from '../../../../shared/index.ts'
import { createResources } from '../../../../shared/resources/create-resources.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { widgets, type RunRecord } from '../../../acceptance/support/widgets.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/** An object whose kind this process has not heard of, since its definition was written a moment ago by another. */
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }
const key = { group: 'example.com', kind: 'Widget', namespace: 'default', name: 'w' }

let opened: OpenSqlite
let runs: RunRecord[]
beforeEach(() => {
  opened = openSqlite(':memory:')
  runs = []
})
afterEach(() => opened.close())

async function take(receiveCount: number): Promise<readonly string[]> {
  const clock = createVirtualClock()
  const random = createSeededRandom(1)
  const controller = widgets(runs, () => done())
  const run = createReconcileKey(
    { ...controller, kind: { ...controller.kind, group: key.group } },
    {
      ...opened,
      resources: createResources({ ...opened, clock, random }),
      catalog: {
        byKind: async () => {},
        byPlural: async () => {},
        inVersion: async () => {},
        all: async () => [],
        listStored: async () => [],
      },
      clock,
      random,
      logger,
      telemetry: createPrometheusTelemetry(),
      events: { record: async () => true },
    },
  )
  const calls: string[] = []
  const turn: Turn = {
    key,
    wakeUps: [],
    receiveCount,
    isRepeated: false,
    handle: 'h',
    isNearReceiveLimit: false,
    hold: async (ms) => void calls.push(`hold ${ms}`),
    delay: async (ms) => void calls.push(`delay ${ms}`),
    isWanted: async () => false,
    settle: async () => void calls.push('settle'),
  }
  await run(turn, new AbortController().signal)
  expect(runs).toEqual([])
  return calls
}

describe('a key of a kind that is not known', () => {
  it('is looked at again, for its definition may be newer than what is known', async () => {
    await opened.store.create(storedWidget('w'))
    expect(await take(1)).toEqual(['delay 2000'])
  })

  it('is let go after a few looks', async () => {
    await opened.store.create(storedWidget('w'))
    expect(await take(5)).toEqual(['settle'])
  })

  it('is let go at once if there is no object', async () => {
    expect(await take(1)).toEqual(['settle'])
  })
})
