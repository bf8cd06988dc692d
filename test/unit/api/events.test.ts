import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createHarness, type Harness } from './harness.ts'

/** One Event in two groups: core v1 and events.k8s.io/v1. */
const old = '/api/v1/namespaces/default/events'
const renewed = '/apis/events.k8s.io/v1/namespaces/default/events'

const inNewWords: JsonObject = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'w.1', namespace: 'default' },
  eventTime: '2026-11-22T10:20:30.123456Z',
  reportingController: 'example.com/painter',
  reportingInstance: 'painter-1',
  action: 'Paint',
  reason: 'Painted',
  regarding: { kind: 'Widget', namespace: 'default', name: 'w', uid: 'u' },
  note: 'is red now',
  type: 'Normal',
}

let harness: Harness
beforeEach(async () => {
  harness = await createHarness()
})
afterEach(() => harness.close())

describe('an event of events.k8s.io', () => {
  it('is the event of the core group under other names', async () => {
    const created = await harness.send(`POST ${renewed}`, { body: inNewWords })
    expect(created).toMatchObject({ status: 201, body: inNewWords })
    expect((await harness.send(`GET ${old}/w.1`)).body).toMatchObject({
      apiVersion: 'v1',
      kind: 'Event',
      eventTime: '2026-11-22T10:20:30.123456Z',
      reportingComponent: 'example.com/painter',
      involvedObject: { kind: 'Widget', name: 'w' },
      message: 'is red now',
    })
    expect((await harness.send(`GET ${renewed}`)).body).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      kind: 'EventList',
      items: [{ note: 'is red now' }],
    })
  })

  it('shows an old event with its old fields called deprecated', async () => {
    await harness.send(`POST ${old}`, {
      body: {
        metadata: { name: 'w.2' },
        involvedObject: { kind: 'Widget', namespace: 'default', name: 'w' },
        source: { component: 'painter' },
        firstTimestamp: '2026-11-22T10:20:30Z',
        lastTimestamp: '2026-11-22T10:20:31Z',
        count: 2,
        message: 'is red',
      },
    })
    const { body } = await harness.send(`GET ${renewed}/w.2`)
    expect(body).toMatchObject({
      deprecatedSource: { component: 'painter' },
      deprecatedFirstTimestamp: '2026-11-22T10:20:30Z',
      deprecatedLastTimestamp: '2026-11-22T10:20:31Z',
      deprecatedCount: 2,
      note: 'is red',
    })
    expect(Object.keys(body)).not.toContain('message')
  })

  const series = { count: 2, lastObservedTime: '2026-11-22T10:21:30.000001Z' }
  const applied = { apiVersion: 'events.k8s.io/v1', kind: 'Event', note: 'is red now', series }
  const patches = [
    { type: 'application/strategic-merge-patch+json', body: { note: 'is red now', series } },
    { type: 'application/merge-patch+json', body: { note: 'is red now', series } },
    { type: 'application/json-patch+json', body: [{ op: 'add', path: '/series', value: series }] },
    {
      type: 'application/json-patch+json',
      body: [
        { op: 'test', path: '/regarding/name', value: 'w' },
        { op: 'copy', from: '/reportingInstance', path: '/note' },
        { op: 'add', path: '/note', value: 'is red now' },
        { op: 'add', path: '/series', value: series },
      ],
    },
    { type: 'application/apply-patch+yaml', body: applied },
  ]
  it.each(patches)('is patched in its own words: $type', async ({ type, body }) => {
    await harness.send(`POST ${renewed}`, { body: inNewWords })
    const query = type.includes('apply') ? '?fieldManager=me&force=true' : ''
    const patched = { series, note: 'is red now' }
    expect(await harness.send(`PATCH ${renewed}/w.1${query}`, { type, body })).toMatchObject({
      status: 200,
      body: patched,
    })
    expect((await harness.send(`GET ${old}/w.1`)).body).toMatchObject({ series, message: 'is red now' })
  })

  const refused: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ['no time', { eventTime: null }, ['eventTime']],
    ['no reporter', { reportingController: '' }, ['reportingController', 'reportingController']],
    ['a reporter of no qualified name', { reportingController: 'a b' }, ['reportingController']],
    ['no instance', { reportingInstance: '' }, ['reportingInstance']],
    ['a long instance', { reportingInstance: 'x'.repeat(129) }, ['reportingInstance']],
    ['no action and no reason', { action: '', reason: null }, ['action', 'reason']],
    ['a long reason, in bytes', { reason: 'ä'.repeat(65) }, ['reason']],
    ['a long note', { note: 'x'.repeat(1_025) }, ['message']],
    ['an unknown type', { type: 'Fatal' }, ['type']],
    ['a subject without namespace, in default', { regarding: { kind: 'Widget' } }, []],
    ['a series of one', { series: { count: 1 } }, ['series.count', 'series.lastObservedTime']],
    [
      'old fields',
      { deprecatedCount: 1, deprecatedSource: { component: 'x' }, deprecatedLastTimestamp: '2026-11-22T10:20:31Z' },
      ['lastTimestamp', 'count', 'source'],
    ],
  ]
  it.each(refused)('with %s is judged as on Kubernetes', async (_, change, fields) => {
    const { status, body } = await harness.send(`POST ${renewed}`, { body: { ...inNewWords, ...change } })
    expect(status).toBe(fields.length === 0 ? 201 : 422)
    expect((body.details?.causes ?? []).map(({ field }: { field: string }) => field)).toEqual(fields)
  })

  it('keeps what it says, but for its series and its metadata', async () => {
    const { body: made } = await harness.send(`POST ${renewed}`, { body: inNewWords })
    const later = { ...made, series: { ...series, count: 3 }, metadata: { ...made.metadata, labels: { a: 'b' } } }
    const put = await harness.send(`PUT ${renewed}/w.1`, { body: later })
    expect(put).toMatchObject({ status: 200, body: { series: { count: 3 } } })
    const other = { ...put.body, note: 'is blue', reportingController: 'example.com/other', series: { count: 1 } }
    const { status, body } = await harness.send(`PUT ${renewed}/w.1`, { body: other })
    expect(status).toBe(422)
    expect(body.details.causes.map(({ field }: { field: string }) => field)).toEqual([
      'series.count',
      'series.lastObservedTime',
      'message',
      'reportingController',
    ])
    const patch = { type: 'application/merge-patch+json', body: { message: 'is blue' } }
    expect(await harness.send(`PATCH ${old}/w.1`, patch)).toMatchObject({ status: 200 })
  })

  it('keeps its owners of fields through both groups', async () => {
    const apply = { type: 'application/apply-patch+yaml', body: { ...inNewWords } }
    await harness.send(`PATCH ${renewed}/w.1?fieldManager=me`, apply)
    const shown = (await harness.send(`GET ${renewed}/w.1`)).body
    expect(shown.metadata.managedFields).toMatchObject([
      { manager: 'me', apiVersion: 'events.k8s.io/v1', fieldsV1: { 'f:note': {} } },
    ])
    const put = await harness.send(`PUT ${renewed}/w.1`, { body: shown })
    expect(put.body.metadata.managedFields).toEqual(shown.metadata.managedFields)
    expect((await harness.send(`GET ${old}/w.1`)).body.metadata.managedFields).toMatchObject([
      { apiVersion: 'v1', fieldsV1: { 'f:message': {} } },
    ])
  })

  it('does not know the old names of its fields', async () => {
    const body = { ...inNewWords, message: 'x' }
    expect(await harness.send(`POST ${renewed}?fieldValidation=Strict`, { body })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('unknown field "message"') },
    })
    const created = await harness.send(`POST ${renewed}`, { body })
    expect(created.headers['warning']).toBe('299 - "unknown field \\"message\\""')
    expect(created.body.note).toBe('is red now')
  })

  it('is selected by its own fields, and by those of the core group there', async () => {
    await harness.send(`POST ${renewed}`, { body: inNewWords })
    await harness.send(`POST ${renewed}`, {
      body: {
        ...inNewWords,
        metadata: { name: 'w.3' },
        regarding: { kind: 'Widget', namespace: 'default', name: 'other' },
      },
    })
    const names = async (path: string): Promise<readonly string[]> =>
      (await harness.send(`GET ${path}`)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
    expect(await names(`${renewed}?fieldSelector=regarding.name%3Dw`)).toEqual(['w.1'])
    expect(await names(`${old}?fieldSelector=involvedObject.name%3Dother`)).toEqual(['w.3'])
    for (const field of ['involvedObject.name', 'source', 'deprecatedSource'])
      expect(await harness.send(`GET ${renewed}?fieldSelector=${field}%3Dw`)).toMatchObject({ status: 400 })
    const involvedObject = { kind: 'Widget', namespace: 'default', resourceVersion: '7' }
    const body = { metadata: { name: 'w.4' }, involvedObject, source: { component: 'painter' } }
    await harness.send(`POST ${old}`, { body })
    expect(await names(`${old}?fieldSelector=source%3Dpainter`)).toEqual(['w.4'])
    expect(await names(`${old}?fieldSelector=source%3Dexample.com/painter`)).toEqual(['w.1', 'w.3'])
    expect(await names(`${renewed}?fieldSelector=regarding.resourceVersion%3D7`)).toEqual(['w.4'])
  })

  it('is watched in both groups, and resumed', async () => {
    const watches = [
      await harness.watch(`${renewed}?watch=1&resourceVersion=0`),
      await harness.watch(`${old}?watch=1&resourceVersion=0`),
    ] as const
    const created = await harness.send(`POST ${renewed}`, { body: inNewWords })
    await harness.send(`PATCH ${old}/w.1`, { type: 'application/merge-patch+json', body: { message: 'twice' } })
    const [first, second] = await Promise.all(watches.map((watch) => watch.take(2)))
    expect(first).toMatchObject([
      { type: 'ADDED', object: { apiVersion: 'events.k8s.io/v1', note: 'is red now' } },
      { type: 'MODIFIED', object: { note: 'twice' } },
    ])
    expect(second).toMatchObject([
      { type: 'ADDED', object: { apiVersion: 'v1', message: 'is red now' } },
      { type: 'MODIFIED', object: { message: 'twice' } },
    ])
    const late = await harness.watch(
      `${renewed}?watch=1&resourceVersion=${created.body.metadata.resourceVersion}&fieldSelector=regarding.name%3Dw`,
    )
    expect(await late.take(1)).toMatchObject([{ type: 'MODIFIED', object: { note: 'twice' } }])
    for (const watch of [...watches, late]) watch.leave()
  })

  it('is shown in the same columns', async () => {
    await harness.send(`POST ${renewed}`, { body: inNewWords })
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const [one, other] = await Promise.all(
      [old, renewed].map(async (path) => (await harness.send(`GET ${path}`, { accept })).body),
    )
    expect(one.rows[0].cells.slice(1, 6)).toEqual(['Normal', 'Painted', 'widget/w', expect.anything(), 'is red now'])
    expect(other.rows[0].cells).toEqual(one.rows[0].cells)
    expect(other.columnDefinitions).toEqual(one.columnDefinitions)
  })

  const placed: readonly (readonly [string, JsonObject, number])[] = [
    ['of an object in another namespace', { involvedObject: { kind: 'Widget', namespace: 'other' } }, 422],
    ['of an object without namespace, in default', { involvedObject: { kind: 'Widget' } }, 201],
    ['with a time and no reporter', { eventTime: '2026-11-22T10:20:30.123456Z' }, 422],
    ['without time, reason and type', { message: 'x'.repeat(2_000) }, 201],
  ]
  it.each(placed)('in the core group, %s, is judged as on Kubernetes', async (_, body, status) => {
    const given = { metadata: { name: 'w.4' }, involvedObject: { kind: 'Widget', namespace: 'default' }, ...body }
    expect(await harness.send(`POST ${old}`, { body: given })).toMatchObject({ status })
  })

  it('is deleted in either group', async () => {
    await harness.send(`POST ${renewed}`, { body: inNewWords })
    expect(await harness.send(`DELETE ${renewed}/w.1`)).toMatchObject({ status: 200 })
    expect(await harness.send(`GET ${old}/w.1`)).toMatchObject({ status: 404 })
  })

  it('is discovered and described', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const { body } = await harness.send('GET /apis', { accept })
    expect(body.items).toContainEqual(
      expect.objectContaining({
        metadata: { name: 'events.k8s.io' },
        versions: [expect.objectContaining({ resources: [expect.objectContaining({ resource: 'events' })] })],
      }),
    )
    const document = (await harness.send('GET /openapi/v3/apis/events.k8s.io/v1')).body
    expect(Object.keys(document.components.schemas['io.k8s.events.v1.Event'].properties)).toContain('regarding')
  })
})

describe('admission of an event', () => {
  const admission = '/apis/admissionregistration.k8s.io/v1'
  const bind = async (type: string, group: string, spec: JsonObject) => {
    const { matchPolicy = 'Equivalent', ...more } = spec
    const rule = { apiGroups: [group], apiVersions: ['v1'], operations: ['*'], resources: ['events'] }
    const matchConstraints = { resourceRules: [rule], matchPolicy }
    const made = { metadata: { name: 'p' }, spec: { matchConstraints, ...more } }
    expect((await harness.send(`POST ${admission}/${type}admissionpolicies`, { body: made })).status).toBe(201)
    const actions = type === 'validating' ? { validationActions: ['Deny'] } : {}
    const binding = { metadata: { name: 'b' }, spec: { policyName: 'p', ...actions } }
    await harness.send(`POST ${admission}/${type}admissionpolicybindings`, { body: binding })
  }
  const deny = (group: string, more: JsonObject = {}) => {
    const messageExpression = `[request.kind.group, request.resource.group, request.requestKind.group,
      request.requestResource.group, object != null && has(object.note) ? 'note' : 'message'].join(',')`
    return bind('validating', group, { validations: [{ expression: 'false', messageExpression }], ...more })
  }
  const inOldWords = {
    metadata: { name: 'w.2' },
    involvedObject: { kind: 'Widget', namespace: 'default', name: 'w' },
    message: 'is red',
  }
  const renewedGroup = 'events.k8s.io'
  const deniedWith = async (path: string) => {
    const { status, body } = await harness.send(`POST ${path}`, { body: path === old ? inOldWords : inNewWords })
    return status === 201 ? 'created' : /denied request: (.*)$/.exec(body.message as string)?.[1]
  }

  it.each([
    [renewedGroup, renewed, `${renewedGroup},${renewedGroup},${renewedGroup},${renewedGroup},note`],
    ['', renewed, `,,${renewedGroup},${renewedGroup},message`],
    [renewedGroup, old, `${renewedGroup},${renewedGroup},,,note`],
    ['', old, ',,,,message'],
  ])('by a rule of %j sees the group of the rule, asked at %s', async (group, path, seen) => {
    await deny(group)
    expect(await deniedWith(path)).toBe(seen)
  })

  it('by an exact rule is of the group alone that was asked', async () => {
    await deny('', { matchPolicy: 'Exact' })
    expect(await deniedWith(renewed)).toBe('created')
    expect(await deniedWith(old)).toBe(',,,,message')
  })

  it('sees changes and deletions in the group of the rule', async () => {
    await harness.send(`POST ${renewed}`, { body: inNewWords })
    const notes = `request.operation != 'DELETE' && object.note == 'is blue' && oldObject.note == 'is red now'`
    await bind('validating', renewedGroup, { validations: [{ expression: notes }] })
    const patch = (note: string) => ({ type: 'application/merge-patch+json', body: { note } })
    expect((await harness.send(`PATCH ${renewed}/w.1`, patch('is green'))).status).toBe(422)
    expect((await harness.send(`DELETE ${renewed}/w.1`)).status).toBe(422)
    const { status } = await harness.send(`PATCH ${old}/w.1`, { ...patch(''), body: { message: 'is blue' } })
    expect(status).toBe(200)
  })

  it.each([
    [renewedGroup, renewed, '/note'],
    ['', renewed, '/message'],
    [renewedGroup, old, '/note'],
  ])('of %j changes it in the words of that group, asked at %s', async (group, path, field) => {
    const expression = `[JSONPatch{op: 'replace', path: '${field}', value: 'is blue'}]`
    const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }]
    await bind('mutating', group, { reinvocationPolicy: 'Never', mutations })
    const { status, body } = await harness.send(`POST ${path}`, { body: path === old ? inOldWords : inNewWords })
    expect([status, body.note ?? body.message]).toEqual([201, 'is blue'])
    expect((await harness.send(`GET ${old}/${body.metadata.name}`)).body).toMatchObject({ message: 'is blue' })
  })
})
