import { afterEach, expect, it } from 'vitest'
import { done } from '../../shared/index.ts'
import { widgets, type RunRecord } from '../acceptance/support/widgets.ts'
import { startWholePath, type WholePath } from './whole-path.ts'

let plane: WholePath
afterEach(() => plane[Symbol.asyncDispose]())

const collection = '/apis/test.setpoint.dev/v1/namespaces/default/widgets'

it('a change goes from the API to its status', async () => {
  const runs: RunRecord[] = []
  plane = await startWholePath({ controllers: [widgets(runs, ({ spec: { size } }) => done({ status: { size } }))] })
  const created = await plane.request(`POST ${collection}`, { metadata: { name: 'w' }, spec: { size: 3 } })
  expect(created.status).toBe(201)
  await expect
    .poll(async () => (await plane.request(`GET ${collection}/w`)).body.status, { timeout: 5_000 })
    .toMatchObject({ size: 3, observedGeneration: 1 })
  console.log(plane.requests, plane.lines.slice(0, 10))
})
