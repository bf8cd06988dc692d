import { describe, expect, it } from 'vitest'
import { createSeededRandom, xoshiro128 } from '../../../shared/testing/seeded-random.ts'

describe('xoshiro128**', () => {
  it('draws what the reference implementation (version 1.1) draws', () => {
    const draw = xoshiro128([1, 2, 3, 4])
    const reference = [
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
    ]
    expect(Array.from(reference, draw)).toEqual(reference)
  })
})

describe('seeded chance', () => {
  it('is the same for a seed, today and tomorrow', () => {
    const random = createSeededRandom(42)
    expect([random.next(), random.next(), random.uuid(), random.uuid()]).toEqual(golden)
  })

  it('differs between seeds that are close', () => {
    const first = Array.from({ length: 100 }, (_, seed) => createSeededRandom(seed).next())
    expect(new Set(first).size).toBe(100)
  })

  it('is spread over [0, 1)', () => {
    const random = createSeededRandom(1)
    const draws = Array.from({ length: 10_000 }, () => random.next())
    expect(Math.min(...draws)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...draws)).toBeLessThan(1)
    for (let tenth = 0; tenth < 10; tenth++) {
      const share = draws.filter((draw) => Math.floor(draw * 10) === tenth).length / draws.length
      expect(Math.abs(share - 0.1)).toBeLessThan(0.02)
    }
  })

  it('makes uuids of version 4, all different', () => {
    const random = createSeededRandom(1)
    const uuids = Array.from({ length: 1_000 }, () => random.uuid())
    for (const uuid of uuids)
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Set(uuids).size).toBe(1_000)
  })

  it('forks streams by name that leave each other alone', () => {
    const draws = (disturb: boolean): readonly number[] => {
      const random = createSeededRandom(5)
      const [store, queue] = [random.fork('store'), random.fork('queue')]
      if (disturb) store.next()
      return [queue.next(), queue.next(), random.next()]
    }
    expect(draws(true)).toEqual(draws(false))
    const random = createSeededRandom(5)
    expect(random.fork('store').next()).not.toBe(random.fork('queue').next())
  })
})

const golden = [
  0.15377165265745885,
  0.018084542542176507,
  '88ee979c-e1aa-4265-ba2c-e7a870bdbb6c',
  '92aa4bff-ce9b-45df-89a7-4b5799e348e6',
]
