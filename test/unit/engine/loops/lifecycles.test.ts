import { expect, it } from 'vitest'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import { createEventExpiry, definitionController } from '../../../../shared/engine/loops/lifecycles.ts'
import type { Context } from '../../../../shared/index.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { Resources } from '../../../../shared/resources/resources.ts'
import { Widget } from '../../../acceptance/support/widgets.ts'

const deletedMs = Date.parse('2026-01-01T00:00:00Z')
const definition = {
  ...Widget.definition,
  metadata: { ...Widget.definition?.metadata, generation: 1, deletionTimestamp: new Date(deletedMs).toISOString() },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
} as unknown as ApiObject

/** What becomes of the definition so many seconds after its deletion, with so many objects left. */
async function lookAt(seconds: number, left: number, definitionGraceMs?: number): Promise<string> {
  const items = Array.from({ length: left }, (_, i) => ({ object: { metadata: { name: `w${i}` } } }))
  const resources = {
    list: async () => ({ items }),
    delete: async () => ({ gone: false, stored: { object: { metadata: {} } } }),
  } as unknown as Resources
  const controller = definitionController({ resources, ...(definitionGraceMs !== undefined && { definitionGraceMs }) })
  const ctx = { now: () => deletedMs + seconds * 1_000 } as Context
  const outcome = await controller.cleanup?.(definition, ctx)
  return outcome?.kind === 'again' ? `again in ${String(outcome.afterMs)} ms` : String(outcome?.kind)
}

it.each([
  [0, 0, undefined, 'done'],
  [0, 1, undefined, 'again in 1000 ms'],
  [5, 0, 20_000, 'again in 15000 ms'],
  [5, 1, 20_000, 'again in 1000 ms'],
  [20, 0, 20_000, 'done'],
  [20, 2, 20_000, 'again in 1000 ms'],
])('%d s after its deletion, with %d objects and a grace of %s ms, a definition is %s', async (...row) => {
  const [seconds, left, graceMs, becomes] = row
  expect(await lookAt(seconds, left, graceMs)).toBe(becomes)
})

it.each([
  [undefined, ['replace 3600000']],
  [0, ['replace 3600000']],
  [3_600_000, []],
])('an Event whose timer is at %s is written again only if it has another end', async (wakeAtMs, writes) => {
  const made = new Date(deletedMs).toISOString()
  const metadata = { name: 'e', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 }
  const object = { apiVersion: 'v1', kind: 'Event', metadata: { ...metadata, creationTimestamp: made } } as ApiObject
  const engine = wakeAtMs === undefined ? {} : { wakeAtMs: deletedMs + wakeAtMs }
  const written: string[] = []
  const store = {
    get: async () => ({ object, engine }),
    replace: async (next: StoredObject) => void written.push(`replace ${(next.engine.wakeAtMs ?? 0) - deletedMs}`),
  } as unknown as ObjectStore
  const clock = { nowMs: () => deletedMs, sleep: async () => {} }
  const key = { group: '', kind: 'Event', namespace: 'default', name: 'e' }
  const turn = { key, settle: async () => {} } as unknown as Turn
  await createEventExpiry({ store, resources: {} as Resources, clock })(turn, new AbortController().signal)
  expect(written).toEqual(writes)
})
