import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runTwice } from './run-seed.ts'
import { runPool } from './seed-pool.ts'
import type { Regression } from './shrink.ts'

/** The short form; `npm run sim -- --seeds A..B` goes on for as long as told. Every seed runs twice. */
const seeds = 500
const threads = 2

describe('the control plane on simulated AWS', () => {
  it(`breaks no promise in ${seeds} seeds, and runs the same twice`, async () => {
    const { broken, seeds: ran } = await runPool({ from: 1, to: seeds, threads })
    expect(broken.map(({ seed, violations }) => `npm run sim -- --seed ${seed}: ${violations[0]}`)).toEqual([])
    expect(ran).toBe(seeds)
  }, 300_000)

  const folder = join(import.meta.dirname, 'regressions')
  it.each(readdirSync(folder))(
    'keeps what once was broken: %s',
    async (file) => {
      const { scenario } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Regression
      expect((await runTwice(scenario)).violations).toEqual([])
    },
    60_000,
  )
})
