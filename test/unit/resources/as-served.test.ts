import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { twinOf } from '../../../shared/model/twin.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import {
  asServed,
  conversionFaultOf,
  servedIfConvertible,
  servedOrFault,
  withLaterDefaults,
} from '../../../shared/resources/as-served.ts'
import { toStoredVersion } from '../../../shared/resources/stored-version.ts'
import { inVersionOf, reviewInVersion } from '../../../shared/resources/review-in-version.ts'
import type { Reviewed } from '../../../shared/resources/policy-review.ts'

/** One kind in two versions: v2 is stored, and v1 calls its size an amount. */

const sized = (field: string) => ({
  type: 'object' as const,
  properties: {
    spec: {
      type: 'object' as const,
      properties: {
        [field]: { type: 'integer' as const, maximum: 100 },
        color: { type: 'string' as const, default: 'red' },
        ...(field === 'size' && { extra: { type: 'string' as const } }),
      },
    },
    status: { type: 'object' as const, 'x-kubernetes-preserve-unknown-fields': true as const },
  },
})

const failed = new OperatingError('CONVERSION_FAILED', 'it cannot be')

function convert(object: ApiObject, to: string): ApiObject {
  const from = object.apiVersion.split('/')[1]
  if (from === to) return object
  const { size, amount, ...spec } = (object['spec'] ?? {}) as { readonly size?: number; readonly amount?: number }
  if ((size ?? amount) === 13) throw failed
  const { extra: _, ...shown } = spec as { readonly extra?: string }
  const made = to === 'v1' ? { ...shown, amount: size } : { ...spec, size: amount }
  return { ...object, apiVersion: `example.com/${to}`, spec: JSON.parse(JSON.stringify(made)) as never }
}

const base = {
  group: 'example.com',
  storageVersion: 'v2',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
  hasStatus: true,
  builtIn: false,
}
const conversion = { group: 'example.com', kind: 'Widget', version: 'v2', schema: sized('size'), convert }
const v1 = { ...base, version: 'v1', schema: sized('amount'), conversion } as unknown as ServedKind
const v2 = { ...base, version: 'v2', schema: sized('size'), conversion } as unknown as ServedKind
const bare = { ...base, version: 'v2', schema: sized('size') } as unknown as ServedKind

function widget(version: string, spec: object, more: object = {}): ApiObject {
  const metadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' }
  return { apiVersion: `example.com/${version}`, kind: 'Widget', metadata, spec, ...more } as unknown as ApiObject
}

const stored = (object: ApiObject): StoredObject => ({ object, engine: { wakeAtMs: 5 } })

describe('an object as it is served', () => {
  it.each<[string, ServedKind, ApiObject, object]>([
    [
      'in its version',
      v2,
      widget('v2', { size: 1, color: 'blue' }),
      { apiVersion: 'example.com/v2', spec: { size: 1, color: 'blue' } },
    ],
    [
      'in another version',
      v1,
      widget('v2', { size: 1, color: 'blue' }),
      { apiVersion: 'example.com/v1', spec: { amount: 1, color: 'blue' } },
    ],
    ['with defaults that came later', v2, widget('v2', { size: 1 }), { spec: { size: 1, color: 'red' } }],
    [
      'without a conversion',
      bare,
      widget('v1', { size: 1 }),
      { apiVersion: 'example.com/v2', spec: { size: 1, color: 'red' } },
    ],
  ])('%s', (_what, kind, object, is) => {
    const served = asServed(kind, stored(object))
    expect(served.object).toMatchObject(is)
    expect(served.engine).toEqual({ wakeAtMs: 5 })
  })

  it.each([v2, bare])('is the same if it is so already', (kind) => {
    const one = stored(widget('v2', { size: 1, color: 'blue' }))
    expect(asServed(kind, one)).toBe(one)
  })

  it('of a kind that is built in has no later defaults', () => {
    const one = stored(widget('v2', { size: 1 }))
    expect(asServed({ ...bare, builtIn: true }, one)).toBe(one)
  })

  it('that would be too large with later defaults is shown without them', () => {
    const large = { type: 'object', properties: { text: { type: 'string', default: 'x'.repeat(400_000) } } }
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { a: large, b: large, c: large } } },
    }
    const one = stored(widget('v2', { a: {}, b: {}, c: {} }))
    expect(asServed({ ...bare, schema } as unknown as ServedKind, one)).toBe(one)
  })

  it('that has all defaults stays the same, with its one owner in one word', () => {
    const entry = { manager: 'm', operation: 'Update', apiVersion: 'example.com/v2', time: '', fieldsType: 'FieldsV1' }
    const whole = widget('v2', { size: 1, color: 'blue' })
    const owned = { ...whole, metadata: { ...whole.metadata, managedFields: [entry] } } as unknown as ApiObject
    expect(withLaterDefaults(bare, owned)).toBe(owned)
    const later = withLaterDefaults(bare, { ...owned, spec: { size: 1 } })
    expect(later.metadata.managedFields).toMatchObject([{ fieldsV1: { 'f:spec': { 'f:size': {} } } }])
  })

  it('that cannot be converted is shown as it is stored, in the version that is stored, and nowhere else', () => {
    const one = stored(widget('v1', { amount: 13 }))
    const shown = asServed(v2, one)
    expect(shown.object).toMatchObject({ apiVersion: 'example.com/v2', spec: { amount: 13 } })
    expect([conversionFaultOf(shown.object), conversionFaultOf(one.object)]).toEqual(['it cannot be', undefined])
    const other = stored(widget('v2', { size: 13 }))
    expect(() => asServed(v1, other)).toThrow(failed)
    expect([servedOrFault(v1, other), servedIfConvertible(v1, other)]).toEqual([failed, undefined])
    expect(servedIfConvertible(v1, stored(widget('v2', { size: 1 })))).toBeDefined()
    expect(servedOrFault(bare, one)).toMatchObject({ object: { apiVersion: 'example.com/v2' } })
  })

  it('by a conversion with a slip is a slip', () => {
    const slip = new TypeError('a bug')
    const throws = (): never => {
      throw slip
    }
    for (const kind of [v1, v2]) {
      const broken = { ...kind, conversion: { ...conversion, convert: throws } } as unknown as ServedKind
      expect(() => asServed(broken, stored(widget('v2', {})))).toThrow(slip)
      expect(() => servedOrFault(broken, stored(widget('v2', {})))).toThrow(slip)
    }
  })
})

describe('an object as it is stored', () => {
  const found = widget('v2', { size: 1, color: 'blue', extra: 'kept' }, { status: { a: 1 } })
  const before = convert(found, 'v1')
  const live = { found, before }
  const writes = (spec: object, more: object = {}): ApiObject => ({ ...before, spec, ...more }) as ApiObject
  const metadata = { ...before.metadata, labels: { x: 'y' } }

  it('is as it was written where there is one version', () => {
    const next = widget('v2', { size: 1 })
    expect(toStoredVersion(bare, next)).toBe(next)
    expect(toStoredVersion(v2, next)).toBe(next)
    expect(toStoredVersion(v2, next, { found, before: found })).toBe(next)
  })

  it('is converted when it is new', () => {
    expect(toStoredVersion(v1, widget('v1', { amount: 5 }))).toEqual(widget('v2', { size: 5, color: 'red' }))
  })

  it('keeps what a writer does not see, and has what they changed', () => {
    expect(toStoredVersion(v1, writes({ amount: 7, color: 'blue' }), live)['spec']).toEqual({
      size: 7,
      color: 'blue',
      extra: 'kept',
    })
    const labelled = toStoredVersion(v1, { ...before, metadata }, live)
    expect(labelled).toEqual({ ...found, metadata })
    const status = toStoredVersion(v1, writes(before['spec'] as object, { status: { a: 2 } }), live)
    expect(status).toEqual({ ...found, status: { a: 2 } })
    const { status: _, ...without } = before
    expect(toStoredVersion(v1, without as ApiObject, live)).not.toHaveProperty('status')
  })

  it('that is still in an older version stays so until its content changes', () => {
    const old = widget('v1', { amount: 1, color: 'blue' }, { status: { a: 1 } })
    const seen = convert(old, 'v2')
    const raw = { found: old, before: seen }
    expect(toStoredVersion(v2, { ...seen, metadata }, raw)).toEqual({ ...old, metadata })
    expect(toStoredVersion(v2, { ...seen, status: { a: 2 } }, raw)).toEqual({ ...old, status: { a: 2 } })
    const { status: _, ...without } = seen
    expect(toStoredVersion(v2, without as ApiObject, raw)).toEqual(old)
    const changed = { ...seen, spec: { size: 3, color: 'blue' } } as unknown as ApiObject
    expect(toStoredVersion(v2, changed, raw)).toBe(changed)
    const byV1 = toStoredVersion(
      v1,
      { ...old, spec: { amount: 4, color: 'blue' } },
      {
        found: old,
        before: old,
      },
    )
    expect(byV1).toEqual({ ...old, apiVersion: 'example.com/v2', spec: { size: 4, color: 'blue' } })
  })

  it('is refused if it cannot be converted, or does not fit the version that is stored', () => {
    const invalid = expect.objectContaining({ code: 'INVALID' })
    expect(() => toStoredVersion(v1, widget('v1', { amount: 13 }))).toThrow(invalid)
    expect(() => toStoredVersion(v1, widget('v1', { amount: 13 }))).toThrow('it cannot be')
    expect(() => toStoredVersion(v1, widget('v1', { amount: 101 }))).toThrow(invalid)
    expect(() => toStoredVersion(v1, widget('v1', { amount: 101 }))).toThrow('(in v2, which it is stored in)')
  })
})

describe('a request in the version that rules speak of', () => {
  const catalog = {
    inVersion: async (_: ServedKind, version: string) => ({ v1, v2 })[version],
  }
  const { group } = v2
  const object = widget('v2', { size: 1, color: 'blue' })
  const asked = { kind: v2, object, old: object, subresource: '' } as unknown as Reviewed

  it('is the same if it is in that one, or in none, or of a path of its own', async () => {
    expect(await reviewInVersion(asked, { group, version: 'v2' }, catalog as never)).toBe(asked)
    expect(await reviewInVersion(asked, { group, version: 'v9' }, catalog as never)).toBe(asked)
    const scaled = { ...asked, resource: bare } as Reviewed
    expect(await reviewInVersion(scaled, { group, version: 'v1' }, catalog as never)).toBe(scaled)
  })

  it('has its objects converted, and says as what it came', async () => {
    const seen = await reviewInVersion(asked, { group, version: 'v1' }, catalog as never)
    expect(seen).toMatchObject({
      kind: v1,
      requested: v2,
      object: { spec: { amount: 1 } },
      old: { spec: { amount: 1 } },
    })
    expect(
      (await reviewInVersion({ ...seen, requested: bare }, { group, version: 'v2' }, catalog as never)).requested,
    ).toBe(bare)
    const { old: _, ...creation } = asked
    expect(await reviewInVersion(creation as Reviewed, { group, version: 'v1' }, catalog as never)).not.toHaveProperty(
      'old',
    )
    const { object: __, ...deletion } = asked
    expect(await reviewInVersion(deletion as Reviewed, { group, version: 'v1' }, catalog as never)).not.toHaveProperty(
      'object',
    )
  })

  it('pays for what is converted, and for nothing else', async () => {
    const spent: number[] = []
    const budget = { spend: (steps: number) => void spent.push(steps) }
    await reviewInVersion({ ...asked, budget } as unknown as Reviewed, { group, version: 'v2' }, catalog as never)
    expect(spent).toEqual([])
    await reviewInVersion({ ...asked, budget } as unknown as Reviewed, { group, version: 'v1' }, catalog as never)
    expect(spent.map((steps) => steps > 0)).toEqual([true, true])
  })

  it('is shown by a twin where rules speak of that, and what is made of it comes back', async () => {
    const twin = twinOf({ ...bare, selectableFields: [] }, 'new.dev', { note: 'text' })
    const plain = { ...asked, kind: bare, object: { ...object, text: 'a' } } as Reviewed
    const twins = { inVersion: async () => twin } as never
    const seen = await reviewInVersion(plain, { group: 'new.dev', version: bare.version }, twins)
    expect(seen).toMatchObject({
      kind: twin,
      requested: bare,
      object: { apiVersion: `new.dev/${bare.version}`, note: 'a' },
    })
    const made = { ...(seen.object as ApiObject), note: 'b' }
    const back = await inVersionOf({ ...plain, object: { ...object, apiVersion: 'old' } }, made, seen.kind)
    expect(back).toMatchObject({ apiVersion: `${bare.group}/${bare.version}`, text: 'b' })
  })

  it('gives back what was made of it in its own version', async () => {
    const made = widget('v1', { amount: 3 })
    expect(await inVersionOf(asked, made, v1)).toMatchObject({
      apiVersion: 'example.com/v2',
      spec: { size: 3, color: 'red' },
    })
    expect(await inVersionOf(asked, object, v2)).toBe(object)
    const plain = { ...asked, kind: bare } as Reviewed
    expect(await inVersionOf(plain, made, v1)).toEqual({ ...made, apiVersion: 'example.com/v2' })
  })
})
