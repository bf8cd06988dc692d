import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'

it('K3 passes, and leaves an error behind that nobody catches', async () => {
  void Promise.reject(new Error('planted: nobody catches this'))
  await sleep(20)
  expect(true).toBe(true)
})
