import * as z from 'zod'
import { expect, it } from 'vitest'
import { defineKind, defineReconciler, done } from '../../../shared/index.ts'
import { createTestEnv } from '../../../shared/testing/test-env.ts'

const Defaulted = defineKind({
  group: 'unit.test',
  version: 'v1',
  kind: 'Defaulted',
  spec: z.object({ size: z.number().default(3), inner: z.object({ on: z.boolean().default(true) }).prefault({}) }),
})

it('a spec that needs nothing may be left out, and is read with its defaults all the same', async () => {
  const seen: unknown[] = []
  const reconciler = defineReconciler(Defaulted, {
    reconcile: async ({ spec }) => {
      seen.push(spec)
      return done()
    },
  })
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  await env.applyManifest({ apiVersion: 'unit.test/v1', kind: 'Defaulted', metadata: { name: 'd' } })
  await env.settle()
  expect(seen).toEqual([{ size: 3, inner: { on: true } }])
})

it('a spec that needs something may not', async () => {
  const Needy = defineKind({ group: 'unit.test', version: 'v1', kind: 'Needy', spec: z.object({ name: z.string() }) })
  await using env = await createTestEnv({ kinds: [Needy] })
  const manifest = { apiVersion: 'unit.test/v1', kind: 'Needy', metadata: { name: 'n' } }
  await expect(env.applyManifest(manifest)).rejects.toMatchObject({ code: 'INVALID' })
})

it.each([
  ['spec', { spec: z.object({ rows: z.array(z.object({ at: z.map(z.string(), z.string()) })) }) }],
  ['status', { spec: z.object({}), status: z.object({ rows: z.array(z.object({ at: z.bigint() })) }) }],
] as const)('what no schema of Kubernetes can say in %s is refused with its path', (field, schemas) => {
  const kind = { group: 'unit.test', version: 'v1', kind: 'Unsaid' }
  expect(() => defineKind({ ...kind, ...schemas })).toThrow(
    `Unsaid: properties[${field}].properties[rows].items.properties[at]: `,
  )
})

it('several patterns hold, and their flags', async () => {
  const both = z.string().regex(/^a.c$/is).regex(/^.b.$/i)
  const Both = defineKind({ group: 'unit.test', version: 'v1', kind: 'Both', spec: z.object({ text: both }) })
  await using env = await createTestEnv({ kinds: [Both] })
  const apply = (text: string) =>
    env.applyManifest({ apiVersion: 'unit.test/v1', kind: 'Both', metadata: { name: 'b' }, spec: { text } })
  await apply('aBC')
  for (const text of ['bbc', 'axc', 'a\nc']) await expect(apply(text)).rejects.toMatchObject({ code: 'INVALID' })
})

it('rules in CEL hold for the whole object and for fields, on creation and on change', async () => {
  const Grown = defineKind({
    group: 'unit.test',
    version: 'v1',
    kind: 'Grown',
    spec: z.object({
      size: z.int().meta({ 'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'does not shrink' }] }),
      max: z.int(),
    }),
    rules: [{ rule: 'self.spec.size <= self.spec.max', fieldPath: '.spec.size' }],
  })
  await using env = await createTestEnv({ kinds: [Grown] })
  const apply = (spec: object) =>
    env.applyManifest({ apiVersion: 'unit.test/v1', kind: 'Grown', metadata: { name: 'g' }, spec: spec as never })
  await expect(apply({ size: 3, max: 2 })).rejects.toThrow(
    'spec.size: Invalid value: "object": failed rule: self.spec.size <= self.spec.max',
  )
  await apply({ size: 3, max: 4 })
  await expect(apply({ size: 2, max: 4 })).rejects.toThrow('spec.size: Invalid value: "integer": does not shrink')
  await apply({ size: 4, max: 4 })
  expect(() =>
    defineKind({ group: 'unit.test', version: 'v1', kind: 'Odd', spec: z.object({}), rules: [{ rule: 'self.nope' }] }),
  ).toThrow("undefined field 'nope'")
})
