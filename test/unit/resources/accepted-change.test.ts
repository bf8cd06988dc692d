import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { AcceptedChange } from '../../../shared/model/engine-state.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { createWidgetHarness, widget, widgets, type Harness } from '../api/harness.ts'

/** What the engine is told, for people, of a change of the desired state. */
let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
  await harness.send(`POST ${widgets}`, { body: widget('a') })
})
afterEach(() => harness.close())

async function storedWidget(): Promise<StoredObject> {
  const stored = await harness.store.get({ group: 'example.com', kind: 'Widget', namespace: 'default', name: 'a' })
  return stored as StoredObject
}

async function noted(): Promise<AcceptedChange | undefined> {
  return (await storedWidget()).engine.change
}

function patch(body: JsonObject, path = `${widgets}/a`): Promise<unknown> {
  return harness.send(`PATCH ${path}?fieldManager=alice`, { type: 'application/merge-patch+json', body })
}

describe('the note of a change', () => {
  it('says who created the object, and when', async () => {
    expect(await noted()).toEqual({ verb: 'created', by: 'kubectl', atMs: harness.clock.nowMs() })
  })

  it('says who changed which fields, and since when changes wait', async () => {
    const createdMs = harness.clock.nowMs()
    await harness.clock.advance(1_000)
    await patch({ spec: { color: 'blue', size: 3 } })
    const change = { verb: 'changed', by: 'alice', atMs: createdMs + 1_000, sinceMs: createdMs }
    expect(await noted()).toEqual({ ...change, fields: ['spec.color', 'spec.size'] })
  })

  it('says who asked for the deletion', async () => {
    await patch({ metadata: { finalizers: ['example.com/held'] } })
    await harness.send(`DELETE ${widgets}/a?fieldManager=bob`)
    expect(await noted()).toMatchObject({ verb: 'deleted', by: 'bob' })
  })

  it('begins anew once the change before was observed', async () => {
    const stored = await storedWidget()
    await harness.store.replace({ ...stored, object: { ...stored.object, status: { observedGeneration: 1 } } }, [
      'status',
    ])
    await patch({ spec: { color: 'blue' } })
    expect(await noted()).not.toHaveProperty('sinceMs')
  })

  it('is not made by what leaves the desired state as it is', async () => {
    const before = await noted()
    await patch({ metadata: { labels: { a: 'b' } } })
    await patch({ status: { phase: 'Done' } }, `${widgets}/a/status`)
    await patch({ spec: { color: 'red' } })
    expect(await noted()).toEqual(before)
  })

  it('is not made for kinds that nobody reconciles', async () => {
    await harness.send('POST /api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'a' } } })
    const key = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'a' }
    expect((await harness.store.get(key))?.engine).toEqual({})
  })

  it('is not shown while nothing waits', async () => {
    const { body } = await harness.send(`GET ${widgets}/a`)
    expect(body).not.toHaveProperty('status')
  })
})
