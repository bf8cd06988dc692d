import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createHarness, widgetDefinition, type Harness, type Reply, type Watch } from './harness.ts'

/** What the schema of a kind, and the state of a version, mean for what is there already. */
let harness: Harness
beforeEach(async () => {
  harness = await createHarness()
})
afterEach(() => harness.close())

const bells = '/apis/example.com/v1/namespaces/default/bells'

interface VersionParts {
  readonly spec?: JsonObject
  readonly more?: JsonObject
}

async function define(versions: Readonly<Record<string, VersionParts>>): Promise<void> {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'bells.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Bell', plural: 'bells' },
      versions: Object.entries(versions).map(([name, { spec = {}, more }]) => ({
        name,
        served: true,
        storage: name === 'v1',
        selectableFields: [{ jsonPath: '.spec.tone' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { tone: { type: 'string' }, ...spec } } },
          },
        },
        ...more,
      })),
    },
  }
  const { status } = await harness.send(
    'PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/bells.example.com?fieldManager=test&force=true',
    { type: 'application/apply-patch+yaml', body: definition },
  )
  expect([200, 201]).toContain(status)
}

const bell = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Bell',
  metadata: { name },
  spec,
})

describe('a default that is added to a definition', () => {
  const later = { v1: { spec: { tone: { type: 'string', default: 'deep' }, size: { type: 'integer', default: 3 } } } }

  beforeEach(async () => {
    await define({ v1: {} })
    await harness.send(`POST ${bells}`, { body: bell('old') })
    await harness.send(`POST ${bells}`, { body: bell('high', { tone: 'high' }) })
  })

  it('is there wherever an older object is read', async () => {
    const version = (await harness.send(`GET ${bells}`)).body.metadata.resourceVersion
    await define(later)
    const { body: one } = await harness.send(`GET ${bells}/old`)
    expect(one.spec).toEqual({ tone: 'deep', size: 3 })
    const { body: list } = await harness.send(`GET ${bells}`)
    expect(list.items.map(({ spec }: { spec: object }) => spec)).toEqual([
      { tone: 'high', size: 3 },
      { tone: 'deep', size: 3 },
    ])
    const { body: chosen } = await harness.send(`GET ${bells}?fieldSelector=spec.tone%3Ddeep`)
    expect(chosen.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['old'])

    const watch = await harness.watch(`${bells}?watch=1&resourceVersion=${version}`)
    await harness.send(`DELETE ${bells}/old`)
    const [told] = await watch.take(1)
    expect(told).toMatchObject({ type: 'DELETED', object: { spec: { tone: 'deep', size: 3 } } })
    watch.leave()
  })

  it('is told by a watch of all there is', async () => {
    await define(later)
    const watch = await harness.watch(`${bells}?watch=1`)
    const events = await watch.take(2)
    expect(events.map(({ object }) => object.spec.size)).toEqual([3, 3])
    watch.leave()
  })

  it('writes nothing, and moves no generation', async () => {
    const { body: before } = await harness.send(`GET ${bells}/old`)
    await define(later)
    await harness.send(`GET ${bells}`)
    const { body: after } = await harness.send(`GET ${bells}/old`)
    const { managedFields: _, ...meta } = after.metadata
    expect(before.metadata).toMatchObject(meta)
  })

  it('is shown as written by an update that sends it back', async () => {
    await define(later)
    const { body: read } = await harness.send(`GET ${bells}/old`)
    const { status, body } = await harness.send(`PUT ${bells}/old`, { body: read })
    expect([status, body.metadata.generation, body.spec]).toEqual([200, 1, { tone: 'deep', size: 3 }])
  })
})

describe('a deprecated version', () => {
  const warningOf = ({ headers }: Reply): string | undefined => headers['warning']

  it.each([
    { more: { deprecated: true }, says: 'example.com/v1 Bell is deprecated' },
    {
      more: { deprecated: true, deprecationWarning: 'bells ring no more' },
      says: 'bells ring no more',
    },
    {
      more: { deprecated: true, served: true },
      also: { v2: {}, v2beta1: {}, v3alpha1: {} },
      says: 'example.com/v1 Bell is deprecated; use example.com/v2 Bell',
    },
    {
      more: { deprecated: true },
      also: { v2: { more: { served: false } } },
      says: 'example.com/v1 Bell is deprecated',
    },
    { more: { deprecated: true }, also: { v1beta1: {} }, says: 'example.com/v1 Bell is deprecated' },
  ])('says: $says', async ({ more, also = {}, says }) => {
    await define({ v1: { more }, ...also })
    const warning = `299 - "${says}"`
    expect(warningOf(await harness.send(`GET ${bells}`))).toBe(warning)
    expect(warningOf(await harness.send(`POST ${bells}`, { body: bell('a') }))).toBe(warning)
    expect(warningOf(await harness.send(`GET ${bells}/a`))).toBe(warning)
    expect(warningOf(await harness.send(`GET ${bells}/none`))).toBe(warning)
    expect(warningOf(await harness.send(`DELETE ${bells}/a`))).toBe(warning)
  })

  it('says it beside what else there is to say', async () => {
    await define({ v1: { more: { deprecated: true } } })
    const reply = await harness.send(`POST ${bells}`, { body: bell('a', { colour: 'red' }) })
    expect(warningOf(reply)).toBe('299 - "example.com/v1 Bell is deprecated", 299 - "unknown field \\"spec.colour\\""')
  })

  it('says nothing of the others', async () => {
    await define({ v1: {}, v1beta1: { more: { deprecated: true } } })
    expect(warningOf(await harness.send(`GET ${bells}`))).toBeUndefined()
    expect(warningOf(await harness.send(`GET ${bells.replace('v1', 'v1beta1')}`))).toBe(
      '299 - "example.com/v1beta1 Bell is deprecated; use example.com/v1 Bell"',
    )
  })
})

describe('a watch of a kind', () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const later = { v1: {}, v2: {} }

  beforeEach(async () => {
    await define(later)
    await harness.send(`POST ${bells}`, { body: bell('old') })
  })

  /** A watch that has told what was there. */
  async function open(version: string): Promise<Watch> {
    const watch = await harness.watch(`${bells.replace('v1', version)}?watch=1`)
    expect(await watch.take(1)).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'old' } } }])
    return watch
  }

  it.each<[string, () => Promise<unknown>]>([
    ['another schema', () => define({ ...later, v2: { spec: { size: { type: 'integer', default: 3 } } } })],
    ['a version less', () => define({ ...later, v2: { more: { served: false } } })],
    ['no version of its name', () => define({ v1: {} })],
  ])('whose definition gets %s ends, so that its client learns it by the next request', async (_what, change) => {
    const watch = await open('v2')
    await change()
    const rest = watch.rest()
    await harness.clock.advance(10_000)
    expect(await rest).toEqual([])
  })

  it('tells no change in a form of before', async () => {
    const watch = await open('v1')
    await define({ ...later, v1: { spec: { size: { type: 'integer', default: 3 } } } })
    await harness.send(`POST ${bells}`, { body: bell('new') })
    expect(await watch.rest()).toEqual([])
  })

  it('whose definition is deleted tells the end of its objects, and ends', async () => {
    const watch = await open('v1')
    await harness.send(`DELETE ${definitions}/bells.example.com`)
    const patch = `PATCH ${definitions}/bells.example.com`
    await harness.send(`DELETE ${bells}/old`)
    await harness.clock.advance(10_000)
    expect(await watch.take(1)).toMatchObject([{ type: 'DELETED', object: { metadata: { name: 'old' } } }])
    const body = { metadata: { finalizers: null } }
    const { status } = await harness.send(patch, { type: 'application/merge-patch+json', body })
    expect(status).toBe(200)
    await define(later)
    await harness.send(`POST ${bells}`, { body: bell('new') })
    expect(await watch.rest()).toEqual([])
  })

  it('goes on when another definition, or more of its own than the spec, is written', async () => {
    const watch = await open('v1')
    await harness.send(`POST ${definitions}`, { body: widgetDefinition })
    const body = { metadata: { labels: { a: 'b' } } }
    await harness.send(`PATCH ${definitions}/bells.example.com`, { type: 'application/merge-patch+json', body })
    await harness.clock.advance(20_000)
    await harness.send(`POST ${bells}`, { body: bell('new') })
    expect(await watch.take(1)).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'new' } } }])
  })
})
