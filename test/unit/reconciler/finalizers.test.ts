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
  const ctx = {
    get: async () => ({ metadata: { ...metadata, ...live } }),
    patch: async (_: unknown, __: unknown, body: { metadata: { finalizers?: unknown } }) => {
      written.push(body.metadata.finalizers)
    },
  } as unknown as Parameters<typeof addFinalizer>[0]
  await change(ctx, { kind: ConfigMap, object: { metadata } as never, finalizer: 'a/b' })
  expect(written).toEqual(patched === undefined ? [] : [patched])
})
