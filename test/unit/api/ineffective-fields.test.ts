import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createWidgetHarness, widget, widgets, type Harness } from './harness.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

const annotated = (annotations: Readonly<Record<string, string>>): JsonObject =>
  widget('w1', undefined, { annotations })

describe('what is stored and does nothing is told to its writer at once', () => {
  it.each([
    ['paused', 'yes', '\\"yes\\" is not \\"true\\": the object is not paused'],
    ['resync', 'often', '\\"often\\" is not a duration such as 5m, so it has no effect'],
    ['deletion-policy', 'Keep', '\\"Keep\\" is not Delete or Retain: its deletion waits until the value is corrected'],
    ['puased', 'true', 'an annotation of this name is not known'],
  ])('the annotation %s: %s', async (name, value, says) => {
    const warning = `299 - "metadata.annotations[setpoint.dev/${name}]: ${says}"`
    const body = annotated({ [`setpoint.dev/${name}`]: value })
    const created = await harness.send(`POST ${widgets}`, { body })
    expect([created.status, created.headers['warning']]).toEqual([201, warning])
    const updated = await harness.send(`PUT ${widgets}/w1`, { body: created.body })
    expect([updated.status, updated.headers['warning']]).toEqual([200, warning])
    for (const [type, patch] of [
      ['application/merge-patch+json', { metadata: { labels: { a: 'b' } } }],
      ['application/apply-patch+yaml', body],
    ] as const) {
      const patched = await harness.send(`PATCH ${widgets}/w1?fieldManager=me`, { type, body: patch })
      expect([patched.status, patched.headers['warning']]).toEqual([200, warning])
    }
    expect((await harness.send(`GET ${widgets}/w1`)).headers['warning']).toBeUndefined()
  })

  it.each([
    { 'setpoint.dev/paused': 'true' },
    { 'setpoint.dev/paused': 'false' },
    { 'setpoint.dev/resync': '0' },
    { 'setpoint.dev/resync': '90s', 'setpoint.dev/deletion-policy': 'Retain' },
    { 'setpoint.dev/reconcile-requested-at': 'now', 'setpoint.dev/external-id': 'x', 'setpoint.dev/adopt': 'match' },
    { 'setpoint.dev/manage': 'observe', 'setpoint.dev/create-again': 'x', 'example.dev/paused': 'yes' },
  ])('but nothing of what is understood: %j', async (annotations) => {
    const created = await harness.send(`POST ${widgets}`, { body: annotated(annotations) })
    expect([created.status, created.headers['warning']]).toEqual([201, undefined])
  })
})
