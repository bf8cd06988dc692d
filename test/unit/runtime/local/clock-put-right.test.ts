import { expect, it } from 'vitest'
import { done } from '../../../../shared/index.ts'
import { startLocalCore } from '../../../../shared/runtime/local/core.ts'
import { openLocalPorts } from '../../../../shared/runtime/local/ports.ts'
import { createTestEnv } from '../../../../shared/testing/test-env.ts'
import type { Clock } from '../../../../shared/ports/clock.ts'
import { Widget, widgets } from '../../../acceptance/support/widgets.ts'

/** A clock of the machine that can be put right; the steady one only passes. */
let offsetMs = 0
const movable = (clock: Clock): Clock => ({
  nowMs: () => clock.nowMs() + offsetMs,
  steadyMs: () => clock.nowMs(),
  sleep: (ms, signal) => clock.sleep(ms, signal),
  ...(clock.nextTurn && { nextTurn: clock.nextTurn }),
})

it.each([
  ['stays', 0],
  ['is put back by an hour', -3_600_000],
  ['is put forward by an hour', 3_600_000],
])('a failed run is tried again after its backoff of a second, though the clock %s', async (_, byMs) => {
  offsetMs = 0
  let runs = 0
  const controller = widgets([], async () => {
    runs++
    if (runs === 1) throw new Error('fails once')
    return done()
  })
  await using env = await createTestEnv({
    reconcilers: [controller],
    engine: async (clock) => ({
      ports: openLocalPorts(':memory:', movable(clock)),
      start: (options) => startLocalCore({ ...options, clock: movable(clock) }),
      isQuiet: () => true,
    }),
  })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 1 } })
  await env.advance('200ms')
  const before = runs
  offsetMs = byMs
  await env.advance('10m')
  const after = runs
  expect({ before, after }).toEqual({ before: 1, after: 2 })
})
