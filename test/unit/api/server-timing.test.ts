import { afterAll, beforeAll, expect, it } from 'vitest'
import { withServerTiming } from '../../../shared/api/server-timing.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { createHarness, type Harness } from './harness.ts'
import { request } from './sent-request.ts'

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

it('the time of an answer is what has passed since it was asked', async () => {
  let nowMs = 1_000
  const answer = async () => {
    nowMs += 5
    return { status: 200, headers: {}, body: '' }
  }
  const timed = withServerTiming(answer, { ...createVirtualClock(), nowMs: () => nowMs })
  const { headers } = await timed(request('GET /x', { headers: { 'server-timing': '' } }))
  expect(headers['server-timing']).toBe('total;dur=5.00')
})

it('who is not ready says when to come back', async () => {
  expect(await harness.send('GET /readyz')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
})
