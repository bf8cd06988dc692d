import { afterEach, beforeEach, expect, it } from 'vitest'
import { startFarSide, type FarSide } from '../../../shared/testing/far-side.ts'

let far: FarSide
let handled: number
beforeEach(async () => {
  handled = 0
  far = await startFarSide(({ path }) => {
    handled++
    if (path === '/bug') throw new Error('no')
    return { status: 201, headers: { 'x-a': 'b' }, body: { path } }
  })
})
afterEach(() => far.close())

const ask = async (path: string, options?: RequestInit) => {
  const answer = await fetch(`${far.url}${path}`, options)
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}

it('answers as it is told, and notes what was asked', async () => {
  const { status, text, headers } = await ask('/a?b=c', { method: 'PUT', body: '{"x":1}', headers: { 'x-who': 'me' } })
  expect([status, text, headers.get('x-a')]).toEqual([201, '{"path":"/a?b=c"}', 'b'])
  await ask('/text', { method: 'POST', body: 'plain' })
  expect(far.requests).toMatchObject([
    { method: 'PUT', path: '/a?b=c', body: { x: 1 }, headers: { 'x-who': 'me' } },
    { method: 'POST', path: '/text', body: 'plain' },
  ])
  expect(await ask('/bug')).toMatchObject({ status: 500, text: '{"message":"Error: no"}' })
})

it.each([
  ['a body that JSON cannot say', { body: 1n }, 'BigInt'],
  ['a status that is none', { status: 42 }, 'status code'],
  ['a header that is none', { headers: { 'x-a': 'a\nb' } }, 'header'],
])('answers with a 500 in the place of %s', async (_what, answer, why) => {
  far.faults.answer(answer)
  const { status, text } = await ask('/a')
  expect([status, text]).toEqual([500, expect.stringContaining(why)])
  expect(await ask('/a')).toMatchObject({ status: 201 })
})

it('answers otherwise, as often as it was planned, and only such requests', async () => {
  far.faults.answer({ status: 429, headers: { 'retry-after': '2' } }, { times: 2, when: ({ path }) => path === '/a' })
  const statuses = []
  for (const path of ['/a', '/b', '/a', '/a']) statuses.push((await ask(path)).status)
  expect(statuses).toEqual([429, 201, 429, 201])
  expect(handled).toBe(2)
})

it.each([
  { fault: 'refuse', does: 0 },
  { fault: 'lose', does: 1 },
] as const)('breaks the connection: $fault, with $does done', async ({ fault, does }) => {
  far.faults[fault]()
  await expect(ask('/a', { method: 'POST', body: 'x' })).rejects.toThrow('fetch failed')
  expect(handled).toBe(does)
  expect(await ask('/a')).toMatchObject({ status: 201 })
})

it('is busy while an answer is late, and not after it', async () => {
  far.faults.delay(50)
  const asked = ask('/a')
  await expect.poll(() => far.requests.length).toBe(1)
  expect(far.isBusy()).toBe(true)
  expect(await asked).toMatchObject({ status: 201 })
  await expect.poll(() => far.isBusy()).toBe(false)
})
