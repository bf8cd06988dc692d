import { describe, expect, it } from 'vitest'
import { apply } from '../../../../shared/model/apply/apply.ts'
import { conflictCauses, conflictMessage, conflictsOf } from '../../../../shared/model/apply/conflict.ts'
import { decodeFields } from '../../../../shared/model/apply/fields/fields-v1.ts'
import type { Owners } from '../../../../shared/model/apply/ownership.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import {
  applied,
  entriesOf,
  later,
  ownership,
  start,
  tryApply,
  update,
  widget,
  widgetSchema,
  withMetadata,
  withSpec,
} from './widget.ts'

describe('applying', () => {
  it('creates an object of the configuration and of who owns it', () => {
    const config = widget({ size: 3, ports: [{ name: 'http', port: 80 }] }, { labels: { app: 'demo' } })
    const fieldsV1 = {
      'f:metadata': { 'f:labels': { 'f:app': {} } },
      'f:spec': {
        'f:ports': { 'k:{"name":"http","protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} } },
        'f:size': {},
      },
    }
    const entry = { manager: 'alice', operation: 'Apply', apiVersion: 'example.com/v1', time: start }
    const managedFields = [{ ...entry, fieldsType: 'FieldsV1', fieldsV1 }]
    expect(tryApply(undefined, config)).toEqual({
      outcome: 'applied',
      changed: true,
      object: withMetadata(config, { managedFields }),
    })
  })

  it('changes nothing, not even a time, when the same is applied again', () => {
    const live = applied(undefined, widget({ size: 3, tags: ['a', 'b'], free: { deep: [1] } }))
    const again = tryApply(live, widget({ size: 3, tags: ['a', 'b'], free: { deep: [1] } }), { at: later })
    expect(again).toEqual({ outcome: 'applied', object: live, changed: false })
    expect(again).toHaveProperty('object', live)
  })

  it('shares a field that two managers apply with the same value, and tells when the second came', () => {
    const live = applied(undefined, widget({ size: 3 }))
    const shared = applied(live, widget({ size: 3 }), { manager: 'carol', at: later })
    expect(ownership(shared)).toEqual({ alice: { 'f:spec': { 'f:size': {} } }, carol: { 'f:spec': { 'f:size': {} } } })
    expect(entriesOf(shared).map(({ time }) => time)).toEqual([start, later])
  })

  it('removes what its manager no longer applies', () => {
    const live = applied(undefined, widget({ size: 3, colour: 'red', tags: ['a', 'b'], options: { x: '1' } }))
    expect(applied(live, widget({ size: 3, tags: ['b'] }))['spec']).toEqual({ size: 3, tags: ['b'] })
  })

  it('keeps what its manager no longer applies while somebody else does', () => {
    const both = applied(applied(undefined, widget({ size: 3 })), widget({ size: 3 }), { manager: 'carol' })
    const left = applied(both, widget({}))
    expect(left['spec']).toEqual({ size: 3 })
    expect(ownership(left)).toEqual({ alice: { 'f:spec': {} }, carol: { 'f:spec': { 'f:size': {} } } })
  })

  it('removes an item that it alone applied, with what somebody else changed in it', () => {
    const live = applied(undefined, widget({ ports: [{ name: 'http', port: 80 }, { name: 'ssh' }] }))
    const changed = update(live, withSpec(live, { ports: [{ name: 'http', port: 81 }, { name: 'ssh' }] })).object
    const left = applied(changed, widget({ ports: [{ name: 'ssh' }] }))
    expect(left['spec']).toEqual({ ports: [{ name: 'ssh' }] })
    expect(Object.keys(ownership(left))).toEqual(['alice'])
  })

  it('keeps the items of others in a list with keys, and its own in the order it wants', () => {
    const live = applied(undefined, widget({ ports: [{ name: 'http' }, { name: 'ssh' }] }))
    const merged = applied(live, widget({ ports: [{ name: 'dns' }, { name: 'ssh' }, { name: 'ftp' }] }), {
      manager: 'carol',
    })
    expect(merged['spec']).toEqual({ ports: ['http', 'dns', 'ssh', 'ftp'].map((name) => ({ name })) })
  })

  it('has lists of free data whole, and takes a null for a map that says nothing', () => {
    const live = applied(undefined, widget({ free: { list: [1, 2], map: { a: 1 } } }))
    expect(ownership(live)['alice']).toHaveProperty(['f:spec', 'f:free', 'f:list'], {})
    const other = tryApply(live, widget({ free: { list: [3], map: { b: 2 } } }), { manager: 'carol' })
    expect(other).toHaveProperty('message', 'Apply failed with 1 conflict: conflict with "alice": .spec.free.list')
    expect(applied(live, widget({ free: { map: null } }), { manager: 'carol' })['spec']).toEqual(live['spec'])
  })

  it('leaves its arguments as they were', () => {
    const live = applied(undefined, widget({ options: { x: '1' }, ports: [{ name: 'http', port: 80 }] }))
    const config = widget({ options: { y: '2' }, ports: [{ name: 'http', port: 81 }] })
    const before = structuredClone([live, config])
    tryApply(live, config)
    expect([live, config]).toEqual(before)
  })

  it.each(['constructor', '__proto__', 'toString'])('treats %s as a key like any other', (key) => {
    const options = JSON.parse(`{ "${key}": "x" }`) as JsonObject
    const live = applied(applied(undefined, widget({ options: { a: 'b' } })), widget({ options }), { manager: 'carol' })
    expect(JSON.stringify(live['spec'])).toBe(`{"options":{"a":"b","${key}":"x"}}`)
    expect(JSON.stringify(applied(live, widget({}), { manager: 'carol' })['spec'])).toBe('{"options":{"a":"b"}}')
  })
})

describe('another version of the same manager', () => {
  it('is the same applier, known by the version it used last', () => {
    const live = applied(undefined, widget({ size: 3 }))
    const again = applied(live, widget({ size: 3 }), { apiVersion: 'example.com/v2', at: later })
    expect(entriesOf(again)).toMatchObject([{ manager: 'alice', apiVersion: 'example.com/v2', time: later }])
  })

  it('is another updater', () => {
    const live = update(undefined, widget({ size: 3 })).object
    const again = update(live, withSpec(live, { size: 4 }), { apiVersion: 'example.com/v2' }).object
    expect(entriesOf(again).map(({ apiVersion }) => apiVersion)).toEqual(['example.com/v1', 'example.com/v2'])
  })
})

/** Left over from a time when the schema allowed them. */
describe('duplicates in a live list', () => {
  const port = (number: number) => ({ name: 'http', port: number })
  const doubled = update(undefined, widget({ size: 1, ports: [port(80), port(81)], tags: ['a', 'a'] })).object
  const element = 'k:{"name":"http","protocol":"TCP"}'

  it('are items that lack what tells them apart, or that no set has any more', () => {
    const odd = update(undefined, widget({ ports: [{ port: 80 }, 5], tags: [{ a: 1 }, { b: 2 }] })).object
    expect(ownership(odd)['bob']).toHaveProperty('f:spec', {
      '.': {},
      'f:ports': { '.': {}, 'v:{"port":80}': { '.': {}, 'f:port': {} }, 'v:5': {} },
      'f:tags': { '.': {}, 'v:{"a":1}': expect.anything() as unknown, 'v:{"b":2}': expect.anything() as unknown },
    })
  })

  it('are owned as one piece', () => {
    expect(ownership(doubled)['bob']).toMatchObject({
      'f:spec': { 'f:ports': { '.': {}, [element]: {} }, 'f:tags': { '.': {}, 'v:"a"': {} } },
    })
  })

  it('give way to the one item that is applied, merged with neither', () => {
    const merged = applied(doubled, widget({ ports: [{ name: 'http' }], tags: ['a'] }), { force: true })
    expect(merged['spec']).toEqual({ size: 1, ports: [{ name: 'http' }], tags: ['a'] })
    expect(ownership(merged)['alice']).toHaveProperty(['f:spec', 'f:ports', element], { '.': {}, 'f:name': {} })
  })

  it('stay while nobody applies them, and are changed as one piece', () => {
    const merged = applied(doubled, widget({ ports: [{ name: 'ssh' }] }))
    expect(merged['spec']).toHaveProperty('ports', [port(80), port(81), { name: 'ssh' }])
    const written = update(doubled, withSpec(doubled, { size: 1, ports: [port(80), port(82)], tags: ['a'] }), {
      manager: 'carol',
    }).object
    expect(ownership(written)['carol']).toEqual({
      'f:spec': { 'f:ports': { [element]: {} }, 'f:tags': { 'v:"a"': {} } },
    })
  })

  it('are a new piece when they appear', () => {
    const single = applied(undefined, widget({ ports: [port(80)] }))
    const written = update(single, withSpec(single, { ports: [port(80), port(80)] })).object
    expect(ownership(written)).toEqual({ bob: { 'f:spec': { 'f:ports': { [element]: {} } } } })
  })

  it('are pruned together', () => {
    const mine = withMetadata(doubled, { managedFields: [] })
    const entry = { manager: 'alice', operation: 'Apply', apiVersion: 'example.com/v1', fieldsType: 'FieldsV1' }
    const fieldsV1 = { 'f:spec': { 'f:tags': { 'v:"a"': {} } } }
    const live = withMetadata(mine, { managedFields: [{ ...entry, fieldsV1 }] })
    expect(applied(live, widget({ size: 1 }))['spec']).not.toHaveProperty('tags')
  })
})

it('a conflict about thousands of fields below a long name names some, in few words, and says how many there are', () => {
  const spec = (value: number) => ({
    ['p'.repeat(130_000)]: Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`a${i}`, value])),
  })
  const schema = { type: 'object', properties: { spec: { 'x-kubernetes-preserve-unknown-fields': true } } } as const
  const tryAs = (manager: string, value: number, live?: JsonObject) => {
    const config = { apiVersion: 'a/v1', kind: 'K', metadata: { name: 'a' }, spec: spec(value) }
    return apply({ schema, apiVersion: 'a/v1', nowMs: 0, manager, config, live })
  }
  const first = tryAs('one', 1)
  const refused = tryAs('two', 2, 'object' in first ? first.object : {})
  if (refused.outcome !== 'conflict') throw new Error(refused.outcome)
  expect(refused.message).toMatch(/^Apply failed with 3000 conflicts: conflicts with "one":\n- \.spec\.ppp/)
  expect(refused.message).toMatch(/\nand 2900 more$/)
  expect(refused.message.length).toBeLessThan(110_000)
  const causes = conflictCauses(refused.conflicts)
  expect([causes.length, JSON.stringify(causes).length < 120_000]).toEqual([100, true])
})

it('a conflict with many managers names some of them', () => {
  const at = (i: number): string => `m${String(i).padStart(3, '0')}`
  const fields = (count: number) =>
    decodeFields({ 'f:spec': Object.fromEntries(Array.from({ length: count }, (_, i) => [`f:a${i}`, {}])) })
  const owners = (counts: readonly number[]): Owners =>
    new Map(
      counts.map((count, i) => [
        at(i),
        { manager: at(i), operation: 'Apply', apiVersion: 'v1', fields: fields(count) },
      ]),
    )
  const shownOf = (counts: readonly number[]) => {
    const { named, others } = conflictsOf(owners(counts))
    return [named.length, named.reduce((sum, one) => sum + one.fields.length, 0), others]
  }
  expect(shownOf(Array.from({ length: 1_800 }, () => 1))).toEqual([100, 100, 1_700])
  expect(shownOf([60, 60, 60])).toEqual([2, 100, 80])
  expect(shownOf([100])).toEqual([1, 100, 0])
  expect(shownOf([99, 1])).toEqual([2, 100, 0])
  const message = conflictMessage(conflictsOf(owners(Array.from({ length: 102 }, () => 1))))
  expect(message).toMatch(
    /^Apply failed with 102 conflicts: conflicts with "m000":\n- \.spec\.a0\nconflicts with "m001"/,
  )
  expect(message).toMatch(/conflicts with "m099":\n- \.spec\.a0\nand 2 more$/)
})

describe('a conflict', () => {
  const live = applied(undefined, widget({ size: 3, colour: 'red', ports: [{ name: 'http', port: 80 }], tags: ['a'] }))
  const apiVersion = 'example.com/v1'

  it('is refused in the words of Kubernetes, with its fields as causes', () => {
    const refused = tryApply(live, widget({ size: 4 }), { manager: 'carol' })
    if (refused.outcome !== 'conflict') throw new Error(refused.outcome)
    expect(refused.message).toBe('Apply failed with 1 conflict: conflict with "alice": .spec.size')
    expect(refused.conflicts).toEqual([
      { manager: 'alice', operation: 'Apply', apiVersion, time: start, fields: ['.spec.size'] },
    ])
    expect(conflictCauses(refused.conflicts)).toEqual([
      { reason: 'FieldManagerConflict', message: 'conflict with "alice"', field: '.spec.size' },
    ])
  })

  it('lists all fields of all managers', () => {
    const shared = update(live, withSpec(live, { ...(live['spec'] as JsonObject), colour: 'blue' })).object
    const config = widget({ size: 4, colour: 'green', ports: [{ name: 'http', port: 81 }] })
    expect(tryApply(shared, config, { manager: 'carol' })).toHaveProperty(
      'message',
      [
        'Apply failed with 3 conflicts: conflicts with "alice":',
        '- .spec.size',
        '- .spec.ports[name="http",protocol="TCP"].port',
        'conflicts with "bob" using example.com/v1:',
        '- .spec.colour',
      ].join('\n'),
    )
  })

  it('names the subresource through which the other came', () => {
    const object = { ...live, status: { ready: true } }
    const written = update(live, object, { subresource: 'status' }).object
    expect(tryApply(written, { ...widget({}), status: { ready: false } }, { manager: 'carol' })).toHaveProperty(
      'message',
      'Apply failed with 1 conflict: conflict with "bob" with subresource "status" using example.com/v1: .status.ready',
    )
  })

  it('is won by force, and the other no longer owns the field', () => {
    const taken = applied(live, widget({ size: 4 }), { manager: 'carol', force: true })
    expect(taken['spec']).toHaveProperty('size', 4)
    expect(ownership(taken)['carol']).toEqual({ 'f:spec': { 'f:size': {} } })
    expect(ownership(taken)['alice']).not.toHaveProperty(['f:spec', 'f:size'])
  })

  it('does not arise from new keys and items beside those of others', () => {
    const config = widget({ ports: [{ name: 'ssh', port: 22 }], tags: ['b'], options: { x: '1' } })
    expect(tryApply(live, config, { manager: 'carol' }).outcome).toBe('applied')
  })
})

describe('a configuration that does not fit the schema', () => {
  const rows: readonly { because: string; config: JsonObject; misfit: string }[] = [
    {
      because: 'the field is not declared',
      config: widget({ hue: 'red' }),
      misfit: '.spec.hue: field not declared in schema',
    },
    {
      because: 'metadata is not for free data',
      config: widget({}, { colour: 'red' }),
      misfit: '.metadata.colour: field not declared in schema',
    },
    {
      because: 'a text is no number',
      config: widget({ size: '3' }),
      misfit: '.spec.size: expected numeric (int or float), got string',
    },
    { because: 'a list is no map', config: widget({ options: [] }), misfit: '.spec.options: expected map, got list' },
    { because: 'a map is no list', config: widget({ tags: {} }), misfit: '.spec.tags: expected list, got map' },
    {
      because: 'items of an atomic list have a type too',
      config: widget({ arguments: ['a', 1] }),
      misfit: '.spec.arguments[1]: expected string, got number',
    },
    {
      because: 'nobody could own the item again',
      config: widget({ ports: [{ port: 80 }] }),
      misfit:
        '.spec.ports: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value)',
    },
    {
      because: 'the default makes the two the same item',
      config: widget({ ports: [{ name: 'http' }, { name: 'http', protocol: 'TCP' }] }),
      misfit: '.spec.ports: duplicate entries for key [name="http",protocol="TCP"]',
    },
    {
      because: 'a value of a map has its type',
      config: widget({ options: { a: 'x', b: 5 } }),
      misfit: '.spec.options.b: expected string, got number',
    },
    {
      because: 'null has no keys',
      config: widget({ ports: [{ name: 'http' }, null] }),
      misfit: '.spec.ports: element 1: associative list with keys may not have a null element',
    },
    {
      because: 'a text has no keys',
      config: widget({ ports: ['http'] }),
      misfit: '.spec.ports: element 0: associative list with keys may not have non-map elements',
    },
    {
      because: 'a list is no item of a set',
      config: widget({ tags: [['a']] }),
      misfit: '.spec.tags: element 0: not supported: associative list with lists as elements',
    },
    {
      because: 'a map is no item of a set',
      config: widget({ tags: ['a', {}] }),
      misfit: ".spec.tags: element 1: associative list without keys has an element that's a map type",
    },
    {
      because: 'a text is no flag',
      config: { ...widget({}), status: { ready: 'yes' } },
      misfit: '.status.ready: expected boolean, got string',
    },
    {
      because: 'a map is no scalar',
      config: widget({ quantity: {} }),
      misfit: '.spec.quantity: expected any scalar, got map',
    },
    {
      because: 'null is nobody',
      config: widget({ tags: [null] }),
      misfit: ".spec.tags: element 0: associative list without keys has an element that's an explicit null",
    },
  ]

  it.each(rows)('is refused: $because', ({ config, misfit }) => {
    const message = `failed to create typed patch object (default/demo; example.com/v1, Kind=Widget): ${misfit}`
    expect(tryApply(undefined, config)).toMatchObject({ outcome: 'misfit', message })
  })

  it('is refused with more items than can be merged in time, in all its lists together', () => {
    const many = (count: number): JsonObject => {
      const tags = Array.from({ length: count }, (_, i) => `t${i}`)
      return widget({ tags, ports: tags.map((name) => ({ name })) })
    }
    expect(tryApply(undefined, many(3_000))).toMatchObject({ outcome: 'applied' })
    const message = 'an apply may have at most 6000 items in sets and in lists with keys'
    expect(() => tryApply(undefined, many(3_001))).toThrow(message)
  })

  it('is refused with all that is wrong', () => {
    const [hue, size] = [
      { path: '.spec.hue', message: 'field not declared in schema' },
      { path: '.spec.size', message: 'expected numeric (int or float), got string' },
    ]
    const whose = 'default/demo; example.com/v1, Kind=Widget'
    const lines = ['errors:', `  ${hue.path}: ${hue.message}`, `  ${size.path}: ${size.message}`]
    expect(tryApply(undefined, widget({ hue: 'red', size: 'big' }))).toEqual({
      outcome: 'misfit',
      misfits: [hue, size],
      message: `failed to create typed patch object (${whose}): ${lines.join('\n')}`,
    })
  })

  it.each([
    ['fields', widget(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, i])))],
    ['items of a set', widget({ tags: Array.from({ length: 101 }, () => null) })],
    ['items of a list', widget({ arguments: Array.from({ length: 101 }, (_, i) => i) })],
  ])('is refused with a hundred %s at most', (_what, config) => {
    expect(tryApply(undefined, config)).toHaveProperty('misfits.length', 100)
  })

  it('is not one for a field that is undefined, which is absent', () => {
    const config = widget({ size: undefined, hue: undefined }, { colour: undefined })
    const live = applied(undefined, widget({ colour: 'red' }))
    const sized = applied(undefined, widget({ size: 3 }))
    expect(applied(sized, config, { manager: 'carol' })['spec']).toEqual({ size: 3 })
    expect(tryApply(undefined, config)).toMatchObject({ outcome: 'applied' })
    expect(ownership(applied(live, config, { manager: 'carol' }))['carol']).toEqual({ 'f:spec': {} })
    expect(update(live, withSpec(live, { colour: 'red', size: undefined }))).toMatchObject({ changed: false })
  })

  const free = [
    { because: 'unknown fields are preserved', spec: { free: { any: [{ thing: null }] } } },
    { because: 'an object without declared fields declares nothing', spec: { anything: { any: [1] } } },
    { because: 'a format may stand for more than text', spec: { quantity: 5 } },
    { because: 'null is left to the schema validation', spec: { size: null, tags: null, options: null } },
  ]

  it.each(free)('is not one where $because', ({ spec }) => {
    expect(tryApply(undefined, widget(spec))).toMatchObject({ outcome: 'applied', object: { spec } })
  })
})

describe('metadata', () => {
  it('is never owned where only the server or the name decides', () => {
    const server = { uid: 'u', resourceVersion: '7', generation: 2, creationTimestamp: start, deletionTimestamp: start }
    expect(ownership(applied(undefined, widget({}, server)))).toEqual({ alice: { 'f:spec': {} } })
  })

  it('has finalizers as a set, owners by uid, labels and annotations by key', () => {
    const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'Owner', name: 'o', uid })
    const mine = { finalizers: ['a/x'], ownerReferences: [owner('1')], labels: { a: 'x' }, annotations: { a: 'x' } }
    const theirs = { finalizers: ['b/y'], ownerReferences: [owner('2')], labels: { b: 'y' }, annotations: { b: 'y' } }
    const both = applied(applied(undefined, widget({}, mine)), widget({}, theirs), { manager: 'carol' })
    expect(both['metadata']).toMatchObject({
      finalizers: ['a/x', 'b/y'],
      ownerReferences: [owner('1'), owner('2')],
      labels: { a: 'x', b: 'y' },
      annotations: { a: 'x', b: 'y' },
    })
    expect(ownership(both)['carol']).toHaveProperty('f:metadata', {
      'f:annotations': { 'f:b': {} },
      'f:finalizers': { 'v:"b/y"': {} },
      'f:labels': { 'f:b': {} },
      'f:ownerReferences': { 'k:{"uid":"2"}': {} },
    })
  })

  it('keeps the finalizer of another when the own one goes', () => {
    const both = applied(applied(undefined, widget({}, { finalizers: ['a/x'] })), widget({}, { finalizers: ['b/y'] }), {
      manager: 'carol',
    })
    expect(applied(both, widget({}))).toHaveProperty('metadata.finalizers', ['b/y'])
  })
})

describe('an object that nobody tracked', () => {
  const live = { ...widget({ size: 3, tags: ['a'] }), status: { ready: true } }

  it('belongs to before-first-apply, all but the fields that cannot be written here', () => {
    const config = widget({ tags: ['b'] })
    expect(ownership(applied(live, config, { resetFields: [['status']] }))).toEqual({
      alice: { 'f:spec': { 'f:tags': { 'v:"b"': {} } } },
      'before-first-apply': { 'f:spec': { '.': {}, 'f:size': {}, 'f:tags': { '.': {}, 'v:"a"': {} } } },
    })
  })

  it('conflicts with whoever changes what was there before', () => {
    expect(tryApply(live, widget({ size: 4 }))).toHaveProperty(
      'message',
      'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.size',
    )
  })

  it.each([
    { because: 'it is not FieldsV1', entry: { manager: 'x' } },
    { because: 'it is no object', entry: 'x' },
  ])('is one whose managedFields cannot be read: $because', ({ entry }) => {
    const broken = withMetadata(live, { managedFields: [entry] })
    expect(Object.keys(ownership(applied(broken, widget({ size: 3 }))))).toEqual(['alice', 'before-first-apply'])
  })
})

describe('fields that cannot be written here', () => {
  const live = { ...widget({ size: 3 }), status: { ready: true } }
  const status = { ...widget({ size: 9 }, { labels: { a: 'b' } }), status: { ready: false } }

  it('stay as they are and unowned, so applying them alone changes nothing', () => {
    const tracked = applied(live, { ...widget({ size: 3 }), status: { ready: false } }, { resetFields: [['status']] })
    expect(tracked).toMatchObject({ status: { ready: true } })
    expect(ownership(tracked)['alice']).toEqual({ 'f:spec': { 'f:size': {} } })
    const other = { ...widget({ size: 3 }), status: {} }
    expect(tryApply(tracked, other, { resetFields: [['status']] })).toMatchObject({ changed: false })
  })

  it('must fit the schema all the same', () => {
    const config = { ...widget({}), status: { ready: 'maybe' } }
    expect(tryApply(live, config, { resetFields: [['status']] }).outcome).toBe('misfit')
  })

  it('are all but the status through /status', () => {
    const options = { subresource: 'status', resetFields: [['spec'], ['metadata']], force: true }
    const written = applied(live, status, options)
    expect(written).toMatchObject({ spec: { size: 3 }, status: { ready: false }, metadata: { name: 'demo' } })
    expect(written['metadata']).not.toHaveProperty('labels')
    expect(entriesOf(written)).toMatchObject([
      { subresource: 'status', fieldsV1: { 'f:status': { 'f:ready': {} } } },
      {},
    ])
  })

  it('are not removed, though they were applied when they could be', () => {
    const before = applied(undefined, { ...widget({ size: 3 }), status: { ready: true } })
    const after = applied(before, widget({ size: 3 }), { resetFields: [['status']] })
    expect(after).toMatchObject({ status: { ready: true } })
  })

  it('may lie deeper than there is anything', () => {
    const object = applied(undefined, widget({ retention: null }), { resetFields: [['spec', 'retention', 'policy']] })
    expect(object['spec']).toEqual({ retention: null })
  })

  it('may lie deeper', () => {
    const config = widget({ retention: { days: 3, policy: 'keep' } })
    const object = applied(undefined, config, { resetFields: [['spec', 'retention', 'policy']] })
    expect(object['spec']).toEqual({ retention: { days: 3 } })
  })
})

describe('a schema that has changed since', () => {
  const retention: StructuralSchema = { ...widgetSchema.properties?.['spec']?.properties?.['retention'] }
  const atomic = specWith({ retention: { ...retention, 'x-kubernetes-map-type': 'atomic' } })

  it('makes who owned a part of what is atomic now own the whole', () => {
    const live = applied(undefined, widget({ retention: { days: 3 } }))
    expect(
      tryApply(live, widget({ retention: { policy: 'keep' } }), { manager: 'carol', schema: atomic }),
    ).toHaveProperty('message', 'Apply failed with 1 conflict: conflict with "alice": .spec.retention')
  })

  it('leaves fields it no longer declares where they are', () => {
    const live = withSpec(applied(undefined, widget({ size: 3 })), { size: 3, old: { x: 1 } })
    expect(applied(live, widget({ size: 4 }))['spec']).toEqual({ size: 4, old: { x: 1 } })
  })
})

function specWith(properties: NonNullable<StructuralSchema['properties']>): StructuralSchema {
  const spec = { ...widgetSchema.properties?.['spec'] }
  return { ...widgetSchema, properties: { spec: { ...spec, properties: { ...spec.properties, ...properties } } } }
}
