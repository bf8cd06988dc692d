import { expect, it } from 'vitest'
import { Canary } from 'setpoint'
import { createTestEnv } from 'setpoint/testing'
import { Banner, reconcilers } from './canary.ts'

it('is loud in a part of all banners first, and then in all', async () => {
  await using env = await createTestEnv({ reconcilers })
  for (let i = 0; i < 20; i++) await env.apply(Banner, { metadata: { name: `b${i}` }, spec: { text: 'sale' } })
  await env.settle()
  const countLoud = async () => (await env.list(Banner)).filter(({ status }) => status?.shown === 'SALE').length
  expect(await countLoud()).toBe(0)

  await env.apply(Canary, { metadata: { name: 'banner' }, spec: { version: 'loud', shares: [50], hold: '10m' } })
  await env.advance('1m')
  expect(await countLoud()).toBeGreaterThan(0)
  expect(await countLoud()).toBeLessThan(20)

  await env.advance('11m')
  expect(await countLoud()).toBe(20)
})
