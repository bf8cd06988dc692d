import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineKind } from '../../../shared/index.ts'

/** What a kind becomes: the definition that is served, without a control plane. */

const named = { group: 'unit.test', version: 'v2', kind: 'Page' } as const
const textSpec = z.object({ text: z.string() })

function versionsOf(options: object) {
  return defineKind({ ...named, spec: textSpec, ...options }).definition?.spec.versions ?? []
}

/** The schema that a field of the spec becomes. */
function fieldOf(type: z.ZodType): unknown {
  const [version] = versionsOf({ spec: z.object({ field: type }) })
  return version?.schema?.openAPIV3Schema?.properties?.['spec']?.properties?.['field']
}

const common = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
]

describe('the definition of a kind', () => {
  it('has the names that follow from it, and no more than was said', () => {
    const { hooks, conversion, definition, ...kind } = defineKind({ ...named, spec: textSpec })
    expect(kind).toEqual({ ...named, namespaced: true })
    expect([hooks, conversion]).toEqual([undefined, undefined])
    expect(definition).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'pages.unit.test' },
      spec: { group: 'unit.test', scope: 'Namespaced' },
    })
    expect(definition?.metadata).not.toHaveProperty('annotations')
    expect(definition?.spec.names).toEqual({ kind: 'Page', plural: 'pages', singular: 'page', listKind: 'PageList' })
    const [version, ...others] = definition?.spec.versions ?? []
    expect(version).toMatchObject({ name: 'v2', served: true, storage: true, additionalPrinterColumns: common })
    expect([others, version?.subresources]).toEqual([[], { status: {} }])
    expect(version).not.toHaveProperty('deprecated')
  })

  it('has what was said', () => {
    const column = { name: 'Text', type: 'string', jsonPath: '.spec.text' }
    const { namespaced, definition } = defineKind({
      ...named,
      scope: 'Cluster',
      plural: 'leaves',
      shortNames: ['pg'],
      categories: ['all'],
      description: 'a page',
      rules: [{ rule: 'self.spec.text != ""' }],
      columns: [column as never],
      spec: textSpec,
    })
    expect(namespaced).toBe(false)
    expect(definition?.metadata.name).toBe('leaves.unit.test')
    expect(definition?.spec).toMatchObject({
      scope: 'Cluster',
      names: { plural: 'leaves', shortNames: ['pg'], categories: ['all'] },
    })
    const [version] = definition?.spec.versions ?? []
    expect(version?.additionalPrinterColumns).toEqual([column, ...common])
    expect(version?.schema?.openAPIV3Schema).toMatchObject({
      description: 'a page',
      'x-kubernetes-validations': [{ rule: 'self.spec.text != ""' }],
    })
  })

  it('says nothing of what was left out', () => {
    const [version] = versionsOf({})
    const schema = version?.schema?.openAPIV3Schema
    expect(Object.keys(schema ?? {}).toSorted()).toEqual(['properties', 'required', 'type'])
  })

  it('is worked out once', () => {
    const kind = defineKind({ ...named, spec: textSpec })
    expect(kind.definition).toBe(kind.definition)
  })

  it('has an annotation that tells other releases of its functions, if it has older versions', () => {
    const annotationsOf = (options: object) => defineKind({ ...named, spec: textSpec, ...options }).definition?.metadata
    expect(annotationsOf({})).toEqual({ name: 'pages.unit.test' })
    const olderVersions = (older: (name: string, of: object) => never) => [older('v1', { spec: textSpec })]
    const conversion = { 'setpoint.dev/conversion': 'functions' }
    expect(annotationsOf({ olderVersions })).toEqual({ name: 'pages.unit.test', annotations: conversion })
    expect(annotationsOf({ olderVersions, group: 'batch' })?.annotations).toMatchObject({
      'api-approved.kubernetes.io': 'unapproved, brought by a reconciler',
      ...conversion,
    })
  })

  it('has an annotation in a group of Kubernetes, without which its server takes none', () => {
    const { definition } = defineKind({ ...named, group: 'batch.k8s.io', spec: textSpec })
    expect(definition?.metadata).toMatchObject({
      annotations: { 'api-approved.kubernetes.io': 'unapproved, brought by a reconciler' },
    })
  })

  it.each([
    ['nothing of its own', {}, undefined],
    ['a default', { default: 1 }, ['default']],
    ['a validation', { validate: 2 }, ['validate']],
    ['both', { default: 1, validate: 2 }, ['default', 'validate']],
  ])('with %s has hooks for that', (_what, options, hooks) => {
    const kind = defineKind({ ...named, spec: textSpec, ...options } as never)
    expect(kind.hooks && Object.keys(kind.hooks)).toEqual(hooks)
  })
})

describe('the schema of a kind', () => {
  it.each([
    ['a spec that needs something', textSpec, ['spec'], undefined],
    ['a spec that needs nothing', z.object({ text: z.string().optional() }), undefined, {}],
  ])('%s', (_what, of, required, byDefault) => {
    const [version] = versionsOf({ spec: of })
    const schema = version?.schema?.openAPIV3Schema
    expect([schema?.required, schema?.properties?.['spec']?.default]).toEqual([required, byDefault])
  })

  it('has what the engine writes into each status, and its first condition', () => {
    const bare = versionsOf({})[0]?.schema?.openAPIV3Schema?.properties?.['status']
    const own = versionsOf({ status: z.object({ url: z.string() }) })[0]?.schema?.openAPIV3Schema?.properties?.[
      'status'
    ]
    expect(Object.keys(bare?.properties ?? {})).toEqual(['conditions', 'observedGeneration', 'lastHandledReconcileAt'])
    expect(own?.properties).toMatchObject({ url: { type: 'string' }, ...bare?.properties })
    for (const status of [bare, own]) {
      expect(status).not.toHaveProperty('required')
      expect(status).toMatchObject({
        type: 'object',
        default: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Pending' }] },
      })
    }
  })

  it.each<[string, z.ZodType, object]>([
    ['whole numbers, unbounded', z.int(), { type: 'integer' }],
    ['whole numbers from one', z.int().min(1), { type: 'integer', minimum: 1 }],
    ['whole numbers up to nine', z.int().max(9), { type: 'integer', maximum: 9 }],
    ['a whole number or a text', z.union([z.int(), z.string()]), { 'x-kubernetes-int-or-string': true }],
    [
      'a whole number or a text, each with its bounds',
      z.union([z.int().min(1).describe('How many.'), z.string().regex(/^\d+%$/)]).describe('How many, or a share.'),
      { 'x-kubernetes-int-or-string': true, minimum: 1, pattern: '^\\d+%$', description: 'How many, or a share.' },
    ],
    ['a list that nobody changes', z.array(z.string()).readonly(), { type: 'array', items: { type: 'string' } }],
    ['one of some texts', z.enum(['a']), { type: 'string', enum: ['a'] }],
    ['a text, or null', z.string().nullable(), { type: 'string', nullable: true }],
    ['one of some texts, or null', z.enum(['a']).nullable(), { type: 'string', nullable: true, enum: ['a', null] }],
    ['null', z.null(), { type: 'string', nullable: true, enum: [null] }],
    ['a list of whole numbers', z.array(z.int()), { type: 'array', items: { type: 'integer' } }],
    [
      'a map of whole numbers',
      z.record(z.string(), z.int()),
      { type: 'object', additionalProperties: { type: 'integer' } },
    ],
    [
      'an object of whole numbers',
      z.object({ of: z.int().optional() }),
      { type: 'object', properties: { of: { type: 'integer' } } },
    ],
    ['a pattern', z.string().regex(/^a/), { type: 'string', pattern: '^a' }],
    ['a pattern with flags', z.string().regex(/^a.b/is), { type: 'string', pattern: '(?is)^a.b' }],
    ['a pattern with flags of no weight', z.string().regex(/^a/gu), { type: 'string', pattern: '^a' }],
    [
      'several patterns, and flags that are kept when there is more to say',
      z.string().regex(/^a/).regex(/b$/i).optional().describe('Both.'),
      { type: 'string', description: 'Both.', allOf: [{ pattern: '^a' }, { pattern: '(?i)b$' }] },
    ],
  ])('says %s in as few words', (_what, type, schema) => {
    expect(fieldOf(type)).toEqual(schema)
  })

  it.each<[string, z.ZodType]>([
    ['a number or a text', z.union([z.number(), z.string()])],
    ['one of three', z.union([z.int(), z.string(), z.boolean()])],
    ['a whole number or a flag', z.union([z.int(), z.boolean()])],
    ['one of two texts', z.union([z.string().max(3), z.string().min(5)])],
    ['a whole number or one text', z.union([z.int(), z.literal('auto')])],
    ['a whole number or a text of a format', z.union([z.int(), z.iso.date()])],
    [
      'one of two objects',
      z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })]),
    ],
  ])('of %s is none that Kubernetes knows', (_what, type) => {
    expect(() => fieldOf(type)).toThrow(/^Page: .*: a field is of one type: write an object with the fields of all/)
  })
})

const upgrade = (object: object): never => object as never

function olderOf(options: object) {
  return versionsOf({
    olderVersions: (older: (name: string, of: object) => never) => [
      older('v1', { spec: z.object({ was: z.string() }), upgrade, downgrade: upgrade, ...options }),
    ],
  })[1]
}

describe('an older version', () => {
  it.each([
    ['is served', {}, { served: true, storage: false, deprecated: undefined, deprecationWarning: undefined }],
    ['is not served', { served: false }, { served: false }],
    ['is not deprecated', { deprecated: false }, { deprecated: undefined, deprecationWarning: undefined }],
    ['is deprecated', { deprecated: true }, { deprecated: true, deprecationWarning: undefined }],
    ['is deprecated, in words', { deprecated: 'use v2' }, { deprecated: true, deprecationWarning: 'use v2' }],
  ])('that %s', (_what, options, is) => {
    const { name, served, storage, deprecated, deprecationWarning } = olderOf(options) ?? {}
    expect({ name, served, storage, deprecated, deprecationWarning }).toMatchObject({ name: 'v1', ...is })
  })

  it.each([
    ['has the status of the kind unless it says another', undefined, 'url'],
    ['has a status of its own', z.object({ link: z.string() }), 'link'],
  ])('%s', (_what, status, field) => {
    const kind = defineKind({
      ...named,
      spec: textSpec,
      status: z.object({ url: z.string() }),
      olderVersions: (older) => [
        older('v1', {
          spec: z.object({ was: z.string() }),
          upgrade: ({ spec: { was } }) => ({ spec: { text: was } }),
          downgrade: ({ spec: { text } }) => ({ spec: { was: text } }),
          ...(status && { status: status as never }),
        }),
      ],
    })
    const [, old] = kind.definition?.spec.versions ?? []
    expect(old?.schema?.openAPIV3Schema?.properties?.['status']?.properties).toHaveProperty(field)
    const object = { apiVersion: 'unit.test/v1', kind: 'Page', metadata: { name: 'a' }, spec: { was: 'x' } }
    const stored = { ...object, status: { url: 'u' } } as never
    const current = kind.conversion?.convert(stored, 'v2')
    expect(current).toMatchObject({ apiVersion: 'unit.test/v2', spec: { text: 'x' } })
    expect(current?.status?.['url']).toBe(status === undefined ? 'u' : undefined)
  })

  it('is given whole to what converts it, and comes out whole', () => {
    const given: unknown[] = []
    const kind = defineKind({
      ...named,
      spec: z.object({ text: z.string(), size: z.int().default(5) }),
      olderVersions: (older) => [
        older('v1', {
          spec: z.object({ was: z.string(), color: z.string().default('red') }),
          upgrade: ({ spec: { was, color } }) => {
            given.push(color)
            return { spec: { text: `${color} ${was}` } as never }
          },
          downgrade: ({ spec: { text, size } }) => {
            given.push(size)
            return { spec: { was: text } as never }
          },
        }),
      ],
    })
    const object = (version: string, spec: object): never =>
      ({ apiVersion: `unit.test/${version}`, kind: 'Page', metadata: { name: 'a' }, spec }) as never
    const { conversion } = kind
    expect(conversion?.convert(object('v1', { was: 'x' }), 'v2')['spec']).toEqual({ text: 'red x' })
    expect(conversion?.convert(object('v2', { text: 'y' }), 'v1')['spec']).toEqual({ was: 'y' })
    expect(given).toEqual(['red', 5])
    expect([conversion?.group, conversion?.kind, conversion?.version]).toEqual(['unit.test', 'Page', 'v2'])
  })

  it('cannot be the version of the kind itself', () => {
    expect(() =>
      versionsOf({
        olderVersions: (older: (name: string, of: object) => never) => [
          older('v2', { spec: textSpec, upgrade, downgrade: upgrade }),
        ],
      }),
    ).toThrow('Page: olderVersions: v2 is the version of the kind itself')
  })

  it('cannot have the name of another one', () => {
    expect(() =>
      versionsOf({
        olderVersions: (older: (name: string, of: object) => never) => [
          older('v1', { spec: textSpec, upgrade, downgrade: upgrade }),
          older('v1beta1', { spec: textSpec, upgrade, downgrade: upgrade }),
          older('v1', { spec: z.object({ other: z.string() }), upgrade, downgrade: upgrade }),
        ],
      }),
    ).toThrow('Page: olderVersions: v1 is there twice')
  })
})

/** What nobody would tell its author: objects are checked by the schema alone. */
it.each<[string, z.ZodType, string]>([
  ['a transformation', z.string().transform(Number), 'nothing is transformed'],
  ['a pipe', z.string().pipe(z.enum(['a'])), 'nothing is transformed'],
  ['a promise', z.promise(z.string()), 'nothing is transformed'],
  ['whether something else fits', z.success(z.int()), 'nothing is transformed'],
  ['a pattern with operations on sets', z.string().regex(/^[\p{L}--[a-z]]$/v), 'the flags v and y'],
  ['a pattern that sticks', z.string().regex(/a/y), 'the flags v and y'],
  ['an infinite default', z.number().default(Infinity), 'no number that is written is infinite'],
  ['a number of several that is none', z.enum({ most: Infinity }), 'no number that is written is infinite'],
  ['a literal that is no number', z.literal(Number.NaN), 'no number that is written is infinite'],
  ['a codec', z.codec(z.iso.datetime(), z.date(), { decode: (at) => new Date(at), encode: String }), 'nothing is'],
  ['a text that is a flag', z.stringbool(), 'nothing is transformed'],
  ['a function before', z.preprocess(String, z.string()), 'nothing is transformed'],
  ['a trimmed text', z.string().trim(), 'no text is changed'],
  ['a function', z.string().refine(Boolean), 'no function is called: say it by validate or rules of the kind'],
  ['a function behind a bound', z.string().min(1).refine(Boolean), 'no function is called'],
  ['a function of an object', z.object({}).check(() => {}), 'no function is called'],
  ['a function behind other words', z.array(z.string()).refine(Boolean).min(1).optional(), 'no function is called'],
  ['a text in the place of a wrong one', z.string().catch('x'), 'what is wrong is refused'],
  ['a conversion', z.coerce.number(), 'nothing is converted'],
  ['a default of chance', z.string().default(() => String(Math.random())), 'a default is one value for all objects'],
  ['such a default ahead', z.string().prefault(() => String(Math.random())), 'a default is one value for all objects'],
  ['a default of null', z.string().nullable().default(null), 'a default of null counts as none: write .nullish()'],
  ['such a default ahead of it', z.string().nullable().prefault(null), 'a default of null counts as none'],
  ['fields of any name', z.looseObject({ a: z.string() }), 'an object has the fields that it names'],
  ['fields of any name and one type', z.object({ a: z.string() }).catchall(z.int()), 'an object has the fields that'],
  ['bytes', z.base64(), "bytes are written as base64: write z.string().meta({ format: 'byte' })"],
  ['a tuple', z.tuple([z.string(), z.int()]), 'the items of a list are of one type'],
  ['a record of some keys', z.partialRecord(z.enum(['a', 'b']), z.int()), 'the keys of a record are any texts'],
  ['a record of keys of a form', z.record(z.string().min(2), z.int()), 'the keys of a record are any texts'],
  ['a record of keys of a format', z.record(z.uuid(), z.int()), 'the keys of a record are any texts'],
  ['a URL of some protocols', z.url({ protocol: /^https$/ }), 'a URL may be of any host and protocol'],
  ['a format without a pattern', z.jwt(), 'the format jwt is not checked'],
])('%s is refused with its path', (_what, type, message) => {
  const path = 'Page: properties[spec].properties[field].items.properties[in]: '
  expect(() => fieldOf(z.array(z.object({ in: type })))).toThrow(`${path}${message}`)
})

it.each<[z.ZodType, string]>([
  [z.date(), 'Date cannot be represented in JSON Schema: an object holds a time as text: write z.iso.datetime(), '],
  [z.bigint(), 'BigInt cannot be represented in JSON Schema: a whole number is at most 2^53: write z.int(), '],
  [z.map(z.string(), z.int()), 'Map cannot be represented in JSON Schema: write z.record(z.string(), …)'],
  [z.set(z.string()), "Set cannot be represented in JSON Schema: write z.array(…).meta({ 'x-kubernetes-list-type': "],
  [z.undefined(), 'Undefined cannot be represented in JSON Schema: leave the field out, '],
  [z.void(), 'Void cannot be represented in JSON Schema: leave the field out, '],
  [z.nan(), 'NaN cannot be represented in JSON Schema: no number that is written is NaN'],
  [z.symbol(), 'Symbols cannot be represented in JSON Schema: an object holds data: write z.string()'],
  [z.custom(Boolean), 'Custom types cannot be represented in JSON Schema: no function is called: say the type that is'],
  [z.transform(Number), 'Transforms cannot be represented in JSON Schema: nothing is transformed: say what is written'],
  [z.literal([1n]), 'BigInt literals cannot be represented in JSON Schema'],
])('what no schema can say has a way out: %#', (type, message) => {
  expect(() => fieldOf(type)).toThrow(`Page: properties[spec].properties[field]: ${message}`)
})

it('a word that no schema of Kubernetes has is refused, and not left out', () => {
  expect(() => fieldOf(z.string().meta({ readOnly: true }))).toThrow('[field].readOnly: Forbidden: readOnly is not')
})

it('what no schema can say, and nothing is like, is refused without a way out', () => {
  expect(() => fieldOf(z.literal([1n]))).toThrow(/BigInt literals cannot be represented in JSON Schema$/)
})

it.each([
  [z.object({ at: z.date() }), 'Page: properties[spec].properties[at]: '],
  [z.object({ at: z.array(z.date()) }), 'Page: properties[spec].properties[at].items: '],
  [z.object({ at: z.record(z.string(), z.date()) }), 'Page: properties[spec].properties[at].additionalProperties: '],
  [z.date() as never, 'Page: properties[spec]: '],
])('what no schema can say is named by its path: %#', (of, path) => {
  expect(() => versionsOf({ spec: of })).toThrow(path)
})

it.each<[object, string]>([
  [{ spec: z.string() }, 'Page: the spec is an object: write z.object({ … })'],
  [{ spec: z.array(z.string()) }, 'Page: the spec is an object'],
  [{ status: z.string() }, 'Page: the status is an object'],
  [{ status: z.record(z.string(), z.string()) }, 'Page: a status has fields such as conditions: put the record into'],
  [{ status: z.object({ reconcile: z.string() }) }, 'Page: status.reconcile is what the control plane shows'],
])('what is no spec or status of a kind is refused with what to write: %#', (options, why) => {
  expect(() => versionsOf(options)).toThrow(why)
})

it('fields that are not named are kept where the schema says so', () => {
  const free = z.object({ a: z.string() }).meta({ 'x-kubernetes-preserve-unknown-fields': true })
  expect(fieldOf(free)).toMatchObject({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
  expect(fieldOf(z.string().meta({ format: 'byte' }))).toEqual({ type: 'string', format: 'byte' })
})

const labelWords = 'a DNS-1035 label must consist of'

describe('the names of a kind', () => {
  it.each([
    [{ version: '1' }, `Page: version: Invalid value: "1": ${labelWords}`],
    [{ version: 'v2_1' }, `Page: version: Invalid value: "v2_1": ${labelWords}`],
    [{ version: undefined }, 'Page: version: Required value'],
    [{ group: 'X_dev' }, 'Page: group: Invalid value: "X_dev": a lowercase RFC 1123 subdomain must'],
    [{ group: 'unit' }, 'Page: group: Invalid value: "unit": should be a domain with at least one dot'],
    [{ group: '' }, 'Page: group: Required value'],
    [{ kind: 'k y' }, 'k y: kind: Invalid value: "k y": may have mixed case, but should otherwise match: a DNS-1035'],
    [{ kind: '9s' }, '9s: kind: Invalid value: "9s": may have mixed case'],
    [{ kind: '' }, 'a kind: kind: Required value'],
    [{ plural: 'Pages' }, `Page: plural: Invalid value: "Pages": ${labelWords}`],
    [{ plural: '' }, 'Page: plural: Required value'],
    [{ shortNames: ['p', 'P'] }, `Page: shortNames[1]: Invalid value: "P": ${labelWords}`],
    [{ kind: `K${'k'.repeat(60)}` }, 'listKind: Invalid value: '],
  ])('are refused as a control plane refuses them: %j', (wrong, why) => {
    const define = (): unknown => defineKind({ ...named, spec: textSpec, ...wrong } as never)
    expect(define).toThrow(TypeError)
    expect(define).toThrow(why)
  })

  it.each([
    [{ rule: [{ rule: 'true' }] }, 'Page: there is no option rule: rules is probably meant'],
    [{ scope: 'cluster' }, 'Page: scope: "cluster" is none: give Namespaced or Cluster'],
    [
      { columns: [{ name: 'N', type: 'string', jsonPath: 'spec.n' }] },
      'Page: columns[0].jsonPath: Invalid value: "spec.n"',
    ],
  ])('go with options that are right: %j', (wrong, why) => {
    const define = (): unknown => defineKind({ ...named, spec: textSpec, ...wrong } as never)
    expect(define).toThrow(why)
  })

  it.each([
    [{ rule: [] }, 'Page: olderVersions: v0: there is no option rule: rules is probably meant'],
    [{ columns: [{ name: 'N', type: 'string', jsonPath: 'spec.n' }] }, 'Page: olderVersions.v0.columns[0].jsonPath: '],
  ])('go with options that are right in older versions, too: %j', (wrong, why) => {
    const convert = ({ spec }: { readonly spec: unknown }) => ({ spec })
    const options = { spec: textSpec, upgrade: convert, downgrade: convert, ...wrong }
    const olderVersions = (older: (name: string, one: object) => unknown) => [older('v0', options)]
    expect(() => versionsOf({ olderVersions })).toThrow(why)
  })

  it('are refused of an older version, too', () => {
    const olderVersions = (older: (name: string, one: object) => unknown) => [older('1', { spec: textSpec })]
    expect(() => versionsOf({ olderVersions })).toThrow(`Page: olderVersions: Invalid value: "1": ${labelWords}`)
  })

  it('may be those of Kubernetes, without a dot in the group', () => {
    expect(defineKind({ ...named, group: 'batch', spec: textSpec }).group).toBe('batch')
  })
})
