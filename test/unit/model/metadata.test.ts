import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import {
  checkMetadata,
  checkNamespaceName,
  checkNoNewFinalizers,
  checkOneLabel,
  checkPlainFinalizers,
  findPlainFinalizers,
  isSubdomain,
  type NameRule,
} from '../../../shared/model/metadata.ts'
import { writableMetadata } from '../../../shared/model/writable-metadata.ts'
import { processorMs } from '../../support/processor-time.ts'

/** What Kubernetes says of the keys of labels and annotations (`IsQualifiedName` in its apimachinery). */
const characters = "name part must consist of alphanumeric characters, '-', '_' or '.'"
const meta = { name: 'a', uid: '', resourceVersion: '', generation: 1, creationTimestamp: '' }

describe.each(['labels', 'annotations'] as const)('a key in %s', (field) => {
  function messages(key: string): readonly string[] {
    return checkMetadata({ ...meta, [field]: { [key]: 'v' } }).map(({ message }) => message)
  }

  it.each(['a', 'x'.repeat(63), `example.com/${'x'.repeat(63)}`, `${'a'.repeat(253)}/x`, 'A_b.c-D'])(
    'may be %s',
    (key) => {
      expect(messages(key)).toEqual([])
    },
  )

  it.each([
    { key: 'x'.repeat(64), says: ['name part must be no more than 63 characters'] },
    { key: `example.com/${'x'.repeat(64)}`, says: ['name part must be no more than 63 characters'] },
    { key: `${'a'.repeat(254)}/x`, says: ['prefix part must be no more than 253 characters'] },
    { key: 'a b', says: [characters] },
    { key: `A!/${'x'.repeat(63)}`, says: [characters] },
    { key: `${'a'.repeat(253)}/x!`, says: [characters] },
    { key: `${'a'.repeat(250)}/${'x'.repeat(60)}!`, says: [characters] },
    { key: '', says: [characters] },
    { key: `${'x'.repeat(64)}!`, says: ['name part must be no more than 63 characters', characters] },
  ])('may not be $key', ({ key, says }) => {
    expect(messages(key)).toEqual(says.map((text) => expect.stringContaining(text)))
  })
})

describe('all annotations together', () => {
  it.each([
    { text: 'a'.repeat(262_143), isFine: true },
    { text: 'a'.repeat(262_144), isFine: false },
    { text: 'ä'.repeat(131_071), isFine: true },
    { text: '€'.repeat(87_400), isFine: false },
  ])('have 256 KiB at most: $text.length characters, $isFine', ({ text, isFine }) => {
    const errors = checkMetadata({ ...meta, annotations: { k: text } })
    expect(errors.map(({ field, reason }) => [field, reason])).toEqual(
      isFine ? [] : [['metadata.annotations', 'FieldValueTooLong']],
    )
  })
})

describe('an owner reference', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u' }

  it.each([
    { apiVersion: 5 },
    { kind: {} },
    { name: ['a'] },
    { uid: true },
    { controller: 'true' },
    { blockOwnerDeletion: 1 },
  ])('is refused with a field of another type: %j', (field) => {
    const body = { metadata: { ownerReferences: [{ ...owner, ...field }] } }
    expect(() => writableMetadata(body)).toThrow(expect.objectContaining({ code: 'UNDECODABLE' }))
  })

  it('may say null for what it leaves out', () => {
    const references = [{ ...owner, controller: null }]
    expect(writableMetadata({ metadata: { ownerReferences: references } })).toEqual({ ownerReferences: references })
  })

  it('is no longer than what it names can be, since it becomes a key', () => {
    const references = [{ ...owner, name: 'a'.repeat(254) }]
    expect(checkMetadata({ ...meta, ownerReferences: references })).toMatchObject([
      { field: 'metadata.ownerReferences[0].name', reason: 'FieldValueTooLong' },
    ])
  })
})

const bad = (message: string) => expect.objectContaining({ code: 'UNDECODABLE', message })

describe('what a writer says of metadata', () => {
  it.each<[JsonObject, JsonObject]>([
    [{}, {}],
    [{ metadata: null }, {}],
    [{ metadata: {} }, {}],
    [
      { metadata: { name: 'a', generateName: 'b-', namespace: 'n', uid: 'u', resourceVersion: '7' } },
      { name: 'a', generateName: 'b-', namespace: 'n', uid: 'u', resourceVersion: '7' },
    ],
    [{ metadata: { name: '', namespace: null, generation: 5, creationTimestamp: null, managedFields: [] } }, {}],
    [{ metadata: { creationTimestamp: '2026-01-01T00:00:00.5+02:00', generation: null, selfLink: '/x' } }, {}],
    [{ metadata: { managedFields: [null, { fieldsV1: 'all', time: null, other: 1 }], unknown: {} } }, {}],
    [{ metadata: { finalizers: [null], ownerReferences: [null] } }, { finalizers: [''], ownerReferences: [{}] }],
    [{ metadata: { labels: { a: 'b', c: '' } } }, { labels: { a: 'b', c: '' } }],
    [{ metadata: { labels: {}, annotations: null } }, {}],
    [{ metadata: { annotations: { a: null, b: 'c' } } }, { annotations: { a: '', b: 'c' } }],
    [{ metadata: { labels: { a: null } } }, { labels: { a: '' } }],
    [{ metadata: { finalizers: ['a', 'b', 'a'] } }, { finalizers: ['a', 'b'] }],
    [{ metadata: { finalizers: [], ownerReferences: [] } }, {}],
    [{ metadata: { finalizers: null, ownerReferences: null } }, {}],
  ])('of %j is %j', (body, written) => {
    expect(writableMetadata(body)).toEqual(written)
  })

  it.each<[JsonObject, string]>([
    [{ metadata: 'x' }, 'metadata: must be an object'],
    [{ metadata: [] }, 'metadata: must be an object'],
    [{ metadata: { name: 5 } }, 'metadata.name: must be a string; quote it in YAML'],
    [{ metadata: { resourceVersion: 7 } }, 'metadata.resourceVersion: must be a string; quote it in YAML'],
    [{ metadata: { uid: false } }, 'metadata.uid: must be a string; quote it in YAML'],
    [{ metadata: { labels: ['a'] } }, 'metadata.labels: must be an object'],
    [{ metadata: { annotations: { a: 1 } } }, 'metadata.annotations.a: must be a string; quote it in YAML'],
    [{ metadata: { finalizers: 'a' } }, 'metadata.finalizers: must be a list'],
    [{ metadata: { finalizers: ['a', 1] } }, 'metadata.finalizers[1]: must be a string; quote it in YAML'],
    [{ metadata: { ownerReferences: {} } }, 'metadata.ownerReferences: must be a list'],
    [{ metadata: { ownerReferences: ['a'] } }, 'metadata.ownerReferences[0]: must be an object'],
    [{ metadata: { selfLink: {} } }, 'metadata.selfLink: must be a string; quote it in YAML'],
    [{ metadata: { generation: '1' } }, 'metadata.generation: must be an integer'],
    [{ metadata: { generation: 1.5 } }, 'metadata.generation: must be an integer'],
    [{ metadata: { deletionGracePeriodSeconds: '0' } }, 'metadata.deletionGracePeriodSeconds: must be an integer'],
    [{ metadata: { creationTimestamp: 5 } }, 'metadata.creationTimestamp: must be a string; quote it in YAML'],
    [
      { metadata: { creationTimestamp: '' } },
      'metadata.creationTimestamp: must be a time such as 2026-01-01T00:00:00Z',
    ],
    [
      { metadata: { deletionTimestamp: 'now' } },
      'metadata.deletionTimestamp: must be a time such as 2026-01-01T00:00:00Z',
    ],
    [{ metadata: { managedFields: 'x' } }, 'metadata.managedFields: must be a list'],
    [{ metadata: { managedFields: [7] } }, 'metadata.managedFields[0]: must be an object'],
    [
      { metadata: { managedFields: [{ manager: 7 }] } },
      'metadata.managedFields[0].manager: must be a string; quote it in YAML',
    ],
    [
      { metadata: { ownerReferences: [{ uid: 5 }] } },
      'metadata.ownerReferences[0].uid: must be a string; quote it in YAML',
    ],
    [
      { metadata: { ownerReferences: [{}, { controller: 0 }] } },
      'metadata.ownerReferences[1].controller: must be a boolean',
    ],
  ])('is refused if it is of another type: %j', (body, message) => {
    expect(() => writableMetadata(body)).toThrow(bad(message))
  })
})

describe('a name', () => {
  const messages = (name: string, rule?: NameRule): readonly string[] =>
    checkMetadata({ ...meta, name }, rule).map(({ message }) => message)
  const subdomain = expect.stringContaining('a lowercase RFC 1123 subdomain')

  it.each<[string, NameRule | undefined, readonly unknown[]]>([
    ['a', undefined, []],
    ['a.b-c.1', undefined, []],
    ['a'.repeat(253), undefined, []],
    ['a'.repeat(254), undefined, [expect.stringContaining('no more than 253 characters')]],
    ['A', undefined, [subdomain]],
    ['a..b', undefined, [subdomain]],
    ['-a', undefined, [subdomain]],
    ['a/b', 'subdomain', [subdomain]],
    ['', undefined, [expect.stringContaining('name or generateName is required')]],
    ['', 'path segment', [expect.stringContaining('name or generateName is required')]],
    ['system:node', 'path segment', []],
    ['ä'.repeat(126), 'path segment', []],
    ['ä'.repeat(127), 'path segment', [expect.stringContaining('no more than 253 bytes')]],
    ['a'.repeat(253), 'path segment', []],
    ['a\ud800', 'path segment', [expect.stringContaining('must be well-formed Unicode')]],
    ['.', 'path segment', [expect.stringContaining("may not be '.'")]],
    ['..', 'path segment', [expect.stringContaining("may not be '..'")]],
    ['...', 'path segment', []],
    ['a/b%', 'path segment', [expect.stringContaining("'/'"), expect.stringContaining("'%'")]],
  ])('%j by the rule %s', (name, rule, says) => {
    expect(messages(name, rule)).toEqual(says)
  })

  it.each([
    ['a.b', true],
    ['a'.repeat(253), true],
    ['a'.repeat(254), false],
    ['a_b', false],
    ['', false],
  ])('%j is a subdomain: %j', (name, is) => {
    expect(isSubdomain(name)).toBe(is)
  })
})

describe('errors of metadata', () => {
  const fields = (more: object): readonly string[] => checkMetadata({ ...meta, ...more }).map(({ field }) => field)

  it.each([
    ['', []],
    ['a'.repeat(63), []],
    ['A_b.c-d', []],
    ['a'.repeat(64), ['metadata.labels']],
    ['a b', ['metadata.labels']],
    ['-', ['metadata.labels']],
  ])('of the value %j of a label', (value, errors) => {
    expect(fields({ labels: { a: value } })).toEqual(errors)
    expect(fields({ annotations: { a: value } })).toEqual([])
  })

  it('are a hundred at most, of labels as of all', () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`a ${i}`, '!']))
    expect(fields({ labels: many })).toEqual(Array(100).fill('metadata.labels'))
    expect(fields({ annotations: many })).toEqual(Array(100).fill('metadata.annotations'))
    expect(fields({ labels: many, finalizers: ['a b'] })).toHaveLength(100)
    const half = Object.fromEntries(Object.entries(many).slice(0, 60))
    expect(fields({ labels: half, annotations: half })).toEqual([
      ...Array(60).fill('metadata.labels'),
      ...Array(40).fill('metadata.annotations'),
    ])
    expect(fields({ labels: half })).toEqual(Array(100).fill('metadata.labels'))
    expect(fields({ name: 'A', labels: many })[0]).toBe('metadata.name')
  })

  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u' }
  it.each<[string, readonly object[], readonly string[]]>([
    ['one owner', [owner], []],
    ['two owners', [owner, { ...owner, uid: 'v' }], []],
    ['an event', [{ ...owner, kind: 'Event' }], ['metadata.ownerReferences[0]']],
    ['one owner under two names', [owner, { ...owner, name: 'b' }], []],
    [
      'one controller',
      [
        { ...owner, controller: true },
        { ...owner, uid: 'v', controller: false },
      ],
      [],
    ],
    [
      'two controllers',
      [
        { ...owner, controller: true },
        { ...owner, uid: 'v', controller: true },
      ],
      ['metadata.ownerReferences'],
    ],
    ['an owner without a uid', [{ ...owner, uid: '' }], ['metadata.ownerReferences[0].uid']],
    [
      'an owner of nothing',
      [{}],
      ['apiVersion', 'kind', 'name', 'uid'].map((field) => `metadata.ownerReferences[0].${field}`),
    ],
    [
      'a kind of some length',
      [{ ...owner, kind: 'k'.repeat(63), apiVersion: 'v'.repeat(317), uid: 'u'.repeat(128) }],
      [],
    ],
    ['a kind too long', [{ ...owner, kind: 'k'.repeat(64) }], ['metadata.ownerReferences[0].kind']],
    ['a version too long', [{ ...owner, apiVersion: 'v'.repeat(318) }], ['metadata.ownerReferences[0].apiVersion']],
    ['a version without a group', [{ ...owner, apiVersion: '/v1' }], ['metadata.ownerReferences[0].apiVersion']],
    ['a group without a version', [{ ...owner, apiVersion: 'a.dev/' }], ['metadata.ownerReferences[0].apiVersion']],
    ['a version in three parts', [{ ...owner, apiVersion: 'a/b/c' }], ['metadata.ownerReferences[0].apiVersion']],
    ['a version in two parts', [{ ...owner, apiVersion: 'a.dev/v1' }], []],
    ['an event of another group', [{ ...owner, kind: 'Event', apiVersion: 'events.k8s.io/v1' }], []],
    ['a uid too long', [{ ...owner, uid: 'u'.repeat(129) }], ['metadata.ownerReferences[0].uid']],
  ])('of %s', (_what, ownerReferences, errors) => {
    expect(fields({ ownerReferences })).toEqual(errors)
  })

  it.each([
    [['a', 'example.com/a'], 0],
    [['a b', 'example.com/a/b', 'A'], 2],
    [['orphan', 'foregroundDeletion'], 1],
    [['orphan', 'a.dev/x'], 0],
    [['foregroundDeletion'], 0],
    [undefined, 0],
  ])('of the finalizers %j', (finalizers, count) => {
    expect(fields({ finalizers })).toEqual(Array(count).fill('metadata.finalizers'))
  })
})

describe('the annotations of an object', () => {
  const max = 256 * 1024
  it.each([
    ['x', max - 1, []],
    ['x', max, ['metadata.annotations']],
    ['€', 87_381, []],
    ['€', 87_382, ['metadata.annotations']],
  ])('of %s so often: %d', (sign, count, errors) => {
    const annotations = { a: sign.repeat(count) }
    expect(checkMetadata({ ...meta, annotations }).map(({ field }) => field)).toEqual(errors)
    const [half, other] = [annotations.a.slice(0, 1_000), annotations.a.slice(1_001)]
    const several = checkMetadata({ ...meta, annotations: { a: half, b: other } })
    expect(several.map(({ field }) => field)).toEqual(errors)
  })
})

describe('an object that is being deleted', () => {
  const of = (finalizers: readonly string[] | undefined, isDeleting = true) =>
    ({ metadata: { finalizers, ...(isDeleting && { deletionTimestamp: 'x' }) } }) as unknown as ApiObject
  it.each<[readonly string[] | undefined, readonly string[] | undefined, boolean, readonly string[]]>([
    [['a'], ['a'], true, []],
    [['a', 'b'], ['b'], true, []],
    [['a'], undefined, true, []],
    [undefined, undefined, true, []],
    [['a'], ['a', 'b'], true, ['metadata.finalizers']],
    [undefined, ['b'], true, ['metadata.finalizers']],
    [undefined, ['b'], false, []],
  ])('with %j takes %j (being deleted: %j)', (had, has, isDeleting, errors) => {
    expect(checkNoNewFinalizers(of(had, isDeleting), of(has)).map(({ field }) => field)).toEqual(errors)
  })
})

describe('finalizers that say no domain', () => {
  it.each<[readonly string[] | undefined, readonly string[] | undefined, readonly string[]]>([
    [undefined, undefined, []],
    [['a.dev/x', 'kubernetes', 'orphan', 'foregroundDeletion'], undefined, []],
    [['x', 'a.dev/x', 'y'], undefined, ['x', 'y']],
    [['x', 'y'], ['x'], ['y']],
    [['x'], [], ['x']],
    [undefined, ['x'], []],
  ])('of %j beside %j are %j', (next, live, plain) => {
    const of = (finalizers: readonly string[] | undefined) => ({
      ...meta,
      ...(finalizers && { finalizers: [...finalizers] }),
    })
    for (const before of live === undefined ? [undefined, meta] : [of(live)]) {
      expect(findPlainFinalizers(of(next), before)).toEqual(plain)
      expect(checkPlainFinalizers(of(next), before).map(({ field }) => field)).toEqual(
        plain.map(() => 'metadata.finalizers'),
      )
    }
  })
})

it('tens of thousands of finalizers are told from those before in time by their number', () => {
  const held = () => ({
    ...meta,
    finalizers: Array.from({ length: 48_000 }, (_, i) => i.toString(36).padStart(4, 'x')),
  })
  const [live, next] = [held(), held()]
  const deleting = { apiVersion: 'v1', kind: 'K', metadata: { ...live, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  const tookMs = processorMs(() => {
    expect(findPlainFinalizers(next, live)).toEqual([])
    expect(checkNoNewFinalizers(deleting, { ...deleting, metadata: next })).toEqual([])
  })
  expect(tookMs).toBeLessThan(300)
})

it.each([
  ['a', true, true],
  ['a-1', true, true],
  ['a'.repeat(63), true, true],
  ['a'.repeat(64), false, false],
  ['a.b', false, false],
  ['A', false, true],
  ['-a', false, true],
  ['', false, true],
])('%j is the name of a namespace: %s; one label: %s', (name, isNamespace, isLabel) => {
  const found = [checkNamespaceName('f', name), checkOneLabel('f', name)]
  expect(found.map((errors) => errors.length === 0)).toEqual([isNamespace, isLabel])
  expect(found.flat().every(({ field }) => field === 'f')).toBe(true)
})
