import { expect, it } from 'vitest'
import { banners, reconcilers } from '../../examples/canary/canary.ts'
import { startWholePath } from './whole-path.ts'
import { longOnly } from '../support/strength.ts'

const paths = {
  banners: '/apis/example.dev/v1/namespaces/default/banners',
  canaries: '/apis/release.setpoint.dev/v1alpha1/canaries',
}

it('a share of the objects runs new code through the functions, and then all do', longOnly, async () => {
  await using plane = await startWholePath({ controllers: reconcilers, queue: { concurrency: 2 } })
  const count = 12
  for (let i = 0; i < count; i++)
    await plane.request(`POST ${paths.banners}`, { metadata: { name: `b${i}` }, spec: { text: 'sale' } })
  const shown = async (): Promise<readonly string[]> => {
    const { body } = await plane.request(`GET ${paths.banners}`)
    return body.items.map(({ status }: { status?: { shown?: string } }) => status?.shown)
  }
  const patience = { timeout: 60_000, interval: 100 }
  await expect.poll(shown, patience).toEqual(Array(count).fill('sale'))

  const canary = { metadata: { name: banners.name }, spec: { version: 'loud', shares: [50] } }
  expect(await plane.request(`POST ${paths.canaries}`, canary)).toMatchObject({ status: 201 })
  await expect.poll(async () => (await shown()).filter((one) => one === 'SALE').length, patience).toBeGreaterThan(0)
  expect(await shown()).toContain('sale')

  const word = { spec: { decision: 'Promote' } }
  await plane.request(`PATCH ${paths.canaries}/${banners.name}`, word, 'application/merge-patch+json')
  await expect.poll(shown, patience).toEqual(Array(count).fill('SALE'))
})
