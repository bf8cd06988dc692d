import { expect, it } from 'vitest'
import * as z from 'zod'
import { defineKind, defineReconciler, done, type JsonObject } from '../../../../shared/index.ts'
import { createTestEnv } from '../../../../shared/testing/test-env.ts'

const Widget = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number().int().default(1) }),
  status: z.object({}),
})

const told = ['stood in line', 'asked for tea', 'poured it', 'drank it', 'went']

it('keeps the order of what happened in one moment, for kubectl and for explain', async () => {
  const reconciler = defineReconciler(Widget, {
    reconcile: async ({ spec }, ctx) => {
      for (const message of spec.size === 1 ? told : ['poured it']) await ctx.event('Normal', 'Told', message)
      return done()
    },
  })
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 1 } })
  await env.settle()
  expect(await messagesByTime()).toEqual(told)
  const explained = await env.page('/apis/test.setpoint.dev/v1/namespaces/default/widgets/w/explain')
  expect([...explained.matchAll(/Normal Told: (.*)/g)].map(([, message]) => message)).toEqual(told.toReversed())

  // What happens again moves to the end.
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 2 } })
  await env.settle()
  expect((await messagesByTime()).at(-1)).toBe('poured it')

  /** As kubectl sorts them: by time, and what has the same in the order of the list. */
  async function messagesByTime(): Promise<readonly unknown[]> {
    const { items } = JSON.parse(await env.page('/api/v1/namespaces/default/events')) as {
      items: readonly JsonObject[]
    }
    for (const { firstTimestamp, lastTimestamp } of items)
      for (const time of [firstTimestamp, lastTimestamp])
        expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    return items
      .toSorted((a, b) => (String(a['lastTimestamp']) < String(b['lastTimestamp']) ? -1 : 1))
      .map(({ message }) => message)
  }
})
