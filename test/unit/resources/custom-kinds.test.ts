import { describe, expect, it } from 'vitest'
import type { Conversion } from '../../../shared/model/conversion.ts'
import type { CustomResourceDefinition } from '../../../shared/model/custom-resource-definition.ts'
import { servedKindsOf, storedKindOf, withDefined } from '../../../shared/resources/custom-kinds.ts'

const names = { kind: 'Widget', plural: 'widgets' }
const schema = { openAPIV3Schema: { type: 'object' as const } }
const v1 = { name: 'v1', served: true, storage: false, schema }
const v2 = { name: 'v2', served: true, storage: true, schema }
const v3 = { name: 'v3', served: false, storage: false }

interface Given {
  readonly versions?: readonly object[]
  readonly spec?: object
  readonly metadata?: object
  readonly status?: object
  readonly established?: string
}

function definitionOf({ versions = [v1, v2, v3], spec, metadata, status, established = 'True' }: Given = {}) {
  return {
    metadata: { name: 'widgets.example.com', uid: 'u', generation: 1, ...metadata },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions, ...spec },
    status: { conditions: [{ type: 'Established', status: established }], ...status },
  } as unknown as CustomResourceDefinition
}

interface FromRelease {
  readonly functions?: object
  readonly spec?: object
  readonly sources?: { readonly random: never }
}

const served = (definition: CustomResourceDefinition) => servedKindsOf(definition)[0]

describe('a kind of users’ own', () => {
  it('is served in each served version, the stored one first', () => {
    const kinds = servedKindsOf(definitionOf())
    expect(kinds.map(({ version }) => version)).toEqual(['v2', 'v1'])
    expect(kinds.map(({ storageVersion, servedVersions }) => [storageVersion, servedVersions])).toEqual([
      ['v2', ['v1', 'v2']],
      ['v2', ['v1', 'v2']],
    ])
    expect(storedKindOf(definitionOf())?.version).toBe('v2')
  })

  it('is none until it is established, nor without a version that is stored', () => {
    for (const established of ['False', 'Unknown']) {
      expect(servedKindsOf(definitionOf({ established }))).toEqual([])
      expect(storedKindOf(definitionOf({ established }))).toBeUndefined()
    }
    expect(storedKindOf(definitionOf({ versions: [v1] }))).toBeUndefined()
    expect(served(definitionOf({ versions: [v1] }))?.storageVersion).toBe('')
  })

  it('has what follows from its names, where nothing else is said', () => {
    const bare = { name: 'v2', served: true, storage: true }
    expect(served(definitionOf({ versions: [bare] }))).toEqual({
      group: 'example.com',
      version: 'v2',
      storageVersion: 'v2',
      versions: ['v2'],
      kind: 'Widget',
      listKind: 'WidgetList',
      plural: 'widgets',
      singular: 'widget',
      shortNames: [],
      categories: [],
      namespaced: true,
      schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      hasStatus: false,
      columns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
      selectableFields: [],
      builtIn: false,
      definedBy: 'u/1',
    })
  })

  it('names the definition and the state of its spec, which the mark for deletion leaves as it is', () => {
    const defined = (metadata: object) => served(definitionOf({ metadata }))?.definedBy
    const deletionTimestamp = '2026-01-01T00:00:00Z'
    expect([defined({ generation: 3 }), defined({ generation: 4, deletionTimestamp })]).toEqual(['u/3', 'u/3'])
    expect([defined({ generation: 4 }), defined({ uid: 'v' })]).toEqual(['u/4', 'v/1'])
  })

  it('has what is said', () => {
    const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' }
    const columns = [{ name: 'N', type: 'integer', jsonPath: '.spec.n' }]
    const version = {
      ...v2,
      subresources: { status: {}, scale },
      additionalPrinterColumns: columns,
      selectableFields: [{ jsonPath: '.spec.n' }, { jsonPath: 'spec.m' }],
      deprecated: true,
      deprecationWarning: 'use v3',
    }
    const said = { listKind: 'Widgets', singular: 'w', shortNames: ['wd'], categories: ['all'] }
    const definition = definitionOf({
      versions: [version],
      spec: { scope: 'Cluster', names: { ...names, ...said } },
      metadata: { deletionTimestamp: 'x' },
    })
    expect(served(definition)).toMatchObject({
      ...said,
      namespaced: false,
      schema: schema.openAPIV3Schema,
      hasStatus: true,
      scale,
      columns,
      selectableFields: ['spec.n', 'spec.m'],
      deprecation: 'use v3',
      isEnding: true,
    })
  })

  it('goes by the names that were accepted', () => {
    const acceptedNames = { ...names, plural: 'gadgets', singular: 'gadget' }
    expect(served(definitionOf({ status: { acceptedNames } }))).toMatchObject({ plural: 'gadgets', singular: 'gadget' })
  })
})

describe('the functions of a kind', () => {
  const conversion = {
    group: 'example.com',
    kind: 'Widget',
    version: 'v1',
    schema: { type: 'object' },
  } as unknown as Conversion
  const hooks = { validate: () => [] } as never
  const functions = { of: () => conversion, hooksOf: () => hooks }

  it('are those of the program, and it is stored in the version that they say', () => {
    expect(servedKindsOf(definitionOf(), functions)).toMatchObject([
      { version: 'v2', storageVersion: 'v1', conversion, hooks },
      { version: 'v1', storageVersion: 'v1', conversion, hooks },
    ])
    expect(storedKindOf(definitionOf(), functions)).toMatchObject({ version: 'v1', schema: schema.openAPIV3Schema })
    const other = { ...conversion, version: 'v9', schema: { type: 'object', description: 'of the program' } } as never
    expect(storedKindOf(definitionOf(), { ...functions, of: () => other })).toMatchObject({
      version: 'v9',
      schema: { description: 'of the program' },
    })
    expect(storedKindOf(definitionOf({ versions: [v1] }), functions)).toBeUndefined()
  })

  const byWebhook = { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://a' } } } }
  const sources = { random: {} as never }
  it.each([
    ['nobody else, a webhook converts it', undefined, 'v2'],
    ['functions of the program, those convert it', { of: () => conversion, hooksOf: () => {} }, 'v1'],
    ['hooks of the program, nobody converts it', { of: () => {}, hooksOf: () => hooks }, undefined],
  ])('with %s', (_what, own, version) => {
    const both = withDefined(own as never, [definitionOf({ spec: byWebhook })], sources)
    expect(both.of('example.com', 'Widget')?.version).toBe(version)
    expect(both.of('example.com', 'Other')).toBeUndefined()
    expect(both.hooksOf('example.com', 'Widget')).toBe(own?.hooksOf())
  })
  const marked = { annotations: { 'setpoint.dev/conversion': 'functions' } }
  it.each([
    ['functions of the program', { functions: { of: () => conversion, hooksOf: () => {} } }, 'own'],
    ['a webhook', { spec: byWebhook, sources }, 'webhook'],
    ['a webhook that nobody asks', { spec: byWebhook }, 'none'],
    ['hooks of the program', { functions: { of: () => {}, hooksOf: () => hooks }, spec: byWebhook, sources }, 'none'],
    ['nobody', {}, 'none'],
  ])('of a definition that functions convert, with %s', (_what, given, by) => {
    const { functions: own, spec, sources: asked }: FromRelease = given
    const definition = definitionOf({ metadata: marked, ...(spec && { spec }) })
    const found = withDefined(own as never, [definition], asked).of('example.com', 'Widget')
    const isMissing = found?.lacks?.('v1') === true
    expect(isMissing ? 'none' : found === conversion ? 'own' : found && 'webhook').toBe(by)
  })
})
