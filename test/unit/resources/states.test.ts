import { describe, expect, it } from 'vitest'
import type { CustomResourceDefinition } from '../../../shared/model/custom-resource-definition.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { builtInKinds } from '../../../shared/resources/built-in-kinds.ts'
import { checkDeletion, completeState, firstState, isReleased, prepareState } from '../../../shared/resources/states.ts'
import { eventEndMs, normalizeBody, strategyOf } from '../../../shared/resources/strategies.ts'

/** What built-in kinds add to an object, and what must hold of it. */

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function objectOf(kind: ServedKind, content: JsonObject = {}, metadata: object = {}): ApiObject {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
  const whole = { name: 'a', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: 'x', ...metadata }
  return { apiVersion, kind: kind.kind, metadata: whole, ...content }
}

function kindOf(name: string): ServedKind {
  const found = builtInKinds.find(({ kind }) => kind === name)
  if (found === undefined) throw new Error(`no kind ${name}`)
  return found
}

const [namespaceKind, secretKind, configMapKind] = [kindOf('Namespace'), kindOf('Secret'), kindOf('ConfigMap')]

/** The fields that are wrong. */
function errorsOf(next: ApiObject, live?: ApiObject): readonly string[] {
  return (strategyOf(next).check?.(next, live, kindOf(next.kind)) ?? []).map(
    ({ field, reason }) => `${field} ${reason.slice(10)}`,
  )
}

describe('a namespace', () => {
  const definite = { nowMs: 0, definitions: [] }

  it('is held until it is empty, is labelled by its name, and says how it is', () => {
    const { object } = firstState(namespaceKind, objectOf(namespaceKind, {}, { labels: { mine: 'yes' } }), definite)
    expect(object).toMatchObject({
      metadata: { finalizers: ['setpoint.dev/namespace'], labels: { mine: 'yes', 'kubernetes.io/metadata.name': 'a' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
    const going = prepareState({ ...object, metadata: { ...object.metadata, deletionTimestamp: 'x' } }, definite)
    expect(going).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } })
    const { finalizers: _, ...released } = object.metadata
    expect(prepareState({ ...object, metadata: released }, definite)).toMatchObject({ spec: { finalizers: [] } })
  })

  it('is held last, behind what others hold it by', () => {
    const finalizers = ['setpoint.dev/namespace', 'example.com/a']
    const { object } = firstState(namespaceKind, objectOf(namespaceKind, {}, { finalizers }), definite)
    expect(object.metadata.finalizers).toEqual(['example.com/a', 'setpoint.dev/namespace'])
  })

  it.each([
    ['default', true],
    ['other', false],
  ])('called %s has to stay: %j', (name, stays) => {
    const remove = () => checkDeletion(namespaceKind, objectOf(namespaceKind, {}, { name }))
    if (stays) expect(remove).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }))
    else expect(remove).not.toThrow()
  })

  it.each([
    ['a', []],
    ['a'.repeat(63), []],
    ['a'.repeat(64), ['metadata.name Invalid']],
    ['a.b', ['metadata.name Invalid']],
  ])('may be called %s', (name, errors) => {
    expect(errorsOf(objectOf(namespaceKind, {}, { name }))).toEqual(errors)
  })

  it('keeps its spec, whatever a writer says', () => {
    const keep = (live: JsonObject): unknown =>
      strategyOf(objectOf(namespaceKind)).keep?.(
        objectOf(namespaceKind, { spec: { finalizers: [] } }),
        objectOf(namespaceKind, live),
      )
    expect(keep({ spec: { finalizers: ['kubernetes'] } })).toMatchObject({ spec: { finalizers: ['kubernetes'] } })
    expect(keep({})).toEqual(objectOf(namespaceKind, { spec: {} }))
  })
})

describe('a Secret', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['texts', { stringData: { a: 'x' } }, { data: { a: base64('x') } }],
    ['texts beside data', { stringData: { a: 'x' }, data: { b: 'Yg==' } }, { data: { a: base64('x'), b: 'Yg==' } }],
    ['texts in place of data', { stringData: { a: 'x' }, data: { a: 'Yg==' } }, { data: { a: base64('x') } }],
    ['texts beside what is no data', { stringData: { a: 'x' }, data: 'y' }, { stringData: { a: 'x' }, data: 'y' }],
    ['no texts', { data: { a: 'Yg==' } }, { data: { a: 'Yg==' } }],
    ['what are no texts', { stringData: 'x' }, { stringData: 'x' }],
    ['a text that is null', { stringData: { a: null } }, { data: { a: '' } }],
  ])('is written with %s', (_what, body, taken) => {
    expect(normalizeBody(secretKind, body)).toEqual(taken)
  })

  it('is not written with what is no text', () => {
    expect(() => normalizeBody(secretKind, { stringData: { a: 5 } })).toThrow('stringData.a: must be a string')
    const body = { stringData: { a: 5 } }
    expect(normalizeBody(configMapKind, body)).toBe(body)
  })

  const type = (name: string, data: JsonObject = {}, metadata: object = {}): ApiObject =>
    objectOf(secretKind, { type: `kubernetes.io/${name}`, data }, metadata)
  const account = { annotations: { 'kubernetes.io/service-account.name': 'a' } }
  it.each<[string, ApiObject, readonly string[]]>([
    ['any', objectOf(secretKind, { type: 'mine' }), []],
    ['tls', type('tls', { 'tls.crt': '', 'tls.key': '' }), []],
    ['tls without a key', type('tls', { 'tls.crt': '' }), ['data[tls.key] Required']],
    ['tls of nothing', type('tls'), ['data[tls.crt] Required', 'data[tls.key] Required']],
    [
      'tls without data',
      objectOf(secretKind, { type: 'kubernetes.io/tls' }),
      ['data[tls.crt] Required', 'data[tls.key] Required'],
    ],
    ['ssh', type('ssh-auth', { 'ssh-privatekey': '' }), []],
    ['ssh of nothing', type('ssh-auth'), ['data[ssh-privatekey] Required']],
    ['a user', type('basic-auth', { username: '' }), []],
    ['a password', type('basic-auth', { password: '' }), []],
    ['neither', type('basic-auth'), ['data[username] Required', 'data[password] Required']],
    ['docker', type('dockercfg', { '.dockercfg': base64('{}') }), []],
    ['docker of null', type('dockercfg', { '.dockercfg': base64('null') }), []],
    ['docker of a list', type('dockercfg', { '.dockercfg': base64('[]') }), ['data[.dockercfg] Invalid']],
    [
      'docker of no JSON',
      type('dockerconfigjson', { '.dockerconfigjson': base64('{') }),
      ['data[.dockerconfigjson] Invalid'],
    ],
    ['docker of nothing', type('dockerconfigjson'), ['data[.dockerconfigjson] Required']],
    ['docker config', type('dockerconfigjson', { '.dockerconfigjson': base64('{"a":1}') }), []],
    ['an account', type('service-account-token', {}, account), []],
    [
      'no account',
      type('service-account-token'),
      ['metadata.annotations[kubernetes.io/service-account.name] Required'],
    ],
  ])('of %s holds what it is for', (_what, secret, errors) => {
    expect(errorsOf(secret)).toEqual(errors)
  })

  it('that was stored without it stays so until its data changes', () => {
    const live = type('tls', { 'tls.crt': '' })
    expect(errorsOf(type('tls', { 'tls.crt': '' }, account), live)).toEqual([])
    expect(errorsOf(type('tls', { 'tls.crt': 'eA==' }), live)).toEqual(['data[tls.key] Required'])
  })

  it('keeps its type', () => {
    expect(errorsOf(type('mine'), type('mine'))).toEqual([])
    expect(errorsOf(type('mine'), type('other'))).toEqual(['type Invalid'])
  })

  it.each([
    [{ data: { a: 'x' } }, ['data']],
    [{ binaryData: { a: 'x' } }, ['binaryData']],
    [{ immutable: false }, ['immutable']],
    [{ data: { b: 'x' }, immutable: undefined }, ['data', 'immutable']],
    [{}, []],
  ])('or a ConfigMap that is immutable keeps its content: %j', (change, fields) => {
    for (const kind of [secretKind, configMapKind]) {
      const live = objectOf(kind, { immutable: true, data: {} })
      const next = { ...live, ...change } as unknown as ApiObject
      expect(errorsOf(next, live)).toEqual(fields.map((field) => `${field} Forbidden`))
      expect(errorsOf(next, { ...live, immutable: false })).toEqual([])
      expect(errorsOf(next)).toEqual([])
    }
  })
})

describe('an Event', () => {
  const event = (content: JsonObject, creationTimestamp = '2026-01-01T00:00:00Z'): ApiObject =>
    objectOf(kindOf('Event'), content, { creationTimestamp })
  const hour = 3_600_000
  const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`)
  it.each<[string, ApiObject, number]>([
    ['was last seen', event({ lastTimestamp: '2026-01-01T03:00:00Z' }), at('04:00:00')],
    [
      'was last seen in a series',
      event({ series: { lastObservedTime: '2026-01-01T05:00:00Z' }, lastTimestamp: '2026-01-01T03:00:00Z' }),
      at('06:00:00'),
    ],
    ['happened', event({ eventTime: '2026-01-01T02:00:00Z' }), at('03:00:00')],
    [
      'was last seen, and happened',
      event({ eventTime: '2026-01-01T05:00:00Z', lastTimestamp: '2026-01-01T03:00:00Z' }),
      at('04:00:00'),
    ],
    ['was recorded late', event({ lastTimestamp: '2025-01-01T03:00:00Z' }), at('01:00:00')],
    ['was recorded', event({}), at('01:00:00')],
    ['says no time', event({ series: 'x', eventTime: 'never' }, 'never'), hour],
  ])('goes an hour after it %s', (_what, object, endMs) => {
    expect(eventEndMs(object)).toBe(endMs)
    expect(strategyOf(object).engine?.(object)).toEqual({ wakeAtMs: endMs })
  })
})

describe('a state', () => {
  it('has what its kind remembers, and else nothing', () => {
    const around = { nowMs: 0, definitions: [] }
    expect(firstState(configMapKind, objectOf(configMapKind), around).engine).toEqual({})
  })

  it('is refused with all that is wrong with it, and what it takes while it is deleted', () => {
    const around = { nowMs: 0, definitions: [] }
    const refusal = (next: ApiObject, live?: ApiObject): unknown => {
      try {
        completeState(configMapKind, live, next, around)
        return []
      } catch (error) {
        return (
          error as { readonly details: { readonly causes: readonly { readonly field: string }[] } }
        ).details.causes.map(({ field }) => field)
      }
    }
    const wrong = objectOf(configMapKind, { data: { a: 5 } }, { name: 'A', labels: { 'a b': '' } })
    expect(refusal(wrong)).toEqual(['metadata.name', 'metadata.labels', 'data.a'])
    expect(refusal(objectOf(configMapKind, {}, { finalizers: ['a'] }))).toEqual(['metadata.finalizers'])
    const held = objectOf(configMapKind, {}, { finalizers: ['a'] })
    expect(refusal(held, held)).toEqual([])
    const deletionTimestamp = 'x'
    const live = objectOf(configMapKind, {}, { deletionTimestamp, finalizers: ['a'] })
    expect(refusal(objectOf(configMapKind, {}, { deletionTimestamp, finalizers: ['a', 'a/b'] }), live)).toEqual([
      'metadata.finalizers',
    ])
  })

  it.each([
    [{ deletionTimestamp: 'x' }, true],
    [{ deletionTimestamp: 'x', finalizers: [] }, true],
    [{ deletionTimestamp: 'x', finalizers: ['a'] }, false],
    [{}, false],
  ])('with %j is released: %j', (metadata, is) => {
    expect(isReleased(objectOf(configMapKind, {}, metadata))).toBe(is)
  })
})

describe('a definition', () => {
  const kind = kindOf('CustomResourceDefinition')
  const spec = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'as', singular: 'a', kind: 'A', listKind: 'AList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  }
  const name = 'as.example.com'
  const condition = (type: string, status: string) => ({
    type,
    status,
    reason: 'r',
    message: 'm',
    lastTransitionTime: 't',
  })
  const stored = objectOf(
    kind,
    {
      spec,
      status: {
        acceptedNames: spec.names,
        conditions: [condition('NamesAccepted', 'True'), condition('Established', 'True')],
      },
    },
    { name },
  )

  it('is believed in its names only as it is stored', () => {
    const claimed = {
      acceptedNames: { plural: 'x', kind: 'X' },
      conditions: ['Established', 'NamesAccepted']
        .map((type) => condition(type, 'False'))
        .concat(condition('Mine', 'True')),
    }
    const prepared = prepareState(objectOf(kind, { spec, status: claimed }, { name }), {
      nowMs: 0,
      definitions: [stored as unknown as CustomResourceDefinition],
    })
    expect(prepared.status).toMatchObject({ acceptedNames: spec.names })
    const conditions = prepared.status?.['conditions'] as unknown as readonly {
      readonly type: string
      readonly status: string
    }[]
    expect(conditions.map(({ type, status }) => `${type} ${status}`).toSorted()).toEqual([
      'Established True',
      'Mine True',
      'NamesAccepted True',
    ])
  })

  it('that is only marked is left as it is', () => {
    const object = objectOf(kind, { spec, status: { mine: 1 } }, { name })
    expect(prepareState(object, { nowMs: 0 })).toBe(object)
    expect(strategyOf(object).finalizer).toBe('customresourcecleanup.apiextensions.k8s.io')
  })
})

it('kinds of users’ own have no strategy, and are prepared by nobody', () => {
  const object = { apiVersion: 'example.com/v1', kind: 'Namespace', metadata: { name: 'A' } } as unknown as ApiObject
  expect(strategyOf(object)).toEqual({})
  expect(prepareState(object, { nowMs: 0 })).toBe(object)
})
