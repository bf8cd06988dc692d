import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { defineKind, defineReconciler, done } from '../../shared/index.ts'
import type { ApiObject } from '../../shared/model/object.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import { createDynamodbStore } from '../../shared/adapters/aws/dynamodb/dynamodb-store.ts'
import { testClient } from '../../shared/testing-aws/dynalite.ts'
import { pause } from '../support/lambda-driver.ts'
import { startServices, startWholePath, type Services } from './whole-path.ts'

/**
 * A hundred thousand objects that are resynced each hour, and a person who edits some of them in the minute of a tick:
 * the real functions, over FIFO queues and a table, on a clock that goes slowly, so that a loaded machine is as quick
 * as functions are. A turn takes 100 ms of that clock at most, and ten go on at once, as in a stack with the defaults.
 */

const objects = 100_000
const slowness = 16
/** With the read ahead of it and what comes after it, a turn takes a tenth of a second. */
const runMs = 60
const edits = 30

const Buoy = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Buoy',
  spec: z.object({ color: z.string() }),
  status: z.object({ color: z.string() }).partial(),
})
const path = '/apis/example.dev/v1/namespaces/default/buoys'
const nameOf = (i: number): string => `b${i}`

function slowClock(): Clock {
  const startMs = systemClock.nowMs()
  return {
    nowMs: () => startMs + Math.floor((systemClock.nowMs() - startMs) / slowness),
    sleep: (ms, signal) => systemClock.sleep(ms * slowness, signal),
  }
}

/** At rest, each since long ago. */
function restingBuoy(i: number): ApiObject {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const ready = { type: 'Ready', status: 'True', reason: 'Reconciled', message: '', lastTransitionTime }
  return {
    apiVersion: 'example.dev/v1',
    kind: 'Buoy',
    metadata: {
      name: nameOf(i),
      namespace: 'default',
      uid: randomUUID(),
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: lastTransitionTime,
    },
    spec: { color: 'red' },
    status: { color: 'red', observedGeneration: 1, conditions: [{ ...ready, observedGeneration: 1 }] },
  }
}

async function fill({ dynamodb: { transport }, table }: Services): Promise<void> {
  const store = createDynamodbStore({ client: testClient(transport), table, clock: systemClock, random: systemRandom })
  for (let i = 0; i < objects; i += 500)
    await Promise.all(Array.from({ length: 500 }, (_, j) => store.create({ object: restingBuoy(i + j), engine: {} })))
}

it(
  "a user's change waits less than a second behind the resyncs of 100,000 objects an hour",
  { timeout: 1_800_000 },
  async () => {
    const clock = slowClock()
    // What was there before the stream is in none.
    const state = { isFilling: true, aheadMs: 0 }
    await using services = await startServices(() => state.isFilling, 1)
    await fill(services)
    state.isFilling = false

    const begunMs = new Map<string, number>()
    let resyncs = 0
    const buoys = defineReconciler(Buoy, {
      resync: '1h',
      async reconcile({ spec: { color } }) {
        if (color === 'red') resyncs++
        else begunMs.set(color, begunMs.get(color) ?? clock.nowMs())
        await clock.sleep(runMs)
        return done({ status: { color } })
      },
    })
    await using plane = await startWholePath({
      controllers: [buoys],
      services: { ...services, [Symbol.asyncDispose]: async () => {} },
      clock,
      skewMs: () => state.aheadMs,
      tickTimeoutMs: slowness * 55_000,
      timeoutMs: slowness * 30_000,
      visibilitySeconds: 600,
      // As `feedingOf` has it for ten at once.
      queue: { concurrency: 2, batchSize: 5 },
    })

    const sentMs = new Map<string, number>()
    state.aheadMs += 60_000
    const ticking = plane.tick()
    for (let i = 0; i < edits; i++) {
      // All of them while the tick sends.
      await pause(slowness * 450)
      const color = `c${i}`
      sentMs.set(color, clock.nowMs())
      const edit = { spec: { color } }
      const { status } = await plane.request(`PATCH ${path}/${nameOf(i * 997)}`, edit, 'application/merge-patch+json')
      expect(status).toBe(200)
    }
    await ticking
    await expect.poll(() => begunMs.size, { timeout: 600_000, interval: 500 }).toBe(edits)

    const waits = [...sentMs].map(([color, atMs]) => (begunMs.get(color) ?? Infinity) - atMs)
    console.log(`${resyncs} resyncs; ${edits} changes waited for ${Math.max(...waits)} ms at most`)
    // A minute has 1,667 of an hour's, by chance more or fewer; the edits of some come first.
    expect(resyncs).toBeGreaterThan(1_400)
    expect(Math.max(...waits)).toBeLessThan(1_000)
    expect(await plane.deadLetters()).toBe(0)
  },
)
