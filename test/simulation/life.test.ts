import { expect, it } from 'vitest'
import { clearSky } from './climate.ts'
import { createLife, through } from './life.ts'
import { beginMs, createWorld } from './world.ts'

it('makes a late request without its process, which may stand still by then', async () => {
  const world = createWorld(1)
  const life = createLife({ world, name: 'process', version: 1, skewMs: () => 0 })
  const made: unknown[][] = []
  const table = { put: async (...args: unknown[]) => void made.push([world.nowMs() - beginMs < 10_000, ...args]) }
  // 0.9 of all unknown ones are late.
  const random = { ...world.random, next: () => 0.9 }
  const climate = { ...clearSky, unknown: 1 }
  const seen = through(table, 'table', {
    network: { world, random, climate: () => climate, isCalm: () => true },
    life,
    writes: ['put'],
    findAhead: async (args) => {
      await life.pass(100)
      return `found for ${String(args[0])}`
    },
  })
  const answer = seen.put('one').catch((error: unknown) => {
    life.freeze()
    return error
  })
  await world.runUntil(beginMs + 60_000)
  expect(await answer).toMatchObject({ code: 'WRITE_UNKNOWN' })
  expect(made).toEqual([[true, 'one', 'found for one']])
})
