import { beforeEach, expect, it } from 'vitest'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import type { InHand } from '../../../../shared/ports/in-hand.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import { SlowTurns } from '../../../../shared/runtime/aws/slow-turns.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { createInHand } from '../../../support/in-hand.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/** What a function says of its turns. */
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }
const key = { group: '', kind: '', namespace: '', name: '' }
const signal = new AbortController().signal
const functionMs = 75_000

let clock: ReturnType<typeof createVirtualClock>
let inHand: InHand
let requests: number
let turns: SlowTurns

beforeEach(() => {
  clock = createVirtualClock(1_000_000)
  const board = createInHand(clock)
  requests = 0
  inHand = {
    note: (...args) => counted(board.note(...args)),
    strike: (...args) => counted(board.strike(...args)),
    look: board.look,
  }
  turns = new SlowTurns({ inHand, clock, random: createSeededRandom(1), logger, queueNameOf: () => 'system' })
  turns.begin(clock.nowMs() + functionMs)
})

async function counted(request: Promise<void>): Promise<void> {
  requests++
  await request
}

const sweep = { origin: 'resync', lane: 'background' } as const
const timer = { origin: 'timer', lane: 'background' } as const
const change = { origin: 'change', lane: 'urgent' } as const

function run(ms: number, ...wakeUps: readonly Partial<WakeUp>[]): Promise<void> {
  const turn = { key, wakeUps: wakeUps.map((one) => ({ key, dedupId: '', reason: '', ...one })) } as unknown as Turn
  return turns.watch('shelf', () => clock.sleep(ms))(turn, signal)
}

const ranks = async (): Promise<readonly string[]> => (await inHand.look('system')).notes.map(({ rank }) => rank)
const slowMs = async (): Promise<number | undefined> => (await inHand.look('system')).slowMs.get('shelf')

it('a turn that is quick costs no request', async () => {
  const ran = Promise.all([run(300, sweep), run(300, timer)])
  await clock.advance(300)
  await ran
  expect(requests).toBe(0)
})

it('one that is not is noted after 0.4 s, with its loop, until it ends', async () => {
  const ran = run(5_000, sweep)
  await clock.advance(399)
  expect(await ranks()).toEqual([])
  await clock.advance(1)
  expect(await ranks()).toEqual(['sweep'])
  expect(await slowMs()).toBe(1_000_400)
  await clock.advance(4_600)
  await ran
  expect(await ranks()).toEqual([])
})

it('is noted from its begin where turns of the loop were slow of late', async () => {
  const first = run(1_000, timer)
  await clock.advance(1_000)
  await first
  const ran = run(1_000, timer)
  await clock.advance(0)
  expect(await ranks()).toEqual(['timer'])
  await clock.advance(1_000)
  await ran
  expect(await ranks()).toEqual([])
  // What was said is not said again at once.
  expect(await slowMs()).toBe(1_000_400)
})

it('several of a batch are one note, until the last one ends', async () => {
  const ran = Promise.all([run(1_000, sweep), run(3_000, sweep), run(2_000, timer)])
  await clock.advance(500)
  expect((await ranks()).toSorted()).toEqual(['sweep', 'timer'])
  await clock.advance(1_600)
  expect(await ranks()).toEqual(['sweep'])
  await clock.advance(1_000)
  await ran
  expect(await ranks()).toEqual([])
})

it('a ticket is noted for as long as the function may take, and struck at the end of the turn', async () => {
  await inHand.note('system', [{ id: 't1', rank: 'sweep', untilMs: clock.nowMs() + 1_000 }])
  const ran = run(20_000, { ...sweep, ticket: 't1' })
  await clock.advance(10_000)
  expect((await inHand.look('system')).notes).toEqual([{ id: 't1', rank: 'sweep', untilMs: 1_000_000 + functionMs }])
  await clock.advance(10_000)
  await ran
  expect(await inHand.look('system')).toEqual({ notes: [], slowMs: new Map([['shelf', 1_020_000]]) })
})

it('a quick turn with a ticket says nothing of its loop', async () => {
  const ran = run(50, { ...sweep, ticket: 't1' })
  await clock.advance(50)
  await ran
  expect(await inHand.look('system')).toEqual({ notes: [], slowMs: new Map() })
})

it('a change may take as long as it does, also if a sweep with a ticket came with it', async () => {
  const ran = Promise.all([run(5_000, change), run(5_000, change, { ...sweep, ticket: 't1' })])
  await clock.advance(5_000)
  await ran
  expect(await inHand.look('system')).toEqual({ notes: [], slowMs: new Map() })
})

it('a turn that fails is over, too', async () => {
  const turn = { key, wakeUps: [{ key, dedupId: '', reason: '', ...sweep, ticket: 't1' }] } as unknown as Turn
  const failing = turns.watch('shelf', () => Promise.reject(new Error('away')))
  await expect(failing(turn, signal)).rejects.toThrow('away')
  expect(await ranks()).toEqual([])
})

it('a turn goes on though nobody can be told of it', async () => {
  const away = { note: () => Promise.reject(new Error('away')), strike: () => Promise.reject(new Error('away')) }
  turns = new SlowTurns({
    inHand: { ...away, look: inHand.look },
    clock,
    random: createSeededRandom(1),
    logger,
    queueNameOf: () => 'system',
  })
  const ran = Promise.all([run(1_000, sweep), run(1_000, { ...sweep, ticket: 't1' })])
  await clock.advance(1_000)
  await expect(ran).resolves.toHaveLength(2)
})
