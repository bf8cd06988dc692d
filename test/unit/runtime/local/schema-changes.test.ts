import { expect, it } from 'vitest'
import * as z from 'zod'
import { systemClock } from '../../../../shared/adapters/node/system-clock.ts'
import { ConfigMap, defineKind, defineReconciler, done, type Controller } from '../../../../shared/index.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import { openLocalPorts } from '../../../../shared/runtime/local/ports.ts'
import { tellSchemaChanges } from '../../../../shared/runtime/local/schema-changes.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const kindOf = (spec: z.ZodType) => defineKind({ group: 'test.setpoint.dev', version: 'v1', kind: 'Page', spec })
const before = kindOf(z.object({ text: z.string() }))
const after = kindOf(z.object({ text: z.string(), color: z.string() }))
const controllers = [defineReconciler(after, { reconcile: async () => done() })]

const pageOf = (name: string, spec: object): StoredObject => ({
  object: { ...storedWidget(name).object, apiVersion: 'test.setpoint.dev/v1', kind: 'Page', spec } as ApiObject,
  engine: {},
})

/** What a start says of a store with the definition of before. */
async function told(store: ObjectStore, by: readonly Controller[] = controllers): Promise<readonly unknown[]> {
  const said: unknown[] = []
  const log = (message: string, fields: unknown): void => void said.push([message, fields])
  const logger = { debug: log, info: log, warn: log, error: log, with: () => logger }
  await tellSchemaChanges({ store, controllers: by, logger })
  return said
}

const definition = (): StoredObject => {
  const { metadata, ...rest } = before.definition as unknown as ApiObject
  return { object: { ...rest, metadata: { ...storedWidget('x').object.metadata, ...metadata } }, engine: {} }
}

it('a start looks at objects that are large, too, and not at the first two million letters of them', async () => {
  const { store, close } = openLocalPorts(':memory:', systemClock)
  await store.create(definition())
  for (let i = 0; i < 40; i++)
    await store.create(pageOf(`page-${i + 10}`, { text: 'x'.repeat(100_000), ...(i < 28 && { color: 'red' }) }))
  expect(await told(store)).toMatchObject([
    ['schema changed: some objects do not fit', { objects: 40, invalid: 12, examples: { length: 10 } }],
  ])
  close()
})

it('a start looks at the first five thousand objects of a kind', async () => {
  const { store, close } = openLocalPorts(':memory:', systemClock)
  await store.create(definition())
  await Promise.all(
    Array.from({ length: 5_001 }, (_, i) =>
      store.create(pageOf(`page-${i + 10_000}`, { text: '', ...(i < 5_000 && { color: 'red' }) })),
    ),
  )
  const advice = 'every object that was looked at fits'
  expect(await told(store)).toMatchObject([['schema changed', { objects: 5_000, invalid: 0, advice }]])
  close()
})

it('a start tells of a kind that its reconcilers only make or watch, too, and once', async () => {
  const { store, close } = openLocalPorts(':memory:', systemClock)
  await store.create(definition())
  await store.create(pageOf('a', { text: 'x' }))
  const makes = defineReconciler(ConfigMap, { owns: [after, after, ConfigMap], reconcile: async () => done() })
  expect(await told(store, [makes])).toMatchObject([['schema changed: some objects do not fit', { invalid: 1 }]])
  close()
})
