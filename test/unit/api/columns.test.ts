import { describe, expect, it } from 'vitest'
import { findBuiltInColumns } from '../../../shared/api/table/built-in-columns.ts'
import { reconcileColumns } from '../../../shared/api/table/reconcile-columns.ts'
import { tableOf } from '../../../shared/api/table/table.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { defineBuiltInKind, type ServedKind } from '../../../shared/model/served-kind.ts'
import { twinKinds } from '../../../shared/resources/built-in-kinds.ts'
import { plainKind } from './called.ts'

const nowMs = Date.parse('2026-01-01T00:10:00Z')

function kindOf(name: string): ServedKind {
  const [, group = '', version = '', kind = ''] = /^(?:(.*)\/)?(v[^/]*)\/(.*)$/.exec(name) ?? []
  const schema = { type: 'object' } as const
  return { ...defineBuiltInKind({ group, kind, plural: 'xs', namespaced: true, schema }), version }
}

function objectOf(parts: JsonObject, metadata: JsonObject = {}): ApiObject {
  const meta = { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata }
  return { metadata: meta, ...parts } as unknown as ApiObject
}

/** The cells of a row, by the names of their columns. */
function rowOf(kind: ServedKind, object: ApiObject): Readonly<Record<string, Json | undefined>> {
  const { columnDefinitions, cells } = tableOf(kind)
  const row = cells(object, nowMs)
  return Object.fromEntries(columnDefinitions.map(({ name }, i) => [String(name), row[i]]))
}

const cellOf = (kind: string, column: string, parts: JsonObject) => rowOf(kindOf(kind), objectOf(parts))[column]

describe('the cell of what is computed', () => {
  const long = 'x'.repeat(81)
  const queuedKey = 'setpoint.dev/v1/QueuedKey'
  const queue = 'setpoint.dev/v1/Queue'
  const timer = 'setpoint.dev/v1/Timer'
  const budget = 'setpoint.dev/v1/Budget'
  it.each<[string, string, JsonObject, Json]>([
    [queuedKey, 'Object', { object: { kind: 'Widget', name: 'w' } }, 'widget/w'],
    [queuedKey, 'Object', {}, ''],
    [queuedKey, 'State', { state: 'Waiting' }, 'Waiting'],
    [queuedKey, 'State', {}, null],
    [queuedKey, 'Time', { since: '2026-01-01T00:09:00Z' }, '60s'],
    [queuedKey, 'Time', { since: '2026-01-01T00:09:00Z', until: '2026-01-01T00:10:30Z' }, 'in 30s'],
    [queuedKey, 'Time', {}, '<unknown>'],
    [queuedKey, 'Lane', { lane: 'fast' }, 'fast'],
    [queuedKey, 'Lane', {}, null],
    [queuedKey, 'Because', { reason: 'it changed' }, 'it changed'],
    [queuedKey, 'Because', { reason: long.slice(1) }, long.slice(1)],
    [queuedKey, 'Because', { reason: long }, `${long.slice(1)}…`],
    [queuedKey, 'Because', {}, ''],
    [queue, 'Waiting', { waiting: 0 }, 0],
    [queue, 'Waiting', {}, null],
    [queue, 'Oldest', { oldestSeconds: 30 }, '30s'],
    [queue, 'Oldest', {}, null],
    [queue, 'Of', { controllers: ['a', 'b', 'c'] }, 'a, b, c'],
    [queue, 'Of', { controllers: ['a', 'b', 'c', 'd'] }, '4 controllers'],
    [queue, 'Of', {}, ''],
    [timer, 'Due', { dueTime: '2026-01-01T00:11:00Z' }, 'in 60s'],
    [timer, 'Due', { dueTime: '2026-01-01T00:10:00Z' }, 'in 0s'],
    [timer, 'Due', { dueTime: '2026-01-01T00:09:00Z' }, '60s ago'],
    [timer, 'Due', { dueTime: 'soon' }, '<unknown>'],
    [timer, 'Due', { dueTime: 5 }, '<unknown>'],
    [timer, 'Due', {}, '<unknown>'],
    [timer, 'Waiting', { waiting: 'Backoff' }, 'Backoff'],
    [timer, 'Waiting', {}, null],
    [timer, 'Because', { error: 'no' }, 'no'],
    [budget, 'Bounds', { bounds: 'runs' }, 'runs'],
    [budget, 'Bounds', {}, null],
    [budget, 'Allows', { perSecond: 1 / 3, burst: 2.345 }, '0.33/s, 2.35 at once'],
    [budget, 'Allows', { max: 5, withinSeconds: 60 }, '5 in 60s'],
    [budget, 'Allows', { max: 5 }, '5 at a time'],
    [budget, 'Allows', {}, ''],
    [budget, 'Left', { left: 0, message: 'm' }, '0'],
    [budget, 'Left', { message: 'm' }, 'm'],
    [budget, 'Left', { left: 3, closedUntil: '2026-01-01T00:11:00Z' }, 'closed, opens in 60s'],
    [budget, 'Left', {}, ''],
  ])('%s: %s of %j is %j', (kind, column, status, cell) => {
    expect(cellOf(kind, column, { status })).toBe(cell)
  })

  it('is empty where nothing is told', () => {
    expect(rowOf(kindOf(queuedKey), objectOf({}))).toEqual({
      Name: 'x',
      Object: '',
      State: null,
      Time: '<unknown>',
      Lane: null,
      Because: '',
    })
    expect(rowOf(kindOf(budget), objectOf({}))).toEqual({ Name: 'x', Bounds: null, Allows: '', Left: '' })
  })

  it('tells of a group version that it is served here', () => {
    const kind = kindOf('apiregistration.k8s.io/v1/APIService')
    expect(rowOf(kind, objectOf({}))).toEqual({ Name: 'x', Service: 'Local', Available: 'True' })
  })
})

describe('the cell of a built-in kind', () => {
  const role = 'rbac.authorization.k8s.io/v1/RoleBinding'
  const subjects = [
    { kind: 'User', name: 'ann' },
    { kind: 'Group', name: 'team' },
    { kind: 'User', name: 'bob' },
    { kind: 'ServiceAccount', namespace: 'n', name: 'a' },
  ]
  const admission = 'admissionregistration.k8s.io/v1'
  const paramKind = { apiVersion: 'g.dev/v1', kind: 'Limit' }
  const quota = {
    hard: { 'limits.cpu': '4', pods: '10', 'count/x': 3, 'limits.memory': '1Gi' },
    used: { pods: '2', 'limits.cpu': '1' },
  }
  it.each<[string, string, JsonObject, Json]>([
    ['v1/Namespace', 'Status', { status: { phase: 'Active' } }, 'Active'],
    ['v1/Namespace', 'Status', {}, null],
    ['v1/ConfigMap', 'Data', { data: { a: '1', b: '2' }, binaryData: { c: '' } }, 3],
    ['v1/ConfigMap', 'Data', {}, 0],
    ['v1/Secret', 'Data', { data: { a: '1' }, binaryData: { c: '' } }, 1],
    ['v1/Secret', 'Type', { type: 'Opaque' }, 'Opaque'],
    ['v1/Secret', 'Type', {}, null],
    ['v1/ServiceAccount', 'Secrets', { secrets: [{}, {}] }, 2],
    ['v1/ServiceAccount', 'Secrets', {}, 0],
    ['v1/ResourceQuota', 'Request', { status: quota }, 'count/x: 0/3, pods: 2/10'],
    ['v1/ResourceQuota', 'Limit', { status: quota }, 'limits.cpu: 1/4, limits.memory: 0/1Gi'],
    ['v1/ResourceQuota', 'Request', { status: { hard: { pods: '10' } } }, 'pods: 0/10'],
    ['v1/ResourceQuota', 'Limit', {}, ''],
    [role, 'Role', { roleRef: { kind: 'Role', name: 'r' } }, 'Role/r'],
    [role, 'Users', { subjects }, 'ann, bob'],
    [role, 'Groups', { subjects }, 'team'],
    [role, 'ServiceAccounts', { subjects }, 'n/a'],
    [role, 'Users', {}, ''],
    ['rbac.authorization.k8s.io/v1/Role', 'Created At', {}, '2026-01-01T00:00:00Z'],
    [`${admission}/ValidatingWebhookConfiguration`, 'Webhooks', { webhooks: [{}, {}] }, 2],
    [`${admission}/MutatingWebhookConfiguration`, 'Webhooks', {}, 0],
    [`${admission}/ValidatingAdmissionPolicy`, 'Validations', { spec: { validations: [{}] } }, 1],
    [`${admission}/ValidatingAdmissionPolicy`, 'Validations', {}, 0],
    [`${admission}/ValidatingAdmissionPolicy`, 'ParamKind', { spec: {} }, '<unset>'],
    [`${admission}/MutatingAdmissionPolicy`, 'Mutations', { spec: { mutations: [{}, {}] } }, 2],
    [`${admission}/MutatingAdmissionPolicy`, 'ParamKind', { spec: { paramKind } }, 'g.dev/v1/Limit'],
    [`${admission}/ValidatingAdmissionPolicyBinding`, 'PolicyName', { spec: { policyName: 'p' } }, 'p'],
    [`${admission}/ValidatingAdmissionPolicyBinding`, 'ParamRef', {}, '<unset>'],
    [`${admission}/MutatingAdmissionPolicyBinding`, 'ParamRef', { spec: { paramRef: { name: 'a' } } }, '*/a'],
    [
      `${admission}/MutatingAdmissionPolicyBinding`,
      'ParamRef',
      { spec: { paramRef: { name: 'a', namespace: 'n' } } },
      'n/a',
    ],
    [
      `${admission}/ValidatingAdmissionPolicyBinding`,
      'ParamRef',
      { spec: { paramRef: { selector: { matchLabels: { a: 'b' } } } } },
      '{"matchLabels":{"a":"b"}}',
    ],
    ['v1/Event', 'Type', {}, ''],
    ['v1/Event', 'Type', { type: 'Warning' }, 'Warning'],
    ['v1/Event', 'Reason', { reason: 'R' }, 'R'],
    ['v1/Event', 'Reason', {}, ''],
    ['v1/Event', 'Message', { message: ' m\n' }, 'm'],
    ['v1/Event', 'Message', {}, ''],
    ['v1/Event', 'Object', { involvedObject: { kind: 'Widget', name: 'w' } }, 'widget/w'],
    ['v1/Event', 'Object', { involvedObject: { kind: 'Widget' } }, 'widget'],
    ['v1/Event', 'Object', {}, ''],
    ['v1/Event', 'Source', { source: { component: 'c', host: 'h' }, reportingComponent: 'r' }, 'c, h'],
    ['v1/Event', 'Source', { reportingComponent: 'r', reportingInstance: 'i' }, 'r, i'],
    ['v1/Event', 'Source', { source: { component: 'c' } }, 'c'],
    ['v1/Event', 'Source', {}, ''],
    ['v1/Event', 'Count', {}, 1],
    ['v1/Event', 'Count', { count: 0 }, 1],
    ['v1/Event', 'Count', { count: 1 }, 1],
    ['v1/Event', 'Count', { count: 2 }, 2],
    ['v1/Event', 'Count', { count: 2, series: { count: 3 } }, 3],
    ['v1/Event', 'First Seen', { firstTimestamp: '2026-01-01T00:09:00Z' }, '60s'],
    ['v1/Event', 'First Seen', { eventTime: '2026-01-01T00:09:30Z' }, '30s'],
    ['v1/Event', 'First Seen', {}, '<unknown>'],
    ['v1/Event', 'Last Seen', { lastTimestamp: '2026-01-01T00:09:00Z', eventTime: '2026-01-01T00:08:00Z' }, '60s'],
    ['v1/Event', 'Last Seen', { eventTime: '2026-01-01T00:08:30Z' }, '90s'],
    [
      'v1/Event',
      'Last Seen',
      { count: 2, lastTimestamp: '2026-01-01T00:09:00Z', firstTimestamp: '2026-01-01T00:08:30Z' },
      '60s (x2 over 90s)',
    ],
    [
      'v1/Event',
      'Last Seen',
      { lastTimestamp: '2026-01-01T00:08:30Z', series: { lastObservedTime: '2026-01-01T00:09:30Z' } },
      '30s',
    ],
  ])('%s: %s of %j is %j', (kind, column, parts, cell) => {
    expect(cellOf(kind, column, parts)).toBe(cell)
  })

  it('stands with -o wide only where it is long', () => {
    const wide = (kind: string) =>
      (findBuiltInColumns(kindOf(kind)) ?? []).filter(({ priority = 0 }) => priority === 1).map(({ name }) => name)
    const policies = Object.keys(rowOf(kindOf(`${admission}/ValidatingAdmissionPolicyBinding`), objectOf({})))
    expect(policies).toEqual(['Name', 'PolicyName', 'ParamRef', 'Age'])
    expect([wide('v1/Event'), wide(role), wide('v1/Secret')]).toEqual([
      ['Source', 'First Seen', 'Count', 'Name'],
      ['Users', 'Groups', 'ServiceAccounts'],
      [],
    ])
  })
})

describe('why an object waits', () => {
  const row = (status: JsonObject, metadata: JsonObject = {}) => {
    const object = objectOf({ status }, { generation: 2, ...metadata })
    return Object.fromEntries(reconcileColumns.map(({ name, cell }) => [name, cell(object, nowMs)]))
  }
  const notReady = (more: JsonObject = {}) => ({
    conditions: [{ type: 'Ready', status: 'False', reason: 'NoConfig', observedGeneration: 2, ...more }],
  })

  it.each<[JsonObject, JsonObject]>([
    [{}, { Waiting: null, Attempt: null, 'Next Run': null, 'Last Error': null }],
    [
      { reconcile: { waiting: 'Backoff', attempt: 3, nextRunAt: '2026-01-01T00:11:00Z', lastError: 'no' } },
      { Waiting: 'Backoff', Attempt: 3, 'Next Run': 'in 60s', 'Last Error': 'no' },
    ],
    [{ reconcile: { nextRunAt: '2026-01-01T00:10:00Z' } }, { 'Next Run': 'now' }],
    [{ reconcile: { nextRunAt: '2026-01-01T00:09:00Z' } }, { 'Next Run': 'now' }],
    [{ reconcile: 'x' }, { Waiting: null, Attempt: null }],
    [notReady(), { Waiting: 'NoConfig' }],
    [notReady({ status: 'True' }), { Waiting: null }],
    [notReady({ observedGeneration: 1 }), { Waiting: null }],
    [{ ...notReady(), reconcile: { waiting: 'Backoff' } }, { Waiting: 'Backoff' }],
  ])('of %j is told by %j', (status, cells) => {
    expect(row(status)).toMatchObject(cells)
  })

  it('is a pause ahead of a backoff', () => {
    const annotations = { 'setpoint.dev/paused': 'true' }
    expect(row({ reconcile: { waiting: 'Backoff' } }, { annotations })['Waiting']).toBe('Paused')
  })

  it('stands with -o wide', () => {
    expect(reconcileColumns.map(({ priority }) => priority)).toEqual([1, 1, 1, 1])
  })
})

describe('the table of a kind', () => {
  const columns = [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }] as const
  const namesOf = (kind: ServedKind) => tableOf(kind).columnDefinitions.map(({ name }) => name)

  it('has its own columns, an age, and why its objects wait', () => {
    const own = { ...plainKind, columns }
    const waits = ['Waiting', 'Attempt', 'Next Run', 'Last Error']
    expect(namesOf(own)).toEqual(['Name', 'Color', 'Age', ...waits])
    expect(namesOf({ ...own, builtIn: true })).toEqual(['Name', 'Color', 'Age'])
    const aged = { ...own, columns: [...columns, { name: 'AGE', type: 'date', jsonPath: '.metadata.x' } as const] }
    expect(namesOf(aged)).toEqual(['Name', 'Color', 'AGE', ...waits])
    expect(rowOf(own, objectOf({ spec: { color: 'red' } }))).toMatchObject({ Name: 'x', Color: 'red', Age: '10m' })
  })

  it('describes each column whole', () => {
    const described = { name: 'C', type: 'string', format: 'f', description: 'd', priority: 2, jsonPath: '.c' } as const
    const { columnDefinitions } = tableOf({ ...plainKind, columns: [...columns, described] })
    expect(columnDefinitions.slice(1, 3)).toEqual([
      { name: 'Color', type: 'string', format: '', description: '', priority: 0 },
      { name: 'C', type: 'string', format: 'f', description: 'd', priority: 2 },
    ])
  })

  it('is the same for the same kind', () => {
    expect(tableOf(plainKind)).toBe(tableOf(plainKind))
    expect(tableOf({ ...plainKind })).not.toBe(tableOf(plainKind))
  })

  it('of a twin has the cells of the kind that it is stored as', () => {
    const [newEvent] = twinKinds
    const event = objectOf({ note: 'm', regarding: { kind: 'Widget', name: 'w' } })
    expect(rowOf(newEvent as ServedKind, event)).toMatchObject({ Message: 'm', Object: 'widget/w' })
  })

  it('looks at five thousand values for a row', () => {
    const items = { name: 'I', type: 'string', jsonPath: ".spec.items[?(@.a=='last')].b" } as const
    const kind = { ...plainKind, columns: [items, { ...items, name: 'J' }] }
    const object = (count: number) => {
      const list = Array.from({ length: count }, (_, i) => ({ a: i === count - 1 ? 'last' : '', b: 'found' }))
      return objectOf({ spec: { items: list } })
    }
    expect(rowOf(kind, object(1_200))).toMatchObject({ I: 'found', J: 'found' })
    expect(rowOf(kind, object(1_300))).toMatchObject({ I: 'found', J: null })
  })
})
