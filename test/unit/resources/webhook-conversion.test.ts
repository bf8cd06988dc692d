import { describe, expect, it } from 'vitest'
import { UnpreparedError } from '../../../shared/model/conversion.ts'
import type { CustomResourceDefinition } from '../../../shared/model/custom-resource-definition.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { WebhookCall } from '../../../shared/ports/webhooks.ts'
import { conversionByWebhook } from '../../../shared/resources/webhook-conversion.ts'

/** Versions of one kind that a webhook makes of each other. */

const url = 'https://convert.example.com'
const versions = [
  { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
  { name: 'v2', served: true, storage: false },
]

function definitionOf(conversion: object = {}, more: object = {}): CustomResourceDefinition {
  return {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Widget', plural: 'widgets' },
      versions,
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url }, conversionReviewVersions: ['v1'] },
        ...conversion,
      },
      ...more,
    },
  } as unknown as CustomResourceDefinition
}

function widget(name: string, version = 'v1', more: object = {}): ApiObject {
  const metadata = { name, namespace: 'n', uid: name, resourceVersion: '1', generation: 1, ...more }
  return { apiVersion: `example.com/${version}`, kind: 'Widget', metadata, spec: { name } } as unknown as ApiObject
}

interface Request {
  readonly uid: string
  readonly desiredAPIVersion: string
  readonly objects: readonly ApiObject[]
}

/** What answers each call: by default the objects in the version asked for, with a label more. */
type Answer = (request: Request) => unknown

const converts: Answer = ({ uid, desiredAPIVersion, objects }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  response: {
    uid,
    result: { status: 'Success' },
    convertedObjects: objects.map((object) => ({
      ...object,
      apiVersion: desiredAPIVersion,
      metadata: { ...object.metadata, labels: { of: desiredAPIVersion } },
    })),
  },
})

function create(answer: Answer = converts, definition = definitionOf()) {
  const calls: WebhookCall[] = []
  const post = async (call: WebhookCall): Promise<string> => {
    calls.push(call)
    const made = answer((JSON.parse(call.body) as { readonly request: Request }).request)
    if (made instanceof Error) throw made
    return JSON.stringify(made)
  }
  let uids = 0
  const random = { uuid: () => `uid-${uids++}` }
  const conversion = conversionByWebhook(definition, { random: random as never, webhooks: { post } })
  if (conversion === undefined) throw new Error('no conversion')
  const requests = () => calls.map(({ body }) => (JSON.parse(body) as { readonly request: Request }).request)
  const prepare = async (objects: readonly ApiObject[], version = 'v2') => conversion.prepare?.(objects, version)
  return { conversion, calls, requests, prepare }
}

describe('a conversion by webhook', () => {
  it.each([
    ['another strategy', definitionOf({ strategy: 'None' })],
    ['no conversion', definitionOf({}, { conversion: undefined })],
    ['no version that is stored', definitionOf({}, { versions: versions.slice(1) })],
  ])('is none for %s', (_what, definition) => {
    expect(conversionByWebhook(definition, { random: {} as never })).toBeUndefined()
  })

  it('is of the kind, and knows its schemas', () => {
    const { conversion } = create()
    expect(conversion).toMatchObject({
      group: 'example.com',
      kind: 'Widget',
      version: 'v1',
      schema: { type: 'object' },
    })
    expect(conversion.schemaOf('v1')).toEqual({ type: 'object' })
    expect(conversion.schemaOf('v2')).toEqual({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
    expect(conversion.schemaOf('v3')).toBeUndefined()
    const bare = versions.map(({ schema: _, ...version }) => version)
    expect(create(converts, definitionOf({}, { versions: bare })).conversion.schema).toEqual(conversion.schemaOf('v2'))
  })

  it('asks for what is not known, and gives it from then on', async () => {
    const { conversion, calls, requests, prepare } = create()
    const one = widget('a', 'v1', { labels: { mine: 'yes' }, annotations: { b: 'c' } })
    expect(() => conversion.convert(one, 'v2')).toThrow(UnpreparedError)
    expect(conversion.convert(one, 'v1')).toBe(one)
    await prepare([one, widget('b', 'v2')])
    expect(requests()).toMatchObject([
      { uid: 'uid-0', desiredAPIVersion: 'example.com/v2', objects: [{ spec: { name: 'a' } }] },
    ])
    expect(requests()[0]?.objects).toHaveLength(1)
    const { labels: _, annotations: __, ...kept } = one.metadata
    expect(conversion.convert(one, 'v2')).toEqual({
      ...one,
      apiVersion: 'example.com/v2',
      metadata: { ...kept, labels: { of: 'example.com/v2' }, annotations: { b: 'c' } },
    })
    await prepare([one])
    expect([calls.length, conversion.findFault?.(one, 'v2')]).toEqual([1, undefined])
    expect(calls[0]).toMatchObject({ url, timeoutMs: 30_000, answerBytesMax: 4_000_000 })
    expect(calls[0]).not.toHaveProperty('authorities')
  })

  it('knows what says the same again, whatever its version and generation', async () => {
    const { conversion, calls, prepare } = create()
    await prepare([widget('a')])
    const later = widget('a', 'v1', { resourceVersion: '9', generation: 4 })
    expect(conversion.convert(later, 'v2').metadata).toMatchObject({ resourceVersion: '9', generation: 4 })
    expect(conversion.convert(later, 'v2')).toBe(conversion.convert(later, 'v2'))
    await prepare([later])
    expect(calls).toHaveLength(1)
    await prepare([widget('a', 'v1', { labels: { x: 'y' } })])
    expect(calls).toHaveLength(2)
  })

  it('forgets what says the same when a thousand others have come', async () => {
    const { calls, prepare } = create()
    const many = Array.from({ length: 1_000 }, (_, i) => widget(`w${i}`))
    await prepare(many)
    expect(calls).toHaveLength(2)
    await prepare([widget('w0')])
    expect(calls).toHaveLength(2)
    await prepare([widget('one more')])
    await prepare([widget('w0')])
    expect(calls).toHaveLength(4)
  })

  it.each([
    [499, 0, [499]],
    [500, 0, [500]],
    [501, 0, [500, 1]],
    [3, 700_000, [3]],
    [4, 700_000, [3, 1]],
    [2, 2_100_000, [1, 1]],
  ])('asks for %d objects of %d letters in calls of %j', async (count, length, sizes) => {
    const { requests, prepare } = create()
    await prepare(
      Array.from({ length: count }, (_, i) => widget(`w${i}`, 'v1', { annotations: { a: 'x'.repeat(length) } })),
    )
    expect(requests().map(({ objects }) => objects.length)).toEqual(sizes)
  })

  it('takes an answer of twice the question', async () => {
    const { calls, prepare } = create()
    await prepare([widget('a', 'v1', { annotations: { a: 'x'.repeat(3_000_000) } })])
    expect(calls[0]?.answerBytesMax).toBe(2 * (calls[0]?.body.length ?? 0))
  })

  it.each<[string, unknown, string]>([
    ['is away', new OperatingError('UNAVAILABLE', 'no answer'), 'no answer'],
    ['answers something else', {}, 'expected webhook response'],
  ])('says of each object why there is none if the webhook %s, and asks again', async (_what, answer, why) => {
    let isWell = false
    const { conversion, calls, prepare } = create((request) => (isWell ? converts(request) : answer))
    const one = widget('a')
    const failed = expect.objectContaining({
      code: 'CONVERSION_FAILED',
      message: expect.stringContaining(why),
      details: { name: 'widgets.example.com', group: 'example.com', kind: 'Widget' },
    })
    await expect(prepare([one])).rejects.toEqual(failed)
    expect(() => conversion.convert(one, 'v2')).toThrow(failed)
    const words = 'conversion webhook for example.com/v1, Kind=Widget failed: '
    expect(conversion.findFault?.(one, 'v2')).toContain(words)
    // Who says the same later asks anew: a failure is not kept by what was said.
    expect(() => conversion.convert(widget('a'), 'v2')).toThrow(UnpreparedError)
    isWell = true
    await prepare([one])
    expect([calls.length, conversion.convert(one, 'v2').apiVersion]).toEqual([2, 'example.com/v2'])
  })

  it('is asked with the authorities that its definition names, if it names any', async () => {
    const clientConfig = { url, caBundle: Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64') }
    const { calls, prepare } = create(
      converts,
      definitionOf({ webhook: { clientConfig, conversionReviewVersions: ['v1'] } }),
    )
    await prepare([widget('a')])
    expect(calls[0]?.authorities).toContain('BEGIN CERTIFICATE')
  })

  it('has the owners of fields that the version says in which they were written', async () => {
    const properties = {
      spec: {
        type: 'object',
        properties: {
          list: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: { type: 'object', properties: { name: { type: 'string' } } },
          },
        },
      },
    }
    const described = [{ ...versions[0], schema: { openAPIV3Schema: { type: 'object', properties } } }, versions[1]]
    const { conversion, prepare } = create(converts, definitionOf({}, { versions: described }))
    expect(conversion.schema).toBe(conversion.schemaOf('v1'))
    const managedFields = [{ manager: 'm', operation: 'Update', apiVersion: 'example.com/v1', fieldsType: 'FieldsV1' }]
    const one = { ...widget('a', 'v1', { managedFields }), spec: { list: [{ name: 'x' }] }, status: { ready: true } }
    expect(conversion.findFault(one, 'v2')).toBeUndefined()
    await prepare([one])
    const [{ fieldsV1 } = {}] = conversion.convert(one, 'v2').metadata.managedFields ?? []
    const item = { '.': {}, 'f:name': {} }
    expect(fieldsV1).toEqual({ 'f:spec': { '.': {}, 'f:list': { '.': {}, 'k:{"name":"x"}': item } } })
  })

  it('is none that this process can ask', async () => {
    const conversion = conversionByWebhook(definitionOf(), { random: { uuid: () => 'u' } as never })
    await expect(conversion?.prepare?.([widget('a')], 'v2')).rejects.toThrow('this process calls no webhooks')
    await conversion?.prepare?.([], 'v2')
  })

  it('has slips of the program be slips', async () => {
    const slip = new TypeError('a bug')
    await expect(create(() => slip).prepare([widget('a')])).rejects.toBe(slip)
  })
})
