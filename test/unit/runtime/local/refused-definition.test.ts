import * as z from 'zod'
import { expect, it } from 'vitest'
import { defineKind, defineReconciler, done } from '../../../../shared/index.ts'
import { createTestEnv } from '../../../../shared/testing/test-env.ts'

/** A start on one machine with a definition that cannot take the place of the one that is stored. */
const names = { group: 'test.setpoint.dev', kind: 'Disk' } as const
const spec = z.object({ size: z.string() })
const Old = defineKind({ ...names, version: 'v1alpha1', spec })
const former = defineReconciler(Old, { name: 'disk', reconcile: async () => done() })

it('a definition that is refused stops the objects of its kind, and nothing else', async () => {
  const Other = defineKind({ group: 'test.setpoint.dev', version: 'v1', kind: 'Other', spec: z.object({}) })
  const others = defineReconciler(Other, { reconcile: async () => done() })
  await using env = await createTestEnv({ tickMs: 60_000, reconcilers: [former, others] })
  await env.apply(Old, { metadata: { name: 'a' }, spec: { size: '5G' } })
  await env.settle()
  const ran: string[] = []
  const moved = defineKind({ ...names, version: 'v1', spec })
  const mover = defineReconciler(moved, {
    name: 'disk',
    reconcile: async () => {
      ran.push('moved')
      return done()
    },
  })
  await env.crash([mover, others])
  await env.apply(Other, { metadata: { name: 'o' }, spec: {} })
  await env.patch(Old, 'a', { metadata: { labels: { a: 'b' } } })
  await env.advance('1m')
  expect(ran).toEqual([])
  expect(await env.get(Other, 'o')).toMatchObject({ status: { conditions: [{ type: 'Ready', status: 'True' }] } })
  const [condition] = (await env.get(Old, 'a'))?.status?.conditions ?? []
  expect(condition).toMatchObject({ type: 'Ready', status: 'False', reason: 'SpecInvalid' })
  expect(condition?.message).toContain('its definition was refused: CustomResourceDefinition')
  expect(condition?.message).toContain('must remain in spec.versions')
})
