import { expect, it } from 'vitest'
import type { Checkpoint } from '../../../shared/ports/checkpoint.ts'
import { createReadiness } from '../../../shared/runtime/readiness.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

function probing(save: () => Promise<void>) {
  const clock = createVirtualClock()
  const saved: string[] = []
  const probe: Checkpoint = {
    load: () => Promise.resolve('never asked'),
    save: (value) => {
      saved.push(value)
      return save()
    },
  }
  return { clock, saved, isReady: createReadiness(probe, clock) }
}

it('is what a write says', async () => {
  expect(await probing(async () => {}).isReady()).toBe(true)
  expect(await probing(() => Promise.reject(new Error('disk is full'))).isReady()).toBe(false)
})

it('writes once a second, however many ask', async () => {
  const { clock, saved, isReady } = probing(async () => {})
  expect(await Promise.all(Array.from({ length: 100 }, isReady))).toEqual(Array.from({ length: 100 }, () => true))
  expect(saved).toHaveLength(1)
  await clock.advance(1_000)
  await isReady()
  expect(saved).toHaveLength(2)
})

it('does not wait for a write that does not end', async () => {
  const { clock, isReady } = probing(() => new Promise(() => {}))
  const asked = isReady()
  await clock.advance(2_000)
  expect(await asked).toBe(false)
})
