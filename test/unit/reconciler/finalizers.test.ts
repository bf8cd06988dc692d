import { expect, it } from 'vitest'
import { addFinalizer, ConfigMap, removeFinalizer } from '../../../shared/index.ts'

const metadata = { name: 'm', namespace: 'default', uid: 'u', resourceVersion: '1' }
const deleted = { deletionTimestamp: '2026-11-21T00:00:00Z' }

it.each([
  { because: 'it has none', change: addFinalizer, live: {}, patched: ['a/b'] },
  { because: 'it has another', change: addFinalizer, live: { finalizers: ['c/d'] }, patched: ['c/d', 'a/b'] },
  { because: 'it has it already', change: addFinalizer, live: { finalizers: ['a/b'] }, patched: undefined },
  { because: 'it is being deleted', change: addFinalizer, live: deleted, patched: undefined },
  { because: 'it is another of its name', change: addFinalizer, live: { uid: 'v' }, patched: undefined },
  { because: 'it has it', change: removeFinalizer, live: { finalizers: ['a/b', 'c/d'] }, patched: ['c/d'] },
  { because: 'it goes by it', change: removeFinalizer, live: { ...deleted, finalizers: ['a/b'] }, patched: [] },
  { because: 'it has none to take', change: removeFinalizer, live: { finalizers: ['c/d'] }, patched: undefined },
  { because: 'its successor has it', change: removeFinalizer, live: { uid: 'v', finalizers: ['a/b'] } },
])('$change.name writes $patched when $because', async ({ change, live, patched }) => {
  const written: unknown[] = []
  const places: unknown[] = []
  const ctx = {
    get: async (_: unknown, at: unknown) => {
      places.push(at)
      return { metadata: { ...metadata, ...live } }
    },
    patch: async (_: unknown, at: unknown, body: { metadata: { finalizers?: unknown } }) => {
      places.push(at)
      written.push(body.metadata.finalizers)
    },
  } as unknown as Parameters<typeof addFinalizer>[0]
  await change(ctx, { kind: ConfigMap, object: { metadata } as never, finalizer: 'a/b' })
  expect(written).toEqual(patched === undefined ? [] : [patched])
  expect(new Set(places.map((at) => JSON.stringify(at)))).toEqual(new Set(['{"name":"m","namespace":"default"}']))
})

it('an object of the cluster has no namespace', async () => {
  const { namespace: _, ...clusters } = metadata
  const places: unknown[] = []
  const get = async (...[, at]: readonly unknown[]) => void places.push(at)
  const ctx = { get } as unknown as Parameters<typeof addFinalizer>[0]
  await addFinalizer(ctx, { kind: ConfigMap, object: { metadata: clusters } as never, finalizer: 'a/b' })
  expect(places).toStrictEqual([{ name: 'm' }])
})
