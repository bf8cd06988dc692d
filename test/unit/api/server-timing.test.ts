import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHarness, type Harness } from './harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await createHarness({ isReady: async () => false })
})
afterAll(() => harness.close())

it.each(['/api/v1/namespaces', '/apis', '/api/v1/nothing', '/livez'])(
  '%s is answered with its time if a client asks for it, and else not',
  async (path) => {
    const timed = await harness.send(`GET ${path}`, { headers: { 'server-timing': '' } })
    expect(timed.headers['server-timing']).toMatch(/^total;dur=\d+\.\d\d$/)
    expect((await harness.send(`GET ${path}`)).headers).not.toHaveProperty('server-timing')
  },
)

it('who is not ready says when to come back', async () => {
  expect(await harness.send('GET /readyz')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
})
