import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createWidgetHarness, widget, widgets, type Harness } from './harness.ts'

/** What people send by mistake, or by a corner of Kubernetes' conventions, is answered as Kubernetes answers it. */

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

const merge = 'application/merge-patch+json'
const jsonPatch = 'application/json-patch+json'
const apply = 'application/apply-patch+yaml'
const configMaps = '/api/v1/namespaces/default/configmaps'
const secrets = '/api/v1/namespaces/default/secrets'

describe('metadata', () => {
  const mistyped = { lables: { app: 'x' } }
  const unknown = 'unknown field "metadata.lables"'

  it('with an unknown field gives a warning, and is refused under Strict, by every verb', async () => {
    const created = await harness.send(`POST ${widgets}`, { body: widget('w1', undefined, mistyped) })
    expect([created.status, created.headers['warning']]).toEqual([201, `299 - "unknown field \\"metadata.lables\\""`])
    const requests = [
      ['POST', widgets, widget('w2', undefined, mistyped), undefined],
      ['PUT', `${widgets}/w1`, { ...created.body, metadata: { ...created.body.metadata, ...mistyped } }, undefined],
      ['PATCH', `${widgets}/w1`, { metadata: mistyped }, merge],
      ['PATCH', `${widgets}/w1`, [{ op: 'add', path: '/metadata/lables', value: {} }], jsonPatch],
    ] as const
    for (const [method, path, body, type] of requests) {
      const { status, body: answer } = await harness.send(`${method} ${path}?fieldValidation=Strict`, {
        body,
        ...(type && { type }),
      })
      expect([method, status, answer.message]).toEqual([
        method,
        method === 'PATCH' ? 422 : 400,
        expect.stringContaining(unknown),
      ])
    }
    const ignored = await harness.send(`PATCH ${widgets}/w1?fieldValidation=Ignore`, {
      type: merge,
      body: { metadata: mistyped },
    })
    expect([ignored.status, ignored.headers['warning']]).toEqual([200, undefined])
  })

  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u1' }

  it('with an owner twice keeps it once, and says so', async () => {
    const body = { metadata: { name: 'a', ownerReferences: [owner, owner, { ...owner, uid: 'u2' }] } }
    const { status, headers, body: made } = await harness.send(`POST ${configMaps}`, { body })
    expect([status, made.metadata.ownerReferences]).toEqual([201, [owner, { ...owner, uid: 'u2' }]])
    expect(headers['warning']).toContain('duplicate UID(s) observed: u1')
  })

  it.each(['a/b/c', 'a/', '/v1'])('has owners of a group and a version: not %j', async (apiVersion) => {
    const body = { metadata: { name: 'a', ownerReferences: [{ ...owner, apiVersion }] } }
    const { status, body: answer } = await harness.send(`POST ${configMaps}`, { body })
    expect([status, answer.message]).toEqual([422, expect.stringContaining('ownerReferences[0].apiVersion')])
  })

  it('loses an unknown field of an owner', async () => {
    const body = { metadata: { name: 'a', ownerReferences: [{ ...owner, bogus: 1 }] } }
    const { headers, body: made } = await harness.send(`POST ${configMaps}`, { body })
    expect(made.metadata.ownerReferences).toEqual([owner])
    expect(headers['warning']).toContain('metadata.ownerReferences[0].bogus')
  })

  it('has prefixes of labels in small letters; those of annotations may be large', async () => {
    const sent = (metadata: JsonObject) =>
      harness.send(`POST ${configMaps}`, { body: { metadata: { name: 'a', ...metadata } } })
    expect((await sent({ labels: { 'Example.com/a': 'b' } })).status).toBe(422)
    expect((await sent({ annotations: { 'Example.com/a': 'b' } })).status).toBe(201)
  })
})

describe('a strategic merge patch of metadata', () => {
  const patch = (metadata: JsonObject) =>
    harness.send(`PATCH ${configMaps}/a`, { type: 'application/strategic-merge-patch+json', body: { metadata } })
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u1' }

  it('merges finalizers one by one, as kubectl apply and edit send them', async () => {
    await harness.send(`POST ${configMaps}`, { body: { metadata: { name: 'a', finalizers: ['a.b/one'] } } })
    const added = await patch({ finalizers: ['a.b/two'], '$setElementOrder/finalizers': ['a.b/two', 'a.b/one'] })
    expect([added.status, added.body.metadata.finalizers]).toEqual([200, ['a.b/two', 'a.b/one']])
    const removed = await patch({
      '$deleteFromPrimitiveList/finalizers': ['a.b/two'],
      '$setElementOrder/finalizers': ['a.b/one'],
    })
    expect([removed.status, removed.body.metadata.finalizers]).toEqual([200, ['a.b/one']])
    expect((await patch({ finalizers: null })).body.metadata.finalizers).toBeUndefined()
  })

  it('merges owners by their uids', async () => {
    await harness.send(`POST ${configMaps}`, { body: { metadata: { name: 'a', ownerReferences: [owner] } } })
    const added = await patch({ ownerReferences: [{ ...owner, uid: 'u2' }] })
    expect(added.body.metadata.ownerReferences).toEqual([owner, { ...owner, uid: 'u2' }])
    const removed = await patch({ ownerReferences: [{ $patch: 'delete', uid: 'u1' }], uid: added.body.metadata.uid })
    expect(removed.body.metadata.ownerReferences).toEqual([{ ...owner, uid: 'u2' }])
  })
})

describe('a name that is made', () => {
  it('is no longer than a label, whatever it is made of', async () => {
    for (const generateName of ['x'.repeat(58), 'x'.repeat(100), 'x'.repeat(300)]) {
      const { status, body } = await harness.send(`POST ${configMaps}`, { body: { metadata: { generateName } } })
      expect([status, body.metadata?.name]).toEqual([201, expect.stringMatching(/^x{58}[a-z0-9]{5}$/)])
      expect(body.metadata.generateName).toBe(generateName)
    }
  })
})

describe('texts', () => {
  it('that are null are empty, as `key:` in YAML means it', async () => {
    const data = { empty: null, full: 'x' }
    const { body: made } = await harness.send(`POST ${configMaps}`, { body: { metadata: { name: 'a' }, data } })
    expect(made.data).toEqual({ empty: '', full: 'x' })
    const applied = await harness.send(`PATCH ${configMaps}/b?fieldManager=m`, {
      type: apply,
      body: 'apiVersion: v1\nkind: ConfigMap\ndata:\n  empty:\n',
    })
    expect(applied.body.data).toEqual({ empty: '' })
    const patched = await harness.send(`PATCH ${configMaps}/a`, { type: merge, body: { data: { empty: null } } })
    expect(patched.body.data).toEqual({ full: 'x' })
  })

  it('of a Secret are texts: no other value is written as one', async () => {
    const sent = (stringData: JsonObject) =>
      harness.send(`POST ${secrets}`, { body: { metadata: { name: 'a' }, stringData } })
    const { status, body } = await sent({ port: 5432 })
    expect([status, body.message]).toEqual([400, 'stringData.port: must be a string; quote it in YAML'])
    expect((await sent({ password: null, user: 'u' })).body.data).toEqual({ password: '', user: 'dQ==' })
  })
})

describe('the entries of a ConfigMap', () => {
  const sent = (body: JsonObject) => harness.send(`POST ${configMaps}`, { body: { metadata: { name: 'a' }, ...body } })

  it.each(['a/b', '..', '.', '..data', '', 'a b', 'k'.repeat(254)])(
    'have names as files have: not %j',
    async (name) => {
      expect((await sent({ data: { [name]: 'x' } })).status).toBe(422)
      expect((await sent({ binaryData: { [name]: 'eA==' } })).status).toBe(422)
      const secret = { metadata: { name: 'a' }, stringData: { [name]: 'x' } }
      expect((await harness.send(`POST ${secrets}`, { body: secret })).status).toBe(422)
    },
  )

  it('stand in one of its two maps', async () => {
    const { status, body } = await sent({ data: { a: 'x' }, binaryData: { a: 'eA==' } })
    expect([status, body.message]).toEqual([422, expect.stringContaining('duplicate of key present in data')])
    expect((await sent({ data: { '.a-b_C': 'x' }, binaryData: { a: 'eA==' } })).status).toBe(201)
  })
})

describe('a finalizer that names no domain', () => {
  const metadata = { name: 'f', finalizers: ['hold', 'example.com', 'a/b', 'orphan'] }

  it('is warned of, once, in kinds of users’ own', async () => {
    const { status, headers, body } = await harness.send(`POST ${widgets}`, { body: { metadata } })
    expect([status, headers['warning']]).toEqual([
      201,
      '299 - "metadata.finalizers: \\"hold\\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers", ' +
        '299 - "metadata.finalizers: \\"example.com\\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"',
    ])
    const again = await harness.send(`PUT ${widgets}/f`, { body: { ...body, spec: { color: 'red' } } })
    expect([again.status, again.headers['warning']]).toEqual([200, undefined])
  })

  it('is refused in the kinds of Kubernetes', async () => {
    for (const path of [configMaps, secrets, '/api/v1/namespaces', '/apis/rbac.authorization.k8s.io/v1/clusterroles'])
      expect(await harness.send(`POST ${path}`, { body: { metadata } })).toMatchObject({
        status: 422,
        body: { message: expect.stringContaining('"hold": name is neither a standard finalizer name nor is it fully') },
      })
    const both = { name: 'f', finalizers: ['orphan', 'foregroundDeletion'] }
    expect((await harness.send(`POST ${configMaps}`, { body: { metadata: both } })).status).toBe(422)
  })
})

describe('times of microseconds', () => {
  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000000Z'],
    ['2026-01-01T02:00:00.12+02:00', '2026-01-01T00:00:00.120000Z'],
    ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123456Z'],
    ['2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123456Z'],
  ])('are told as programs in Go read them: %s', async (sent, told) => {
    const lease = await harness.send('POST /apis/coordination.k8s.io/v1/namespaces/default/leases', {
      body: { metadata: { name: 'a' }, spec: { renewTime: sent, acquireTime: sent } },
    })
    expect(lease.body.spec).toEqual({ renewTime: told, acquireTime: told })
    const reporter = { reportingInstance: 'a', action: 'a', reason: 'a', type: 'Normal' }
    for (const [group, reportedBy] of [
      ['/api/v1', 'reportingComponent'],
      ['/apis/events.k8s.io/v1', 'reportingController'],
    ] as const) {
      const times = { eventTime: sent, series: { count: 2, lastObservedTime: sent } }
      const { body } = await harness.send(`POST ${group}/namespaces/default/events?dryRun=All`, {
        body: { metadata: { name: 'a' }, ...reporter, [reportedBy]: 'a', ...times },
      })
      expect([body.eventTime, body.series.lastObservedTime]).toEqual([told, told])
    }
  })
})

describe('a policy', () => {
  const group = '/apis/admissionregistration.k8s.io/v1'
  const policy = (spec: JsonObject) =>
    harness.send(`POST ${group}/validatingadmissionpolicies`, { body: { metadata: { name: 'p' }, spec } })
  const matchConstraints = {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
  }

  it('sees the options that the client has sent', async () => {
    const expression =
      "request.operation == 'DELETE' ? request.options.?propagationPolicy.orValue('') != 'Orphan' : " +
      "request.options.?fieldManager.orValue('') != 'bad' && (!request.dryRun || request.options.dryRun == ['All'])"
    await policy({ matchConstraints, validations: [{ expression }] })
    await harness.send(`POST ${group}/validatingadmissionpolicybindings`, {
      body: { metadata: { name: 'p' }, spec: { policyName: 'p', validationActions: ['Deny'] } },
    })
    const body = { metadata: { name: 'a' } }
    expect((await harness.send(`POST ${configMaps}?fieldManager=bad`, { body })).status).toBe(422)
    expect((await harness.send(`POST ${configMaps}?fieldManager=good&dryRun=All`, { body })).status).toBe(201)
    expect((await harness.send(`POST ${configMaps}`, { body })).status).toBe(201)
    const patched = { type: merge, body: { data: { a: 'b' } } }
    expect((await harness.send(`PATCH ${configMaps}/a?fieldManager=bad`, patched)).status).toBe(422)
    expect((await harness.send(`PATCH ${configMaps}/a?fieldManager=good`, patched)).status).toBe(200)
    expect((await harness.send(`DELETE ${configMaps}/a?propagationPolicy=Orphan`)).status).toBe(422)
    expect((await harness.send(`DELETE ${configMaps}`, { body: { propagationPolicy: 'Orphan' } })).status).toBe(422)
    expect((await harness.send(`DELETE ${configMaps}/a`)).status).toBe(200)
  })

  it('names what it writes beside the record by keys that differ, and are names', async () => {
    const noted = (...keys: readonly string[]) =>
      policy({ matchConstraints, auditAnnotations: keys.map((key) => ({ key, valueExpression: "'x'" })) })
    expect((await noted('a b')).body.message).toContain('spec.auditAnnotations[0].key')
    expect((await noted('a', 'a')).body.message).toContain('spec.auditAnnotations[1].key: Duplicate value: "a"')
    expect((await noted('a', 'b')).status).toBe(201)
  })

  it('has a status, which programs in Go write whether they mean one or not', async () => {
    const policies = `${group}/validatingadmissionpolicies`
    const body = { metadata: { name: 'p' }, spec: { matchConstraints, validations: [{ expression: 'true' }] } }
    const strict = 'fieldValidation=Strict'
    const expressionWarnings = [{ fieldRef: 'spec.validations[0].expression', warning: 'so' }]
    const status = { observedGeneration: 1, typeChecking: { expressionWarnings }, conditions: [] }
    const made = await harness.send(`POST ${policies}?${strict}`, { body: { ...body, status: {} } })
    expect([made.status, made.headers['warning'], made.body.status]).toEqual([201, undefined, undefined])
    const told = await harness.send(`PATCH ${policies}/p/status?${strict}`, { type: merge, body: { status } })
    expect([told.status, told.body.status]).toEqual([200, status])
    const kept = await harness.send(`PATCH ${policies}/p?${strict}`, { type: merge, body: { status: {}, spec: {} } })
    expect([kept.status, kept.body.status]).toEqual([200, status])
  })
})

describe('a definition', () => {
  it('may come with the status that it has in a cluster', async () => {
    const openAPIV3Schema = { type: 'object' }
    const body = {
      metadata: { name: 'gadgets.example.dev' },
      spec: {
        group: 'example.dev',
        scope: 'Namespaced',
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
      status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: [], observedGeneration: 1 },
    }
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const made = await harness.send(`POST ${path}?fieldValidation=Strict`, { body })
    expect([made.status, made.body.status.storedVersions]).toEqual([201, ['v1']])
  })
})

describe('an apply', () => {
  it('that names the uid of what is gone makes nothing in its place', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'gone' } }
    const { status, body: answer } = await harness.send(`PATCH ${configMaps}/a?fieldManager=m`, { type: apply, body })
    expect([status, answer.reason, answer.message]).toEqual([
      409,
      'Conflict',
      expect.stringContaining('the provided object specified uid gone, and no existing object was found'),
    ])
    expect((await harness.send(`GET ${configMaps}/a`)).status).toBe(404)
  })

  it.each([{ kind: 'ConfigMap' }, { apiVersion: 'v1' }, {}])(
    'that does not say what it is is refused: %o',
    async (body) => {
      const { status } = await harness.send(`PATCH ${configMaps}/a?fieldManager=m`, { type: apply, body })
      expect(status).toBe(400)
    },
  )
})

describe('a test for null in a JSON patch', () => {
  const patch = (path: string) =>
    harness.send(`PATCH ${configMaps}/a`, {
      type: jsonPatch,
      body: [
        { op: 'test', path, value: null },
        { op: 'add', path: '/data/new', value: 'x' },
      ],
    })

  it('holds where an object has no such field, as in Kubernetes', async () => {
    await harness.send(`POST ${configMaps}`, { body: { metadata: { name: 'a' }, data: { old: '1' } } })
    expect((await patch('/data/new')).body.data).toEqual({ old: '1', new: 'x' })
    expect((await patch('/data/new')).status).toBe(422)
    expect((await patch('/nowhere/new')).status).toBe(422)
  })
})

describe('options of a delete', () => {
  const misread = [
    { preconditions: { uid: 5 } },
    { preconditions: 'uid' },
    { kind: 'Pod' },
    { gracePeriodSeconds: 'x' },
    { orphanDependents: 'true' },
    { propagationPolicy: 5 },
  ]
  it.each(misread)('that are of another type delete nothing: %o', async (body) => {
    await harness.send(`POST ${widgets}`, { body: widget('w1') })
    expect((await harness.send(`DELETE ${widgets}/w1`, { body })).status).toBe(400)
    expect((await harness.send(`DELETE ${widgets}`, { body })).status).toBe(400)
    expect((await harness.send(`GET ${widgets}/w1`)).status).toBe(200)
  })

  it('say once what becomes of the dependents', async () => {
    await harness.send(`POST ${widgets}`, { body: widget('w1') })
    const body = { propagationPolicy: 'Orphan', orphanDependents: true }
    expect((await harness.send(`DELETE ${widgets}/w1`, { body })).status).toBe(422)
  })

  it('hold for each object of a collection', async () => {
    const { body: one } = await harness.send(`POST ${widgets}`, { body: widget('w1') })
    const asked = (uid: string) => harness.send(`DELETE ${widgets}`, { body: { preconditions: { uid } } })
    expect((await asked('other')).status).toBe(409)
    expect((await harness.send(`GET ${widgets}/w1`)).status).toBe(200)
    expect((await asked(one.metadata.uid)).status).toBe(200)
    expect((await harness.send(`GET ${widgets}/w1`)).status).toBe(404)
  })
})

describe('namespaces', () => {
  it('are not deleted all at once', async () => {
    await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'aaa' } } })
    expect((await harness.send('DELETE /api/v1/namespaces')).status).toBe(405)
    const { body } = await harness.send('GET /api/v1/namespaces/aaa')
    expect(body.metadata.deletionTimestamp).toBeUndefined()
    const { resources } = (await harness.send('GET /api/v1')).body as { resources: { name: string; verbs: string[] }[] }
    expect(resources.find(({ name }) => name === 'namespaces')?.verbs).not.toContain('deletecollection')
  })
})

describe('an empty Accept header', () => {
  it('asks for nothing in particular', async () => {
    expect(await harness.send(`GET ${widgets}`, { accept: '' })).toMatchObject({ status: 200, body: { items: [] } })
  })
})
