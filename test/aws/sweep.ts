import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
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
 * Very many objects that are resynced each hour, and a person who edits some of them in the minute of a tick: the real
 * functions, over FIFO queues and a table, on a clock that goes slowly, so that a loaded machine is as quick as
 * functions are. Ten turns go on at once, as in a stack with the defaults.
 */
interface Sea {
  readonly objects: number
  readonly slowness: number
  /** Of the reconciler in a resync; the read ahead of it and what comes after it take some tens of milliseconds. */
  readonly runMs: number
  readonly edits: number
  /** From one edit to the next. */
  readonly editMs: number
}

const Buoy = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Buoy',
  spec: z.object({ color: z.string() }),
  status: z.object({ color: z.string() }).partial(),
})
/** Of the reconciler for a change. */
const changeMs = 60
const path = '/apis/example.dev/v1/namespaces/default/buoys'
const nameOf = (i: number): string => `b${i}`

function slowClock(slowness: number): Clock {
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

async function fill({ dynamodb: { transport }, table }: Services, objects: number): Promise<void> {
  const store = createDynamodbStore({ client: testClient(transport), table, clock: systemClock, random: systemRandom })
  for (let i = 0; i < objects; i += 500)
    await Promise.all(Array.from({ length: 500 }, (_, j) => store.create({ object: restingBuoy(i + j), engine: {} })))
}

interface Swept {
  readonly resyncs: number
  /** How long the changes waited at the most. */
  readonly waitMs: number
  readonly deadLetters: number
}

/**
 * Sweeps these objects once, while a person edits some of them. Where changes waited too long it sweeps them again on a
 * clock that goes half as fast: a machine under load is slower than functions are, and a defect is one at any speed.
 */
export async function sweep(sea: Sea): Promise<Swept> {
  const swept = await sweepOnce(sea)
  return swept.waitMs < waitMsMax ? swept : sweepOnce({ ...sea, slowness: 2 * sea.slowness })
}

/** What a change may wait behind resyncs. */
export const waitMsMax = 1_000

async function sweepOnce({ objects, slowness, runMs, edits, editMs }: Sea): Promise<Swept> {
  const clock = slowClock(slowness)
  // What was there before the stream is in none.
  const state = { isFilling: true, aheadMs: 0 }
  await using services = await startServices(() => state.isFilling, 1)
  await fill(services, objects)
  // The last records come a while after their writes, and would be changes of a hundred objects.
  await pause(3_000)
  state.isFilling = false

  const begunMs = new Map<string, number>()
  let resyncs = 0
  const buoys = defineReconciler(Buoy, {
    resync: '1h',
    async reconcile({ spec: { color } }) {
      if (color === 'red') resyncs++
      else begunMs.set(color, begunMs.get(color) ?? clock.nowMs())
      // A change waits for no other change.
      await clock.sleep(color === 'red' ? runMs : Math.min(runMs, changeMs))
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
    await pause(slowness * editMs)
    const color = `c${i}`
    sentMs.set(color, clock.nowMs())
    const edit = { spec: { color } }
    const { status } = await plane.request(
      `PATCH ${path}/${nameOf((i * 997) % objects)}`,
      edit,
      'application/merge-patch+json',
    )
    expect(status).toBe(200)
  }
  await ticking
  await expect.poll(() => begunMs.size, { timeout: 600_000, interval: 500 }).toBe(edits)

  const waits = [...sentMs].map(([color, atMs]) => (begunMs.get(color) ?? Infinity) - atMs)
  const swept = { resyncs, waitMs: Math.max(...waits), deadLetters: await plane.deadLetters() }
  console.log(`${resyncs} resyncs; ${edits} changes waited for ${swept.waitMs} ms at most`)
  return swept
}
