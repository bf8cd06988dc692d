import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { defineKind, defineReconciler, done } from '../../shared/index.ts'
import { startWholePath } from './whole-path.ts'

/**
 * `queues: N` as it is deployed: the functions over FIFO queues, and a number of queues that changes while messages
 * are in flight. The clock of all functions is moved over the quarter of an hour that a new number takes to hold;
 * what a queue hides is hidden in real time.
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
const noticeMs = 15 * 60_000

it(
  'a key has one holder and no wake-up is lost while the number of its queues changes',
  { timeout: 600_000 },
  async () => {
    const saw = new Map<string, number>()
    const running = new Set<string>()
    const overlaps: string[] = []
    let [used, aheadMs, isSlow] = [1, 0, false]
    const tasks = defineReconciler(Task, {
      timeout: '5s',
      resync: false,
      async reconcile({ metadata: { name }, spec: { size } }) {
        if (running.has(name)) overlaps.push(name)
        running.add(name)
        // Longer than the next edit takes to come out of another queue.
        await sleep(isSlow ? 4_000 : 30)
        saw.set(name, size)
        running.delete(name)
        return done({ status: { size } })
      },
    })
    await using plane = await startWholePath({
      controllers: [tasks],
      spread: { controller: 'task', queues: 4, used: () => used },
      skewMs: () => aheadMs,
      visibilitySeconds: 10,
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
    /** Edits without a pause; half way the time comes at which the new number holds. */
    const editOver = async (moment: () => void): Promise<void> => {
      for (let round = 0; round < 8; round++) {
        if (round === 4) moment()
        for (const name of names) await put(`PATCH ${path}/${name}`, name)
      }
    }
    const allSeen = async (): Promise<void> => {
      await expect.poll(() => Object.fromEntries(saw), { timeout: 120_000 }).toEqual(Object.fromEntries(last))
    }
    /** Whole rounds of edits reach the queues of a number that holds. */
    const queuesInUse = async (): Promise<number> => {
      plane.countHanded()
      await editOver(() => {})
      await allSeen()
      return plane.countHanded()
    }

    for (const name of names) await put(`POST ${path}`, name)
    await allSeen()
    expect(await queuesInUse()).toBe(1)
    for (const count of [4, 1]) {
      used = count
      // The step before it is over then, and this one is noted.
      aheadMs += noticeMs + 60_000
      await plane.tick()
      aheadMs += noticeMs - 5_000
      isSlow = true
      await editOver(() => (aheadMs += 10_000))
      isSlow = false
      await allSeen()
      // What waited for older runs has had its turn.
      expect(await queuesInUse()).toBe(count)
    }
    expect(overlaps).toEqual([])
    expect(await plane.deadLetters()).toBe(0)
  },
)
