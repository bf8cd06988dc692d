/**
 * From `kubectl apply` to `kubectl apply --server-side`: the first takes note in an annotation, the second reads it.
 */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { applied, ownership, tryApply, update, widget, withMetadata, withSpec } from './widget.ts'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

describe('kubectl, server-side after client-side', () => {
  const config = widget({ size: 3, options: { a: '1' } }, { labels: { app: 'x' } })
  const live = clientSide(config)

  it('takes over what it applied and nobody changed since', () => {
    const next = widget({ size: 4, options: { a: '2' } }, { labels: { app: 'y' } })
    const object = applied(live, next, { manager: 'kubectl' })
    expect(object).toMatchObject({ spec: { size: 4, options: { a: '2' } }, metadata: { labels: { app: 'y' } } })
    expect(ownership(object)['kubectl-client-side-apply']).not.toHaveProperty(['f:spec', 'f:size'])
  })

  it('conflicts with who changed something since, and only about that', () => {
    const changed = update(live, withSpec(live, { size: 9, options: { a: '1' } }), { manager: 'carol' }).object
    expect(tryApply(changed, widget({ size: 4, options: { a: '2' } }), { manager: 'kubectl' })).toHaveProperty(
      'message',
      'Apply failed with 1 conflict: conflict with "carol" using example.com/v1: .spec.size',
    )
  })

  const useless: readonly { because: string; text: string }[] = [
    { because: 'it is no JSON', text: '{' },
    { because: 'it is no object', text: '[]' },
    { because: 'it is of another version', text: JSON.stringify({ ...config, apiVersion: 'example.com/v2' }) },
    { because: 'it does not fit the schema', text: JSON.stringify(widget({ hue: 1 })) },
    { because: 'it does not fit the schema in one place', text: JSON.stringify(widget({ hue: 1, size: 3 })) },
    { because: 'it is nothing', text: 'null' },
    { because: 'it is empty', text: '' },
  ]

  it.each(useless)('has no privilege by an annotation when $because', ({ text }) => {
    const other = clientSide(config, text)
    expect(tryApply(other, widget({ size: 4 }), { manager: 'kubectl' }).outcome).toBe('conflict')
  })

  it('is the only one with that privilege', () => {
    expect(tryApply(live, widget({ size: 4 }), { manager: 'somebody' }).outcome).toBe('conflict')
  })
})

describe('the annotation', () => {
  const live = clientSide(widget({ size: 3 }))

  it('is kept up to what kubectl applies, as kubectl itself would write it', () => {
    const object = applied(live, widget({ size: 3, options: { html: '<b>&</b>' } }), { manager: 'kubectl' })
    expect(annotationsOf(object)[annotation]).toBe(
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"demo","namespace":"default"},' +
        '"spec":{"options":{"html":"\\u003cb\\u003e\\u0026\\u003c/b\\u003e"},"size":3}}\n',
    )
    const again = widget({ size: 3, options: { html: '<b>&</b>' } })
    expect(tryApply(object, again, { manager: 'kubectl' })).toMatchObject({ changed: false })
  })

  it('does not hold itself', () => {
    const config = widget({ size: 3 }, { annotations: { [annotation]: 'old', note: 'x' } })
    const object = applied(live, config, { manager: 'kubectl', force: true })
    expect(JSON.parse(String(annotationsOf(object)[annotation]))).toEqual(
      widget({ size: 3 }, { annotations: { note: 'x' } }),
    )
  })

  it('goes when it would be too long for an annotation', () => {
    const options = { long: 'x'.repeat(256 * 1024) }
    expect(annotationsOf(applied(live, widget({ options }), { manager: 'kubectl' }))).toEqual({})
  })

  it.each([
    { more: 0, stays: true },
    { more: 1, stays: false },
  ])('may be so long that all annotations have 256 KiB, and $more bytes more: $stays', ({ more, stays }) => {
    const lengthOf = (texts: JsonObject): number => Buffer.byteLength(Object.entries(texts).flat().join(''))
    const longer = (count: number): JsonObject =>
      annotationsOf(applied(live, widget({ options: { long: 'x'.repeat(count) } }), { manager: 'kubectl' }))
    const left = 256 * 1024 - lengthOf(longer(0))
    expect(annotation in longer(left + more)).toBe(stays)
  })

  it('is brought up to date, though nothing else is changed', () => {
    const config = widget({ size: 3 })
    const once = applied(live, config, { manager: 'kubectl' })
    const stale = withMetadata(once, { annotations: { [annotation]: `${JSON.stringify(config)} ` } })
    const again = tryApply(stale, config, { manager: 'kubectl' })
    expect(again).toMatchObject({ outcome: 'applied', changed: true })
    expect(again).toHaveProperty('object.metadata.annotations', annotationsOf(once))
  })

  const untouched = [
    { because: 'somebody else applies', from: live, options: { manager: 'somebody' } },
    { because: 'only the status is written', from: live, options: { manager: 'kubectl', subresource: 'status' } },
  ]

  it.each(untouched)('is left alone when $because', ({ from, options }) => {
    expect(annotationsOf(applied(from, widget({ colour: 'red' }), options))).toEqual(annotationsOf(live))
  })

  it('is not added where there is none', () => {
    const object = applied(widget({ size: 3 }), widget({ size: 3 }), { manager: 'kubectl' })
    expect(annotationsOf(object)).toEqual({})
  })
})

function clientSide(config: JsonObject, text = JSON.stringify(config)): JsonObject {
  return update(undefined, withMetadata(config, { annotations: { [annotation]: text } }), {
    manager: 'kubectl-client-side-apply',
  }).object
}

function annotationsOf(object: JsonObject): JsonObject {
  return ((object['metadata'] as JsonObject)['annotations'] ?? {}) as JsonObject
}
