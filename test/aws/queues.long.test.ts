import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { findQueue } from '../../shared/engine/wake/queue-plan.ts'
import { defineKind, defineReconciler, done } from '../../shared/index.ts'
import { startWholePath } from './whole-path.ts'

/**
 * `queues: N` as it is deployed: the functions over FIFO queues, and a number of queues that changes while messages
 * are in flight. The clock of all functions is moved over the quarter of an hour that a new number takes to hold. Just
 * before that it stands still until objects run: a busy machine may take any time for it. What a queue hides is hidden
 * in real time.
 */

const Task = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Task',
  spec: z.object({ size: z.int() }),
  status: z.object({ size: z.int() }).partial(),
})
const path = '/apis/example.dev/v1/namespaces/default/tasks'
const names = Array.from({ length: 12 }, (_, i) => `t${i}`)
/** One change after the other. */
const restMs = 16 * 60_000
const most = 4

/** The queue of an object when there are so many. */
function homeOf(name: string, count: number): number {
  return findQueue([[count, 0]], { group: 'example.dev', kind: 'Task', namespace: 'default', name }, 0)
}

/** Objects whose queue changes with the number of queues. */
const movers = names.filter((name) => homeOf(name, most) !== homeOf(name, 1))

/** The machine's clock, so much ahead as it was told last, or standing still there. */
function createMovedClock() {
  let aheadMs = 0
  let stillMs: number | undefined
  const nowMs = (): number => stillMs ?? systemClock.nowMs() + aheadMs
  return {
    nowMs,
    sleep: systemClock.sleep,
    goOn: (moreMs: number): void => {
      aheadMs = nowMs() + moreMs - systemClock.nowMs()
      stillMs = undefined
    },
    standStill: (moreMs: number): void => void (stillMs = nowMs() + moreMs),
  }
}

it(
  'a key has one holder and no wake-up is lost while the number of its queues changes',
  { timeout: 900_000 },
  async () => {
    const saw = new Map<string, number>()
    const running = new Set<string>()
    const overlaps: string[] = []
    const gate = { isShut: false }
    let used = 1
    const clock = createMovedClock()
    const tasks = defineReconciler(Task, {
      timeout: '60s',
      resync: false,
      async reconcile({ metadata: { name }, spec: { size } }) {
        if (running.has(name)) overlaps.push(name)
        running.add(name)
        // Until the next edit came out of another queue; but no longer than a run may take.
        const endMs = performance.now() + 50_000
        await sleep(30)
        while (gate.isShut && performance.now() < endMs) await sleep(30)
        saw.set(name, size)
        running.delete(name)
        return done({ status: { size } })
      },
    })
    await using plane = await startWholePath({
      controllers: [tasks],
      spread: { controller: 'task', queues: most, used: () => used },
      clock,
      visibilitySeconds: 90,
      timeoutMs: 75_000,
      queue: { concurrency: 2 },
    })
    const last = new Map<string, number>()
    let size = 0
    const put = async (line: string, name: string): Promise<void> => {
      const body = { metadata: { name }, spec: { size: ++size } }
      const type = line.startsWith('POST') ? 'application/json' : 'application/merge-patch+json'
      const { status } = await plane.request(line, body, type)
      expect(status).toBeLessThan(300)
      last.set(name, size)
    }
    const edit = async (some: readonly string[]): Promise<void> => {
      for (const name of some) await put(`PATCH ${path}/${name}`, name)
    }
    const allSeen = async (): Promise<void> => {
      await expect.poll(() => Object.fromEntries(saw), { timeout: 240_000 }).toEqual(Object.fromEntries(last))
    }
    /** Whole rounds of edits reach the queues of a number that holds. */
    const queuesInUse = async (): Promise<number> => {
      plane.takeHanded()
      for (let round = 0; round < 4; round++) await edit(names)
      await allSeen()
      return plane.takeHanded().size
    }
    /**
     * Objects run from their old queues when the number changes, and are edited then: the new queues hand them out
     * while they run.
     */
    const changeInFlight = async (count: number): Promise<void> => {
      gate.isShut = true
      await edit(movers)
      await expect.poll(() => running.size, { timeout: 60_000 }).toBeGreaterThan(1)
      clock.goOn(10_000)
      plane.takeHanded()
      const inFlight = [...running]
      await edit(inFlight)
      const homes = new Set(inFlight.map((name) => homeOf(name, count)))
      await expect
        .poll(() => overlaps.length > 0 || [...plane.takeHanded()].some((queue) => homes.has(queue)), {
          timeout: 60_000,
          interval: 20,
        })
        .toBe(true)
      expect(overlaps, 'an object runs from its new queue, and still from its old one').toEqual([])
      expect(
        inFlight.some((name) => running.has(name)),
        'no run was in flight any more',
      ).toBe(true)
      gate.isShut = false
      await edit(names)
      await allSeen()
    }

    for (const name of names) await put(`POST ${path}`, name)
    await allSeen()
    expect(await queuesInUse()).toBe(1)
    for (const [count, noticeMs] of [
      [most, 15 * 60_000],
      [1, 130_000],
    ] as const) {
      used = count
      // The step before it is over then, and this one is noted.
      clock.goOn(restMs)
      await plane.tick()
      clock.standStill(noticeMs - 5_000)
      await changeInFlight(count)
      // What waited for older runs has had its turn.
      expect(await queuesInUse()).toBe(count)
    }
    expect(overlaps).toEqual([])
    expect(await plane.deadLetters()).toBe(0)
  },
)
