import { expect, it } from 'vitest'
import { UnpreparedError, type Conversion } from '../../../shared/model/conversion.ts'
import { createConversion, type Convert } from '../../../shared/model/create-conversion.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'

function schemaOf(spec: StructuralSchema): StructuralSchema {
  return { type: 'object', required: ['spec'], properties: { spec: { type: 'object', ...spec } } }
}

const text = { type: 'string' } as const
const current = schemaOf({ required: ['b'], properties: { b: text, c: { ...text, default: 'c' } } })
const former = schemaOf({ required: ['a'], properties: { a: text } })

function conversionBy(upgrade: Convert, sharesStatus = true): Conversion {
  const others = ['v1', 'v2'].map((name) => ({
    name,
    schema: former,
    upgrade,
    downgrade: (({ spec }) => ({ spec: { a: `${name} ${spec['b'] as string} ${spec['c'] as string}` } })) as Convert,
    sharesStatus,
  }))
  return createConversion({ group: 'g.dev', kind: 'K', version: 'v3', schema: current, others })
}

function object(version: string, spec: ApiObject['spec'], status?: ApiObject['status']): ApiObject {
  const metadata = { name: 'x', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 }
  return { apiVersion: `g.dev/${version}`, kind: 'K', metadata, spec, ...(status && { status }) } as ApiObject
}

const upgrade: Convert = ({ spec }) => ({ spec: { b: spec['a'] } })

it('goes from any version to any other by the one that is stored', () => {
  const { convert } = conversionBy(upgrade)
  expect(convert(object('v1', { a: 'x' }), 'v3')).toMatchObject({ apiVersion: 'g.dev/v3', spec: { b: 'x' } })
  expect(convert(object('v1', { a: 'x' }), 'v2')).toMatchObject({ apiVersion: 'g.dev/v2', spec: { a: 'v2 x c' } })
  const same = object('v1', { a: 'x' })
  expect(convert(same, 'v1')).toBe(same)
})

it('converts a state once, and keeps its metadata', () => {
  let count = 0
  const { convert } = conversionBy((content) => {
    count++
    return upgrade(content)
  })
  const before = object('v1', { a: 'x' })
  expect(convert(before, 'v3')).toBe(convert(before, 'v3'))
  expect(convert(before, 'v3').metadata).toEqual(before.metadata)
  expect(count).toBe(1)
})

it('gives a function a copy of its own', () => {
  const before = object('v1', { a: 'x' })
  conversionBy(({ spec }) => {
    const b = spec['a']
    spec['a'] = 'spoilt'
    return { spec: { b } }
  }).convert(before, 'v3')
  expect(before.spec).toEqual({ a: 'x' })
})

it('takes conditions along where the versions have statuses of their own', () => {
  const status = { conditions: [{ type: 'Ready' }], observedGeneration: 1, old: 'x' }
  const own = conversionBy(
    ({ spec, status: was }) => ({ spec: { b: spec['a'] }, status: { now: was?.['old'] } }),
    false,
  )
  expect(own.convert(object('v1', { a: 'x' }, status), 'v3').status).toEqual({
    conditions: [{ type: 'Ready' }],
    observedGeneration: 1,
    now: 'x',
  })
  expect(conversionBy(upgrade).convert(object('v1', { a: 'x' }, status), 'v3').status).toEqual(status)
})

const failures: readonly {
  readonly what: string
  readonly made: Convert
  readonly spec?: ApiObject['spec']
  readonly why: string
}[] = [
  {
    what: 'a function that throws',
    made: () => {
      throw new Error('no')
    },
    why: 'no',
  },
  {
    what: 'one that throws what is no error, at length',
    made: () => {
      // oxlint-disable-next-line typescript/only-throw-error -- users' functions may
      throw 'x'.repeat(10_000)
    },
    why: `${'x'.repeat(500)}…`,
  },
  { what: 'one that waits', made: async () => ({ spec: {} }), why: 'the function returned no object with a spec' },
  { what: 'one that returns nothing', made: () => {}, why: 'the function returned no object with a spec' },
  {
    what: 'one that returns no JSON',
    made: () => ({ spec: { b: Number.NaN } }),
    why: 'spec.b is NaN; JSON has strings, numbers, booleans, null, lists and plain objects',
  },
  { what: 'an object that does not fit its version', made: upgrade, spec: {}, why: 'spec.a: Required value' },
]

it.each(failures)('says what failed of $what', ({ made, spec = { a: 'x' }, why }) => {
  const { convert, findFault } = conversionBy(made)
  const message = `K.g.dev "default/x" cannot be converted from v1 to v3: ${why}`
  expect(() => convert(object('v1', spec), 'v3')).toThrow(
    expect.objectContaining({ code: 'CONVERSION_FAILED', message }),
  )
  expect(findFault(object('v1', spec), 'v3')).toBe(message)
})

it('says that it does not know a version', () => {
  const { findFault, lacks } = conversionBy(upgrade)
  expect(findFault(object('v9', { a: 'x' }), 'v3')).toBe(
    'K.g.dev "default/x" cannot be converted from v9 to v3: this release has no functions for that; deploy one that has both versions (olderVersions of defineKind)',
  )
  expect(['v1', 'v3', 'v9'].map((version) => lacks?.(version))).toEqual([false, false, true])
})

it('knows the schema of each version, and of no other', () => {
  const conversion = conversionBy(upgrade)
  expect(['v1', 'v3', 'v9'].map((version) => conversion.schemaOf(version))).toEqual([former, current, undefined])
})

it('remembers a state in each version that it was asked for', () => {
  const { convert } = conversionBy(upgrade)
  const before = object('v1', { a: 'x' })
  const versions = ['v2', 'v3', 'v2', 'v3'].map((version) => convert(before, version))
  expect(versions[2]).toBe(versions[0])
  expect(versions[3]).toBe(versions[1])
})

it('shows a function the owners in full, without the status that has a path of its own', () => {
  const shown: unknown[] = []
  const seeing: Convert = (content) => {
    shown.push(content.metadata.managedFields?.[0]?.fieldsV1)
    return upgrade(content)
  }
  const { metadata, ...rest } = object('v1', { a: 'x' }, { old: 1 })
  const entry = { manager: 'm', operation: 'Update', apiVersion: 'g.dev/v1', time: 'x', fieldsType: 'FieldsV1' }
  conversionBy(seeing).convert({ ...rest, metadata: { ...metadata, managedFields: [entry as never] } }, 'v3')
  expect(shown).toEqual([{ 'f:spec': { '.': {}, 'f:a': {} } }])
})

it.each<[string, ApiObject['status'], unknown, ApiObject['status']]>([
  ['no status', undefined, { now: 1 }, undefined],
  ['a status of which nothing is made', { observedGeneration: 2, old: 1 }, undefined, { observedGeneration: 2 }],
  ['a status of which no object is made', { observedGeneration: 2 }, 5, { observedGeneration: 2 }],
  [
    'a status of which more is made',
    { lastHandledReconcileAt: 'x' },
    { now: 1, observedGeneration: 9 },
    { now: 1, observedGeneration: 9, lastHandledReconcileAt: 'x' },
  ],
])('an object with %s', (...row) => {
  const [, was, made, is] = row
  const own = conversionBy(({ spec }) => ({ spec: { b: spec['a'] }, status: made }), false)
  const next = own.convert(object('v1', { a: 'x' }, was), 'v3')
  expect(next.status).toStrictEqual(is)
  expect('status' in next).toBe(is !== undefined)
  expect('status' in conversionBy(upgrade).convert(object('v1', { a: 'x' }), 'v3')).toBe(false)
})

it('says what failed in full if it is short, of which object, and why', () => {
  const failing = (thrown: Error) =>
    conversionBy(() => {
      throw thrown
    })
  const thrown = new Error('x'.repeat(500))
  const { metadata, ...rest } = object('v1', { a: 'x' })
  const { namespace: _, ...wide } = metadata
  const convert = () => failing(thrown).convert({ ...rest, metadata: wide }, 'v3')
  const message = `K.g.dev "x" cannot be converted from v1 to v3: ${thrown.message}`
  expect(convert).toThrow(expect.objectContaining({ message, cause: thrown }))
  const misfit = conversionBy(upgrade)
  let found: unknown
  try {
    misfit.convert(object('v1', {}), 'v3')
  } catch (error) {
    found = error
  }
  expect(found).toMatchObject({ code: 'CONVERSION_FAILED', details: { name: 'x', group: 'g.dev', kind: 'K' } })
  expect('cause' in (found as object)).toBe(false)
})

it('an object that nobody has converted is named', () => {
  const before = object('v1', { a: 'x' })
  expect(new UnpreparedError(before, 'v3')).toMatchObject({
    object: before,
    version: 'v3',
    message: 'an object has not been converted to v3',
  })
})
