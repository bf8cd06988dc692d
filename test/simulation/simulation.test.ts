import { describe, expect, it } from 'vitest'
import { simulate } from './simulate.ts'

/** The short form; `npm run sim -- --seeds A..B` goes on for as long as told. Every seed runs twice. */
const seeds = Array.from({ length: 10 }, (_, ten) => Array.from({ length: 10 }, (__, one) => ten * 10 + one + 1))

describe('the engine on simulated AWS', () => {
  it.each(seeds.map((ten) => ({ ten, name: `${ten[0]} to ${ten.at(-1)}` })))(
    'breaks no promise with seeds $name, and runs the same twice',
    async ({ ten }) => {
      for (const seed of ten) {
        const result = await simulate({ seed })
        expect(result.violations, `seed ${seed}`).toEqual([])
        expect((await simulate({ seed })).trace, `seed ${seed}`).toEqual(result.trace)
      }
    },
    60_000,
  )
})
