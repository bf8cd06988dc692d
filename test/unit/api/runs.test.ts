import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PastRun, RunHistory } from '../../../shared/ports/run-history.ts'
import { createHarness, type Harness } from './harness.ts'

const run: PastRun = {
  atMs: Date.UTC(2026, 10, 23),
  ms: 4,
  causes: ['created'],
  outcome: 'done',
  log: [{ atMs: Date.UTC(2026, 10, 23, 1), level: 'info', message: 'hello' }],
}
const read: string[] = []
const history: RunHistory = {
  note() {},
  noteQuiet() {},
  read: async (uid) => {
    read.push(uid)
    return [run]
  },
}

describe('the runs of an object', () => {
  let harness: Harness
  beforeEach(async () => (harness = await createHarness({ history })))
  afterEach(() => harness.close())
  const path = '/api/v1/namespaces/default/configmaps/a'

  it('are a subresource that is only read', async () => {
    const { body } = await harness.send('POST /api/v1/namespaces/default/configmaps', {
      body: { metadata: { name: 'a' } },
    })
    expect(await harness.send(`GET ${path}/runs`)).toMatchObject({
      status: 200,
      body: {
        kind: 'ObjectRunList',
        items: [
          {
            startTime: '2026-11-23T00:00:00.000Z',
            durationMs: 4,
            causes: ['created'],
            outcome: 'done',
            log: [{ time: '2026-11-23T01:00:00.000Z', level: 'info', message: 'hello' }],
          },
        ],
      },
    })
    expect(read).toEqual([body.metadata.uid])
    expect(await harness.send('GET /api/v1/namespaces/default/runs')).toMatchObject({ status: 200 })
    expect(await harness.send(`DELETE ${path}/runs`)).toMatchObject({ status: 405 })
    expect(await harness.send('GET /api/v1/namespaces/default/configmaps/b/runs')).toMatchObject({ status: 404 })
    expect(await harness.send(`GET ${path}/runs`, { token: 'alice' })).toMatchObject({ status: 403 })
  })

  it('are not where nobody keeps them, and the answer says where to look', async () => {
    const without = await createHarness()
    await without.send('POST /api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'a' } } })
    expect(await without.send(`GET ${path}/runs`)).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('this control plane keeps no runs') },
    })
    without.close()
  })
})

it('an operation is done by a POST to its path, by who may post there', async () => {
  const done: string[] = []
  const harness = await createHarness({
    operations: new Map([
      [
        'shake',
        async ({ method }) => {
          done.push(method)
          return { status: 200, headers: {}, body: 'shaken' }
        },
      ],
    ]),
  })
  expect(await harness.send('GET /shake')).toMatchObject({ status: 404 })
  expect(await harness.send('POST /shake/x')).toMatchObject({ status: 405 })
  expect(await harness.send('POST /shake', { token: 'alice' })).toMatchObject({ status: 403 })
  expect(done).toEqual([])
  expect(await harness.send('POST /shake')).toMatchObject({ status: 200 })
  expect((await harness.send('GET /')).body.paths).toContain('/shake')
  harness.close()
})
