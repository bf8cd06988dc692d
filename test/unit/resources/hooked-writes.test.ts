import { describe, expect, it } from 'vitest'
import type { AdmissionHooks, HookContext } from '../../../shared/model/admission-hooks.ts'
import type { Conversion } from '../../../shared/model/conversion.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { defineBuiltInKind, type ServedKind } from '../../../shared/model/served-kind.ts'
import {
  admitByHooks,
  admitDeletion,
  concernsHooks,
  type HookedWrite,
} from '../../../shared/resources/hooked-writes.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

const sized = (field: string) => ({
  type: 'object' as const,
  properties: {
    spec: {
      type: 'object' as const,
      properties: {
        [field]: { type: 'integer' as const, maximum: 100 },
        color: { type: 'string' as const, default: 'red' },
        note: { type: 'string' as const },
      },
    },
  },
})
const plain: ServedKind = {
  ...defineBuiltInKind({ group: 'g.dev', kind: 'K', plural: 'ks', namespaced: true, schema: sized('size') }),
  builtIn: false,
}

/** Stored in v2, of which v1 calls the size an amount. */
const conversion = {
  group: 'g.dev',
  version: 'v2',
  schema: sized('size'),
  convert: (object: ApiObject, version: string): ApiObject => {
    const { amount, size, ...spec } = (object.spec ?? {}) as { readonly amount?: number; readonly size?: number }
    const renamed = version === 'v2' ? { size: size ?? amount } : { amount: amount ?? size }
    return {
      ...object,
      apiVersion: `g.dev/${version}`,
      spec: JSON.parse(JSON.stringify({ ...spec, ...renamed })) as JsonObject,
    }
  },
} as unknown as Conversion
const older: ServedKind = { ...plain, schema: sized('amount'), storageVersion: 'v2', conversion }
const newer: ServedKind = { ...plain, version: 'v2', storageVersion: 'v2', conversion }

function objectOf(
  spec: JsonObject,
  { version = 'v1', ...more }: { readonly version?: string } & JsonObject = {},
): ApiObject {
  const metadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 4, creationTimestamp: '' }
  return { apiVersion: `g.dev/${version}`, kind: 'K', metadata, spec, ...more }
}

/** What hooks were asked, and what became of the write. */
async function admit(
  hooks: AdmissionHooks,
  kind: ServedKind,
  write: Pick<HookedWrite, 'next' | 'live'> & Partial<HookedWrite>,
) {
  const asked: (readonly [ApiObject, HookContext])[] = []
  const noting: AdmissionHooks = {
    ...hooks,
    validate: (object, context) => {
      asked.push([object, context])
      return hooks.validate?.(object, context)
    },
  }
  const around = { nowMs: 0 }
  const whole = { around, how: { manager: 'm' }, clock: createVirtualClock(), ...write }
  const { inStore, warnings } = await admitByHooks({ ...kind, hooks: noting }, whole)
  return { inStore, warnings, asked }
}

const liveOf = (found: ApiObject, before = found) => ({ live: { found, before } })

describe('a hooked write', () => {
  it('is asked about as a creation, with its defaults', async () => {
    const { inStore, asked } = await admit({}, plain, { next: objectOf({ size: 1 }) })
    expect(inStore.spec).toEqual({ size: 1, color: 'red' })
    const [[object, context] = []] = asked
    expect(object).toEqual(inStore)
    expect(context).toMatchObject({ operation: 'CREATE', dryRun: false, user: { name: 'm', groups: [] } })
    expect(context).not.toHaveProperty('old')
  })

  it('is asked about as an update of what is there, by whoever asks', async () => {
    const user = { name: 'ann', groups: ['people'], uid: '7' }
    const found = objectOf({ size: 1 })
    const how = { manager: 'm', user, dryRun: true }
    const { asked } = await admit({}, plain, { next: objectOf({ size: 2 }), ...liveOf(found), how })
    expect(asked[0]?.[1]).toMatchObject({ operation: 'UPDATE', dryRun: true, old: found })
    expect(asked[0]?.[1].user).toStrictEqual({ name: 'ann', groups: ['people'] })
  })

  it.each<[string, JsonObject | undefined, JsonObject, number]>([
    ['adds nothing', undefined, { size: 1, color: 'red' }, 4],
    ['adds a field', { size: 1, note: 'x' }, { size: 1, color: 'red', note: 'x' }, 5],
    ['adds a field that the kind does not have', { size: 1, typo: 'x' }, { size: 1, color: 'red' }, 4],
  ])('whose hook %s moves the generation by what was there', async (...row) => {
    const [, spec, made, generation] = row
    const hooks = { default: () => spec && { spec } }
    const found = objectOf({ size: 1, color: 'red' })
    const { inStore, asked } = await admit(hooks, plain, { next: objectOf({ size: 1 }), ...liveOf(found) })
    expect([inStore.spec, inStore.metadata.generation, asked[0]?.[0].spec]).toEqual([made, generation, made])
  })

  it('whose hook adds nothing keeps its generation, also where the schema has got a default since', async () => {
    const next = objectOf({ size: 1, color: 'red' })
    const { inStore } = await admit({}, plain, { next, ...liveOf(objectOf({ size: 1 }), next) })
    expect(inStore.metadata.generation).toBe(4)
  })

  it('of a new object has the first generation, whatever its hook adds', async () => {
    const next = { ...objectOf({}), metadata: { ...objectOf({}).metadata, generation: 1 } }
    const { inStore } = await admit({ default: () => ({ spec: { size: 3 } }) }, plain, { next })
    expect([inStore.spec, inStore.metadata.generation]).toEqual([{ size: 3, color: 'red' }, 1])
  })

  it('is refused by the hook, and by the schema ahead of it', async () => {
    const no = { validate: () => ['no'] }
    await expect(admit(no, plain, { next: objectOf({ size: 1 }) })).rejects.toThrow(
      'is invalid: <nil>: Invalid value: no',
    )
    const large = { default: () => ({ spec: { size: 101 } }) }
    await expect(admit(large, plain, { next: objectOf({ size: 1 }) })).rejects.toThrow('spec.size')
  })

  it('warns of what its hook warns', async () => {
    const hooks: AdmissionHooks = { validate: (_object, { warn }) => warn('w') }
    expect((await admit(hooks, plain, { next: objectOf({ size: 1 }) })).warnings).toEqual(['w'])
  })
})

describe('a hooked write in another version', () => {
  it('is seen and completed as it is stored', async () => {
    const seen: unknown[] = []
    const hooks: AdmissionHooks = {
      default: ({ apiVersion, spec }) => {
        seen.push(apiVersion, spec)
        return { spec: { ...spec, note: 'x' } }
      },
    }
    const { inStore, asked } = await admit(hooks, older, { next: objectOf({ amount: 1 }) })
    expect(seen).toEqual(['g.dev/v2', { size: 1, color: 'red' }])
    expect(inStore).toMatchObject({ apiVersion: 'g.dev/v2', spec: { size: 1, color: 'red', note: 'x' } })
    expect(asked[0]?.[0]).toEqual(inStore)
  })

  it('is valid in both', async () => {
    await expect(admit({}, older, { next: objectOf({ amount: 101 }) })).rejects.toThrow('spec.amount')
    const large = { default: () => ({ spec: { size: 101 } }) }
    await expect(admit(large, older, { next: objectOf({ amount: 1 }) })).rejects.toThrow('spec.size')
    const idle = { default: () => {} }
    expect((await admit(idle, older, { next: objectOf({ amount: 1 }) })).inStore.spec).toEqual({
      size: 1,
      color: 'red',
    })
  })

  it('is refused if its hook adds a label that nobody may have, as in the version of the store', async () => {
    const hooks = { default: () => ({ labels: { 'a b': 'c' } }) }
    const own = objectOf({ size: 1 }, { version: 'v2' })
    await expect(admit(hooks, newer, { next: { ...own, apiVersion: 'g.dev/v2' } })).rejects.toThrow('metadata.labels')
    await expect(admit(hooks, older, { next: objectOf({ amount: 1 }) })).rejects.toThrow('metadata.labels')
  })

  it('that is that of the store may lack what its hook adds', async () => {
    const { spec, ...properties } = sized('size').properties
    const schema = { type: 'object' as const, properties: { ...properties, spec: { ...spec, required: ['size'] } } }
    const hooks = { default: () => ({ spec: { size: 3 } }) }
    const { inStore } = await admit(hooks, { ...newer, schema }, { next: objectOf({}, { version: 'v2' }) })
    expect(inStore.spec).toEqual({ size: 3, color: 'red' })
  })

  it('that is that of the store is one like any other', async () => {
    const next = objectOf({ size: 1 }, { version: 'v2' })
    expect((await admit({}, newer, { next })).inStore).toMatchObject({ apiVersion: 'g.dev/v2', spec: { size: 1 } })
    expect((await admit({}, { ...older, version: 'v2', schema: sized('size') }, { next })).inStore.spec).toEqual({
      size: 1,
      color: 'red',
    })
  })
})

it('a deletion is asked about as one', async () => {
  const asked: HookContext[] = []
  const hooks: AdmissionHooks = { validate: (_object, context) => void asked.push(context) }
  const how = { manager: 'm', dryRun: true }
  await admitDeletion({ ...plain, hooks }, objectOf({}), { how, clock: createVirtualClock() })
  expect(asked).toMatchObject([{ operation: 'DELETE', dryRun: true, user: { name: 'm' } }])
  const refusing = { ...plain, hooks: { validate: () => ['no'] } }
  await expect(admitDeletion(refusing, objectOf({}), { how, clock: createVirtualClock() })).rejects.toThrow('no')
})

describe('whether hooks have a say in an update', () => {
  const withMetadata = (more: object): ApiObject => ({
    ...objectOf({}),
    metadata: { ...objectOf({}).metadata, ...more },
  })
  it.each<[string, ApiObject, ApiObject, boolean]>([
    ['of nothing', objectOf({}), objectOf({}), false],
    ['of the spec', objectOf({ size: 1 }), objectOf({ size: 2 }), true],
    ['of a status', objectOf({}), objectOf({}, { status: { a: 1 } }), false],
    ['of a field that comes', objectOf({}), objectOf({}, { data: {} }), true],
    ['of a field that goes', objectOf({}, { data: {} }), objectOf({}), true],
    ['of labels', objectOf({}), withMetadata({ labels: { a: 'b' } }), true],
    ['of annotations', withMetadata({ annotations: { a: 'b' } }), withMetadata({ annotations: { a: 'c' } }), true],
    ['of an annotation of the engine', withMetadata({ annotations: { 'setpoint.dev/x': '1' } }), objectOf({}), false],
    ['of other metadata', withMetadata({ finalizers: ['x.dev/y'] }), withMetadata({ generation: 9 }), false],
  ])('%s: %#', (_what, before, next, hasSay) => {
    expect(concernsHooks(plain, { found: before, before, next })).toBe(hasSay)
  })
})
