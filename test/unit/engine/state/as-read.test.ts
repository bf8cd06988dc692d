import * as z from 'zod'
import { describe, expect, it } from 'vitest'
import { asRead, findSpecFaults, findStatusFaults } from '../../../../shared/engine/state/as-read.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import { ConfigMap, defineKind, type Kind } from '../../../../shared/index.ts'

/** What is stored × the type of its kind → why a reconciler cannot be given it. */
const kindWith = (spec: z.ZodType): Kind<unknown, unknown> =>
  defineKind({ group: 'g.dev', version: 'v1', kind: 'K', spec, status: z.object({ phase: z.enum(['Old', 'New']) }) })

const page = kindWith(
  z.object({
    heading: z.string().max(5),
    size: z.number().int().default(1),
    tone: z.enum(['dark', 'light']).optional(),
    tags: z
      .array(z.object({ name: z.string() }))
      .max(3)
      .optional(),
  }),
)
const relaxed = kindWith(z.object({ size: z.number().int().default(1) }))

function objectOf(content: JsonObject): ApiObject {
  const metadata = { name: 'n', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' }
  return { apiVersion: 'g.dev/v1', kind: 'K', metadata, ...content }
}

const rows: readonly {
  readonly what: string
  readonly kind?: typeof page
  readonly content: JsonObject
  readonly faults?: string
}[] = [
  { what: 'what fits', content: { spec: { heading: 'a', size: 2 } } },
  { what: 'what lacks a default', content: { spec: { heading: 'a' } } },
  { what: 'what has a field more', content: { spec: { heading: 'a', title: 'b' } } },
  { what: 'a status that does not fit', content: { spec: { heading: 'a' }, status: { phase: 'Odd' } } },
  { what: 'no spec where all of it has defaults', kind: relaxed, content: {} },
  { what: 'anything of a kind without a schema here', kind: ConfigMap, content: { data: { a: 1 } } },
  { what: 'no spec', content: {}, faults: 'spec: Required value' },
  { what: 'another name', content: { spec: { title: 'a' } }, faults: 'spec.heading: Required value' },
  { what: 'a null', content: { spec: { heading: null } }, faults: 'spec.heading: Required value' },
  {
    what: 'another type',
    content: { spec: { heading: 7 } },
    faults: 'spec.heading: Invalid value: it is of another type',
  },
  { what: 'a text that is too long', content: { spec: { heading: 'secret' } }, faults: 'spec.heading: Too long' },
  {
    what: 'a word that is none of them',
    content: { spec: { heading: 'a', tone: 'secret' } },
    faults: 'spec.tone: Unsupported value',
  },
  {
    what: 'several',
    content: { spec: { size: 'x', tags: [{}, { name: 'a' }] } },
    faults:
      'spec.heading: Required value, spec.size: Invalid value: it is of another type, spec.tags[0].name: Required value',
  },
]

describe('asRead', () => {
  const full = { heading: 'a', size: 2 }
  it.each([
    { what: 'an object that has all defaults', kind: page, content: { spec: full } },
    { what: 'an object without a spec', kind: relaxed, content: {} },
    { what: 'an object of a kind without a schema here', kind: ConfigMap, content: { spec: { a: 1 } } },
  ])('$what stays the same object', ({ kind, content }) => {
    const object = objectOf(content)
    expect(asRead(kind, object)).toBe(object)
  })

  it('an object of a kind whose schema says nothing of a spec stays the same', () => {
    const { definition: _, ...plain } = page
    const object = objectOf({ spec: {} })
    const served = { builtIn: false, schema: { type: 'object', properties: {} } } as unknown as ServedKind
    expect(asRead(plain, object, served)).toBe(object)
  })

  it('gives the rest of an object as it was, and changes nothing in place', () => {
    const object = objectOf({ spec: { heading: 'a' }, status: { phase: 'Old' } })
    expect(asRead(page, object)).toEqual({ ...object, spec: { heading: 'a', size: 1 } })
    expect(object['spec']).toEqual({ heading: 'a' })
  })

  it('goes by the version that the reconciler was written for, or else by the only one there is', () => {
    const older = kindWith(z.object({ size: z.number().int().default(7) }))
    const [newest] = page.definition?.spec.versions ?? []
    const [other] = older.definition?.spec.versions ?? []
    if (!page.definition || !newest || !other) throw new Error('no definition')
    const versions = [{ ...other, name: 'v0' }, newest]
    const definition = { ...page.definition, spec: { ...page.definition.spec, versions } }
    const sizeBy = (version: string) => asRead({ ...page, definition, version }, objectOf({ spec: {} }))['spec']
    expect(['v0', 'v1', 'v9'].map(sizeBy)).toEqual([{ size: 7 }, { size: 1 }, { size: 7 }])
  })
})

describe('findSpecFaults', () => {
  it.each(rows)('$what: $faults', ({ kind = page, content, faults }) => {
    const found = findSpecFaults(kind, objectOf(content))
    expect(found?.split(', ').toSorted()).toEqual(faults?.split(', ').toSorted())
  })

  it('goes by the schema that is served where the kind of a reconciler brings none, and by none of what is built in', () => {
    const served = {
      builtIn: false,
      namespaced: true,
      schema: page.definition?.spec.versions[0]?.schema?.openAPIV3Schema,
    } as ServedKind
    const { definition: _, ...plain } = page
    expect(findSpecFaults(plain, objectOf({ spec: {} }), served)).toBe('spec.heading: Required value')
    expect(asRead(plain, objectOf({ spec: {} }), served)['spec']).toEqual({ size: 1 })
    expect(findSpecFaults(plain, objectOf({ spec: {} }), { ...served, builtIn: true })).toBeUndefined()
    expect(findSpecFaults(relaxed, objectOf({ spec: {} }), served)).toBeUndefined()
  })

  it('says what cannot be converted of what is stored in another version, and looks at no other so', () => {
    const findFault = (_object: ApiObject, to: string): string => `no ${to} of it`
    const converted = {
      ...page,
      conversion: { version: 'v1', findFault } as unknown as NonNullable<Kind['conversion']>,
    }
    const stored = objectOf({ spec: { heading: 'a' } })
    expect(findSpecFaults(converted, { ...stored, apiVersion: 'g.dev/v0' })).toBe('no v1 of it')
    expect(findSpecFaults(converted, stored)).toBeUndefined()
  })

  it('holds what is stored in another version as it will be against the kind', () => {
    const convert = (object: ApiObject, to: string): ApiObject => ({
      ...object,
      apiVersion: `g.dev/${to}`,
      spec: { heading: object.spec?.['title'] },
    })
    const conversion = { version: 'v1', findFault: () => {}, convert } as unknown as NonNullable<Kind['conversion']>
    const stored = (spec: JsonObject): ApiObject => ({ ...objectOf({ spec }), apiVersion: 'g.dev/v0' })
    expect(findSpecFaults({ ...page, conversion }, stored({ title: 'a' }))).toBeUndefined()
    expect(findSpecFaults({ ...page, conversion }, stored({ title: 5 }))).toContain('spec.heading')
  })

  it('says where the kind that is served is another than the one of the reconciler', () => {
    const stored = objectOf({ spec: { heading: 'a' } })
    const served = (namespaced: boolean) => ({ builtIn: false, namespaced }) as ServedKind
    expect(findSpecFaults(page, stored, served(true))).toBeUndefined()
    expect(findSpecFaults(page, stored, served(false))).toBe(
      'K is in namespaces for its reconciler, and is served otherwise',
    )
    expect(findSpecFaults({ ...page, namespaced: false }, stored, served(true))).toBe(
      'K is in no namespace for its reconciler, and is served otherwise',
    )
    expect(findSpecFaults(page, { ...stored, apiVersion: 'g.dev/v0' })).toBe(
      'it is stored in version v0, which the definition of its reconciler, in version v1, does not have',
    )
  })

  it('says ten of very many', () => {
    const many = kindWith(z.object({ tags: z.array(z.object({ name: z.string() })) }))
    const found = findSpecFaults(many, objectOf({ spec: { tags: Array.from({ length: 30 }, () => ({})) } }))
    expect(found?.split('Required value')).toHaveLength(11)
    expect(found).toMatch(/ and 20 more$/)
  })

  it('says of no object that it does not fit which the API has let in', () => {
    const stored = objectOf({ spec: { heading: 'a' } })
    expect(asRead(page, stored)['spec']).toEqual({ heading: 'a', size: 1 })
    expect(findSpecFaults(page, asRead(page, stored))).toBeUndefined()
  })
})

describe('a status that is reported', () => {
  const served = (status?: StructuralSchema, more: object = {}): ServedKind => {
    const schema = { type: 'object', properties: status === undefined ? {} : { status } }
    return { schema, hasStatus: true, builtIn: false, ...more } as unknown as ServedKind
  }
  const others = { group: 'g.dev', version: 'v1', kind: 'K' } as Kind<unknown, unknown>
  const counting: StructuralSchema = {
    type: 'object',
    required: ['count', 'conditions', 'observedGeneration'],
    properties: { count: { type: 'integer' }, conditions: { type: 'array', items: { type: 'object' } } },
  }
  const wrong = { count: 1.5 }
  const told = 'status.count: Invalid value: it is of another type'

  it.for<[string, Kind<unknown, unknown>, ServedKind, JsonObject, JsonObject | undefined, string | undefined]>([
    ['fits without what is added to it', others, served(counting), { count: 1 }, undefined, undefined],
    ['lacks a field', others, served(counting), {}, undefined, 'status.count: Required value'],
    ['does not fit', others, served(counting), wrong, { count: 1 }, told],
    ['did not fit before', others, served(counting), wrong, wrong, undefined],
    ['does not fit in another way than before', others, served(counting), { count: 2.5 }, wrong, told],
    ['has a field more', others, served(counting), { count: 1, more: 1 }, undefined, undefined],
    ['has no schema', others, served(), wrong, undefined, undefined],
    ['is kept nowhere', others, served(counting, { hasStatus: false }), wrong, undefined, undefined],
    ['is of what is built in', others, served(counting, { builtIn: true }), wrong, undefined, undefined],
    ['is of a type of ours', page, served(counting), { phase: 'New' }, undefined, undefined],
    ['is not of that type', page, served(counting), { phase: 'Odd' }, {}, 'status.phase: Unsupported value'],
  ])('that %s', ([, kind, of, status, old, faults]) => {
    expect(findStatusFaults(kind, { status, old }, of)).toBe(faults)
  })
})
