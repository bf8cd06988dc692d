import { describe, expect, it } from 'vitest'
import { createFinalize } from '../../../shared/api/verbs/finalize.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { AdmissionBudget } from '../../../shared/model/policy/admission-budget.ts'
import { namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import type { ReviewedPath } from '../../../shared/resources/policy-review.ts'
import type { WriteOptions } from '../../../shared/resources/resources.ts'
import { callOf } from './called.ts'
import { endOf } from './end-of.ts'
import { fakeServices, storedOf } from './fake-services.ts'

const content = 'setpoint.dev/namespace'
const live = storedOf({ finalizers: ['x.dev/y', content] })
const conflict = () => {
  throw new OperatingError('VERSION_CONFLICT', 'overtaken')
}

function open(ends: (() => unknown)[] = [], stored = live) {
  const services = fakeServices({ get: () => stored, patch: () => (ends.shift() ?? (() => ({ stored })))() })
  const ask = (body: JsonObject) =>
    endOf(async () => {
      const call = callOf('PUT /api/v1/namespaces/a/finalize', { kind: namespaceKind, body })
      const { status, body: text } = await createFinalize(services)(call)
      return [status, (JSON.parse(text as string) as { metadata: JsonObject }).metadata['name']]
    })
  const patches = () => services.asked.filter(([verb]) => verb === 'patch')
  return { ask, patches }
}

describe('a namespace', () => {
  const keeps = [...(live.object.metadata.finalizers ?? [])]
  it.each<[JsonObject, Json]>([
    [{}, ['x.dev/y']],
    [{ spec: {} }, ['x.dev/y']],
    [{ spec: { finalizers: [] } }, ['x.dev/y']],
    [{ spec: { finalizers: 'kubernetes' } }, ['x.dev/y']],
    [{ spec: { finalizers: ['other'] } }, ['x.dev/y']],
    [{ spec: { finalizers: ['kubernetes'] } }, keeps],
    [{ spec: 'kubernetes' }, ['x.dev/y']],
  ])('keeps or loses its own finalizer by a finalize of %j', async (body, finalizers) => {
    const { ask, patches } = open()
    expect(await ask(body)).toEqual([200, 'a'])
    expect(patches()).toMatchObject([
      [
        'patch',
        { kind: 'Namespace' },
        { namespace: '', name: 'a' },
        { type: 'merge', body: { metadata: { finalizers, resourceVersion: '7' } } },
        { manager: 'kubectl', user: { name: 'ann' }, path: { subresource: 'finalize', kind: namespaceKind } },
      ],
    ])
  })

  it('without finalizers has none', async () => {
    const { ask, patches } = open([], storedOf({}))
    await ask({ spec: { finalizers: ['kubernetes'] } })
    expect(patches()[0]?.[3]).toMatchObject({ body: { metadata: { finalizers: [] } } })
  })

  it.each<[JsonObject, string, number]>([
    [{}, '7', 2],
    [{ metadata: {} }, '7', 2],
    [{ metadata: { resourceVersion: '0' } }, '7', 2],
    [{ metadata: { resourceVersion: '' } }, '7', 2],
    [{ metadata: { resourceVersion: '6' } }, '6', 1],
  ])('that is overtaken by %j is written at %s, in %i tries', async (body, resourceVersion, tries) => {
    const { ask, patches } = open([conflict])
    expect(await ask(body)).toEqual(tries === 1 ? 'VERSION_CONFLICT: overtaken' : [200, 'a'])
    expect(patches()).toHaveLength(tries)
    expect(patches()[0]?.[3]).toMatchObject({ body: { metadata: { resourceVersion } } })
  })
})

it('a finalize that is tried again has no more of admission for it', async () => {
  const { ask, patches } = open([conflict])
  await ask({})
  const [first, again] = patches().map((asked) => (asked[4] as WriteOptions).budget)
  expect(first).toBeInstanceOf(AdmissionBudget)
  expect(again).toBe(first)
})

describe('a namespace that is named by its uid', () => {
  it.each([
    ['u', { resourceVersion: '7', uid: 'u' }],
    ['other', { resourceVersion: '7', uid: 'other' }],
    ['', { resourceVersion: '7' }],
  ])('%j is the one that is let go', async (uid, metadata) => {
    const { ask, patches } = open()
    await ask({ metadata: { uid } })
    expect(patches()[0]?.[3]).toEqual({ type: 'merge', body: { metadata: { finalizers: ['x.dev/y'], ...metadata } } })
  })
})

describe('what admission is shown of it', () => {
  async function shownPath(): Promise<ReviewedPath> {
    const { ask, patches } = open()
    await ask({})
    return (patches()[0]?.[4] as { path?: ReviewedPath } | undefined)?.path as ReviewedPath
  }
  const withFinalizers = (...finalizers: string[]) => storedOf({ finalizers }).object

  it('says by its spec what holds it', async () => {
    const { show } = await shownPath()
    expect(show(live.object)).toMatchObject({ spec: { finalizers: ['kubernetes'] } })
    expect(show(withFinalizers('x.dev/y'))).toMatchObject({ spec: { finalizers: [] } })
    expect(show(storedOf({}).object)).toMatchObject({ spec: { finalizers: [] } })
  })

  it('holds it by what its spec says', async () => {
    const { absorb } = await shownPath()
    const held = (object: ApiObject, spec: Json) => absorb(object, { spec } as unknown as ApiObject).metadata.finalizers
    expect(held(live.object, { finalizers: ['kubernetes'] })).toEqual(['x.dev/y', content])
    expect(held(withFinalizers('x.dev/y'), { finalizers: ['kubernetes'] })).toEqual(['x.dev/y', content])
    expect(held(live.object, { finalizers: [] })).toEqual(['x.dev/y'])
    expect(held(live.object, { finalizers: 'kubernetes' })).toEqual(['x.dev/y'])
    expect(held(live.object, null)).toEqual(['x.dev/y'])
    expect(held(storedOf({}).object, {})).toEqual([])
  })
})
