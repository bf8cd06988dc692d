import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contentConditions, namespaceController } from '../../../../shared/engine/loops/namespaces.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { defineBuiltInKind } from '../../../../shared/model/served-kind.ts'
import type { Context } from '../../../../shared/reconciler/context.ts'
import type { Outcome } from '../../../../shared/reconciler/outcome.ts'
import { createWidgetHarness, widget, type Harness } from '../../api/harness.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
  await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } })
})
afterEach(() => harness.close())

const secrets = '/api/v1/namespaces/n/secrets'
const widgets = '/apis/example.com/v1/namespaces/n/widgets'

async function namespace(): Promise<JsonObject> {
  return (await harness.send('GET /api/v1/namespaces/n')).body as JsonObject
}

/** One run of the clean-up, so many milliseconds after the deletion. */
async function cleanUp(sinceMs: number): Promise<Outcome> {
  const object = await namespace()
  const { deletionTimestamp } = object['metadata'] as { deletionTimestamp: string }
  const { cleanup = () => expect.fail('there is a clean-up') } = namespaceController(harness.services)
  const ctx = { now: () => Date.parse(deletionTimestamp) + sinceMs } as Context
  return cleanup(object as never, ctx)
}

const accounts = '/api/v1/namespaces/n/serviceaccounts'

async function run(): Promise<Outcome> {
  const { reconcile } = namespaceController(harness.services)
  return reconcile((await namespace()) as never, {} as Context)
}

describe('the ServiceAccount of a namespace', () => {
  it('is made with it, once, and goes with it at once where there is nothing else', async () => {
    expect(await run()).toMatchObject({ kind: 'done' })
    const { body } = await harness.send(`GET ${accounts}/default`)
    await run()
    expect((await harness.send(`GET ${accounts}/default`)).body).toEqual(body)
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(0)).toMatchObject({ kind: 'done' })
    expect(await harness.send(`GET ${accounts}/default`)).toMatchObject({ status: 404 })
  })

  it('is not made while the namespace is being deleted, or when it is gone', async () => {
    const before = (await namespace()) as never
    const { reconcile } = namespaceController(harness.services)
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await reconcile(before, {} as Context)).toMatchObject({ kind: 'done' })
    await harness.send('PUT /api/v1/namespaces/n/finalize', { body: { metadata: { name: 'n' }, spec: {} } })
    expect(await reconcile(before, {} as Context)).toMatchObject({ kind: 'done' })
  })

  it('keeps the rest of the content for its five seconds', async () => {
    await run()
    await harness.send(`POST ${accounts}`, { body: { metadata: { name: 'builder' } } })
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(1_000)).toMatchObject({ kind: 'again' })
  })
})

describe('a namespace that is being deleted', () => {
  it('goes at once if nothing is in it', async () => {
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(0)).toMatchObject({ kind: 'done' })
  })

  it('leaves its content alone for five seconds', async () => {
    await harness.send(`POST ${secrets}`, { body: { metadata: { name: 's' } } })
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(1_000)).toMatchObject({ kind: 'again', afterMs: 4_000 })
    expect(await harness.send(`GET ${secrets}/s`)).toMatchObject({ status: 200 })
    expect(await cleanUp(5_000)).toMatchObject({ kind: 'done' })
    expect(await harness.send(`GET ${secrets}/s`)).toMatchObject({ status: 404 })
  })

  it('keeps Secrets until the custom objects are gone, and says what is left', async () => {
    await harness.send(`POST ${secrets}`, { body: { metadata: { name: 's' } } })
    await harness.send(`POST ${widgets}`, { body: widget('w', {}, { finalizers: ['example.com/held'] }) })
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(5_000)).toMatchObject({ kind: 'again', afterMs: 1_000 })
    expect(await harness.send(`GET ${secrets}/s`)).toMatchObject({ status: 200 })
    const before = await namespace()
    expect(before['status']).toMatchObject({
      phase: 'Terminating',
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: 'Some resources are remaining: widgets.example.com has 1 resource instances',
        }),
        expect.objectContaining({
          type: 'NamespaceFinalizersRemaining',
          message: 'Some content in the namespace has finalizers remaining: example.com/held in 1 resource instances',
        }),
      ]),
    })
    await cleanUp(6_000)
    expect(await namespace()).toEqual(before)
    await harness.send(`PATCH ${widgets}/w`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    })
    expect(await cleanUp(7_000)).toMatchObject({ kind: 'done' })
    expect(await harness.send(`GET ${secrets}/s`)).toMatchObject({ status: 404 })
  })

  it('names twenty kinds at most', () => {
    const kind = (i: number) =>
      defineBuiltInKind({ group: 'g', kind: `K${i}`, plural: `k${i}`, namespaced: true, schema: { type: 'object' } })
    const left = Array.from({ length: 25 }, (_, i) => ({ kind: kind(i), count: 1, finalizers: new Map() }))
    const { NamespaceContentRemaining: told, NamespaceFinalizersRemaining: held } = contentConditions(left)
    expect(told?.message).toMatch(/ and 5 more$/)
    expect(held).toMatchObject({ status: 'False', reason: 'ContentHasNoFinalizers' })
  })
})
