import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { emptyKinds } from '../../../shared/api/empty-kinds.ts'
import { ConfigMap, defineKind, defineReconciler, done, Secret } from '../../../shared/index.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { Grant } from '../../../shared/reconciler/rights.ts'
import { installRoles } from '../../../shared/resources/bootstrap-roles.ts'
import { createWidgetHarness, widget, widgets, type Harness, type Reply } from './harness.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
  await installRoles(harness.services.resources, [
    { name: 'widget', kind: { group: 'example.com' }, rights: new Map() },
  ])
})
afterEach(() => harness.close())

const group = '/apis/rbac.authorization.k8s.io/v1'
const configMaps = '/api/v1/namespaces/default/configmaps'

async function made(line: string, body: JsonObject): Promise<Reply> {
  const reply = await harness.send(line, { body })
  expect([line, reply.status, reply.body.message]).toEqual([line, 201, undefined])
  return reply
}

function bind(role: string, name: string, namespace?: string): Promise<Reply> {
  const place = namespace === undefined ? 'clusterrolebindings' : `namespaces/${namespace}/rolebindings`
  return made(`POST ${group}/${place}`, {
    metadata: { name: `${role}-${name}` },
    roleRef: { kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', name }],
  })
}

const role = (name: string, ...rules: JsonObject[]) => made(`POST ${group}/clusterroles`, { metadata: { name }, rules })

const as = (token: string) => (line: string, body?: JsonObject, type?: string) =>
  harness.send(line, { token, ...(body === undefined ? {} : { body }), ...(type === undefined ? {} : { type }) })
const alice = as('alice')

describe('whoever has no role', () => {
  const refusals: readonly (readonly [string, string])[] = [
    [
      `GET ${configMaps}`,
      'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "default"',
    ],
    [
      `GET ${configMaps}?watch=1`,
      'configmaps is forbidden: User "alice" cannot watch resource "configmaps" in API group "" in the namespace "default"',
    ],
    [
      'GET /api/v1/configmaps',
      'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" at the cluster scope',
    ],
    [
      `PATCH ${widgets}/a/status`,
      'widgets.example.com "a" is forbidden: User "alice" cannot patch resource "widgets/status" in API group "example.com" in the namespace "default"',
    ],
    [
      `DELETE ${widgets}`,
      'widgets.example.com is forbidden: User "alice" cannot deletecollection resource "widgets" in API group "example.com" in the namespace "default"',
    ],
    [
      `GET ${widgets}/a/explain`,
      'widgets.example.com "a" is forbidden: User "alice" cannot get resource "widgets/explain" in API group "example.com" in the namespace "default"',
    ],
    [
      'GET /apis/none.com/v1/things/x',
      'things.none.com "x" is forbidden: User "alice" cannot get resource "things" in API group "none.com" at the cluster scope',
    ],
    ['GET /metrics', 'forbidden: User "alice" cannot get path "/metrics"'],
    ['GET /%6detrics/', 'forbidden: User "alice" cannot get path "/metrics"'],
    ['POST /api', 'forbidden: User "alice" cannot post path "/api"'],
  ]
  it.each(refusals)('%s: 403 %s', async (line, message) => {
    expect(await alice(line)).toMatchObject({ status: 403, body: { reason: 'Forbidden', message, code: 403 } })
  })

  it('may not delete what cannot be read by the right to delete alone', async () => {
    const line = `DELETE ${configMaps}/a?ignoreStoreReadErrorWithClusterBreakingPotential=true`
    await made(`POST ${configMaps}`, { metadata: { name: 'a' } })
    await bind('edit', 'alice', 'default')
    const message = expect.stringContaining(
      'User "alice" cannot unsafe-delete-ignore-read-errors resource "configmaps"',
    )
    expect(await alice(line)).toMatchObject({ status: 403, body: { reason: 'Forbidden', message } })
    expect(await alice(`GET ${configMaps}/a`)).toMatchObject({ status: 200 })
    await made(`POST ${configMaps}`, { metadata: { name: 'b' } })
    expect(await alice(`DELETE ${configMaps}/b`)).toMatchObject({ status: 200 })

    const verbs = ['unsafe-delete-ignore-read-errors']
    await role('unsafe', { apiGroups: [''], resources: ['configmaps'], verbs })
    await bind('unsafe', 'alice', 'default')
    expect(await alice(line)).toMatchObject({ status: 200 })
  })

  it('may find out what is served, and what they may do', async () => {
    for (const path of ['/api', '/apis', '/apis/example.com/v1', '/openapi/v2', '/openapi/v3', '/version', '/livez'])
      expect([path, (await alice(`GET ${path}`)).status]).toEqual([path, 200])
    const { status, body } = await alice('POST /apis/authentication.k8s.io/v1/selfsubjectreviews', {})
    expect([status, body.status.userInfo]).toEqual([
      201,
      { username: 'alice', groups: ['people', 'system:authenticated'] },
    ])
  })
})

describe('a role', () => {
  it('holds from the answer to its binding on, and until the answer to its end', async () => {
    expect((await alice(`GET ${configMaps}`)).status).toBe(403)
    await bind('view', 'alice', 'default')
    expect((await alice(`GET ${configMaps}`)).status).toBe(200)
    expect((await alice('GET /api/v1/namespaces/other/configmaps')).status).toBe(403)
    expect((await alice('GET /api/v1/configmaps')).status).toBe(403)
    expect((await alice(`POST ${configMaps}`, { metadata: { name: 'a' } })).status).toBe(403)
    await harness.send(`DELETE ${group}/namespaces/default/rolebindings/view-alice`)
    expect((await alice(`GET ${configMaps}`)).status).toBe(403)
  })

  it('that reads does not read Secrets; one that edits writes them and no roles; admin does', async () => {
    const secrets = '/api/v1/namespaces/default/secrets'
    await bind('view', 'alice', 'default')
    expect((await alice(`GET ${secrets}`)).status).toBe(403)
    expect((await alice(`GET ${widgets}`)).status).toBe(200)
    await bind('edit', 'alice', 'default')
    expect((await alice(`POST ${secrets}`, { metadata: { name: 's' } })).status).toBe(201)
    expect((await alice(`POST ${widgets}`, widget('w'))).status).toBe(201)
    expect((await alice(`GET ${group}/namespaces/default/roles`)).status).toBe(403)
    await bind('admin', 'alice', 'default')
    expect((await alice(`GET ${group}/namespaces/default/roles`)).status).toBe(200)
    expect((await alice(`GET ${group}/clusterroles`)).status).toBe(403)
  })

  it('that reads lists what a namespace of a cluster has, as kubectl does to get all and to describe the namespace', async () => {
    await bind('view', 'alice', 'default')
    const list = async ({ group: ofCluster, version, plural }: ServedKind): Promise<Reply> => {
      const root = ofCluster === '' ? `/api/${version}` : `/apis/${ofCluster}/${version}`
      return alice(`GET ${root}/namespaces/default/${plural}`)
    }
    for (const kind of emptyKinds.filter(({ namespaced }) => namespaced))
      expect([kind.plural, (await list(kind)).status]).toEqual([kind.plural, 200])
    expect((await alice('GET /api/v1/namespaces/default/limitranges')).body).toMatchObject({ reason: 'NotFound' })
  })

  it('of everything in a namespace reaches no other namespace by way of it', async () => {
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
    await made(`POST ${group}/namespaces/default/roles`, { metadata: { name: 'all' }, rules })
    await made(`POST ${group}/namespaces/default/rolebindings`, {
      metadata: { name: 'all' },
      roleRef: { kind: 'Role', name: 'all' },
      subjects: [{ kind: 'User', name: 'alice' }],
    })
    await made('POST /api/v1/namespaces', { metadata: { name: 'other' } })
    const within = '/api/v1/namespaces/default/namespaces'
    expect((await alice('GET /api/v1/namespaces/default')).status).toBe(200)
    expect((await alice('GET /api/v1/namespaces/other')).status).toBe(403)
    for (const line of [
      `GET ${within}`,
      `GET ${within}/other`,
      `GET ${within}/other/explain`,
      `DELETE ${within}/other`,
    ])
      expect([line, (await alice(line)).status]).toEqual([line, 404])
    expect((await alice(`POST ${within}`, { metadata: { name: 'more' } })).status).toBe(404)
    expect((await alice(`PUT ${within}/other/finalize`, { metadata: { name: 'other' } })).status).toBe(404)
    const { status, body } = await harness.send('GET /api/v1/namespaces/other')
    expect([status, body.metadata.deletionTimestamp]).toEqual([200, undefined])
  })

  it('of names allows a list of one name', async () => {
    await role('one', { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'get'], resourceNames: ['a'] })
    await bind('one', 'alice')
    const list = async (selector: string) =>
      (await alice(`GET ${configMaps}?fieldSelector=${encodeURIComponent(selector)}`)).status
    expect(await list('metadata.name=a')).toBe(200)
    expect(await list('metadata.name=b')).toBe(403)
    expect(await list('metadata.name!=a')).toBe(403)
    expect((await alice(`GET ${configMaps}`)).status).toBe(403)
    expect((await alice(`GET ${configMaps}/a`)).status).toBe(404)
  })

  it('to patch lets nobody create by an apply', async () => {
    await role('patcher', { apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] })
    await bind('patcher', 'alice')
    const apply = (name: string) =>
      alice(
        `PATCH ${configMaps}/${name}?fieldManager=x`,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } },
        'application/apply-patch+yaml',
      )
    expect(await apply('new')).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('cannot create resource "configmaps"') },
    })
    await made(`POST ${configMaps}`, { metadata: { name: 'old' } })
    expect((await apply('old')).status).toBe(200)
  })

  it('to update lets nobody create by a PUT', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
    await role('updater', { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update'] })
    await bind('updater', 'alice')
    expect(await alice(`PUT ${leases}/new`, { metadata: {} })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('cannot create resource "leases"') },
    })
    const { body } = await made(`POST ${leases}`, { metadata: { name: 'old' } })
    expect((await alice(`PUT ${leases}/old`, body)).status).toBe(200)
  })

  it('that gathers has what is labelled for it, at once', async () => {
    await bind('view', 'alice')
    await made(`POST ${group}/clusterroles`, {
      metadata: { name: 'view-secrets', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }],
    })
    expect((await alice('GET /api/v1/secrets')).status).toBe(200)
  })

  it('that gathers is shown with what it gathers, which is nowhere stored and nobody owns', async () => {
    const labels = { gathered: 'true' }
    const one = { apiGroups: ['example.com'], resources: ['widgets'], resourceNames: ['w'], verbs: ['get'] }
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: labels }] }
    const path = `${group}/clusterroles`
    await made(`POST ${path}`, { metadata: { name: 'whole' }, aggregationRule })
    const before = (await harness.send(`GET ${path}/whole`)).body
    expect(before.rules).toEqual([])
    await made(`POST ${path}`, { metadata: { name: 'part', labels }, rules: [one] })
    const { body } = await harness.send(`GET ${path}/whole`)
    expect([body.rules, body.metadata.resourceVersion]).toEqual([[one], before.metadata.resourceVersion])
    expect(JSON.stringify(body.metadata.managedFields)).not.toContain('f:rules')
    const { items } = (await harness.send(`GET ${path}?fieldSelector=metadata.name%3Dwhole`)).body
    expect(items[0].rules).toEqual([one])
    const watch = await harness.watch(`${path}?watch=1&fieldSelector=metadata.name%3Dwhole`)
    const [event] = await watch.take(1)
    expect(event?.object['rules']).toEqual([one])
    watch.leave()
    await harness.send(`DELETE ${path}/part`)
    expect((await harness.send(`GET ${path}/whole`)).body.rules).toEqual([])
  })

  it('that gathers keeps no rules of its own, which nobody would see before it gathers no more', async () => {
    const hidden = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { gathered: 'true' } }] }
    const path = `${group}/clusterroles`
    const type = 'application/merge-patch+json'
    await made(`POST ${path}`, { metadata: { name: 'whole' }, aggregationRule, rules: hidden })
    await harness.send(`PATCH ${path}/whole`, { body: { rules: hidden }, type })
    await bind('whole', 'alice')
    const freed = await harness.send(`PATCH ${path}/whole`, { body: { aggregationRule: null }, type })
    expect([freed.status, freed.body.rules]).toEqual([200, undefined])
    expect((await alice('GET /api/v1/namespaces/default/secrets/s')).status).toBe(403)
  })
})

describe('a watch', () => {
  const watched = `${configMaps}?watch=1&allowWatchBookmarks=true`
  const minutes = async (count: number): Promise<void> => {
    for (let i = 0; i < count * 6; i++) await harness.clock.advance(10_000)
  }

  it('ends within a minute once nobody allows it any more', async () => {
    await bind('view', 'alice', 'default')
    const watch = await harness.watch(watched, { token: 'alice' })
    await made(`POST ${configMaps}`, { metadata: { name: 'a' } })
    expect(await watch.take(1)).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'a' } } }])
    const rest = watch.rest()
    await minutes(2)
    await made(`POST ${configMaps}`, { metadata: { name: 'b' } })
    await harness.send(`DELETE ${group}/namespaces/default/rolebindings/view-alice`)
    await minutes(2)
    // Its last word was a sign, which readers of lines would take for a line.
    expect((await rest).filter(({ type }) => type !== 'BOOKMARK')).toMatchObject([
      { object: { metadata: { name: 'b' } } },
      { type: 'ERROR', object: { code: 410 } },
    ])
  })

  it('that has much to tell ends as well', async () => {
    await bind('view', 'alice', 'default')
    const watch = await harness.watch(watched, { token: 'alice' })
    const rest = watch.rest()
    await harness.send(`DELETE ${group}/namespaces/default/rolebindings/view-alice`)
    for (let i = 0; i < 10; i++) {
      await made(`POST ${configMaps}`, { metadata: { name: `m-${i}` } })
      await harness.clock.advance(9_000)
    }
    const told = (await rest).filter(({ type }) => type === 'ADDED')
    expect([told.length > 5, told.length < 9]).toEqual([true, true])
  })

  it('goes on while it is allowed by whatever', async () => {
    await bind('view', 'alice', 'default')
    const watch = await harness.watch(watched, { token: 'alice' })
    await bind('edit', 'alice')
    await harness.send(`DELETE ${group}/namespaces/default/rolebindings/view-alice`)
    const next = watch.take(3)
    await minutes(3)
    await made(`POST ${configMaps}`, { metadata: { name: 'a' } })
    expect((await next).map(({ type }) => type)).toEqual(['BOOKMARK', 'BOOKMARK', 'BOOKMARK'])
    expect(await watch.take(1)).toMatchObject([{ type: 'ADDED' }])
    watch.leave()
  })
})

describe('nobody grants what they do not have', () => {
  const pods = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }
  beforeEach(async () => {
    await role('granter', {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['*'],
      verbs: ['create', 'patch', 'update', 'get'],
    })
    await bind('granter', 'alice')
  })
  const grant = (name: string, ...rules: JsonObject[]) =>
    alice(`POST ${group}/clusterroles`, { metadata: { name }, rules })
  const bindTo = (name: string) =>
    alice(`POST ${group}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name: 'alice' }],
    })

  it('by a role', async () => {
    expect(await grant('reader', pods)).toMatchObject({
      status: 403,
      body: {
        message:
          'clusterroles.rbac.authorization.k8s.io "reader" is forbidden: user "alice" (groups=["people" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
          '{APIGroups:[""], Resources:["configmaps"], Verbs:["get" "list"]}',
      },
    })
    await role('holder', { ...pods, verbs: ['*'] })
    await bind('holder', 'alice')
    expect((await grant('reader', pods)).status).toBe(201)
    const widen = { rules: [{ ...pods, resources: ['secrets'] }] }
    expect((await alice(`PATCH ${group}/clusterroles/reader`, widen, 'application/merge-patch+json')).status).toBe(403)
    const rename = { metadata: { finalizers: ['example.com/x'] } }
    expect((await alice(`PATCH ${group}/clusterroles/granter`, rename, 'application/merge-patch+json')).status).toBe(
      200,
    )
  })

  it('by a binding, of a role that is there', async () => {
    expect((await bindTo('cluster-admin')).status).toBe(403)
    expect(await bindTo('missing')).toMatchObject({
      status: 404,
      body: { message: 'clusterroles.rbac.authorization.k8s.io "missing" not found' },
    })
    expect((await bindTo('granter')).status).toBe(201)
    await role('binder', {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles'],
      verbs: ['bind'],
      resourceNames: ['view'],
    })
    await bind('binder', 'alice')
    expect((await bindTo('view')).status).toBe(201)
    expect((await bindTo('edit')).status).toBe(403)
  })

  it('by a role that gathers, or with the verb escalate', async () => {
    const gathering = { metadata: { name: 'all' }, aggregationRule: { clusterRoleSelectors: [{}] } }
    expect(await alice(`POST ${group}/clusterroles`, gathering)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('must have cluster-admin privileges to use the aggregationRule') },
    })
    await role('escalator', {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles'],
      verbs: ['escalate'],
    })
    await bind('escalator', 'alice')
    expect((await grant('reader', pods)).status).toBe(201)
    expect((await alice(`POST ${group}/clusterroles`, gathering)).status).toBe(201)
    expect((await bindTo('all')).status).toBe(403)
  })
})

describe('nobody learns by a policy what they may not read', () => {
  const admission = '/apis/admissionregistration.k8s.io/v1'
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
  const base = { matchConstraints: { resourceRules }, validations: [{ expression: 'true' }] }
  const secretKind = { apiVersion: 'v1', kind: 'Secret' }
  const ref = { name: 's', namespace: 'default', parameterNotFoundAction: 'Allow' }
  const merge = 'application/merge-patch+json'
  beforeEach(async () => {
    await role('policies', { apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['*'] })
    await bind('policies', 'alice')
  })
  const policy = (name: string, spec: JsonObject, send = alice) =>
    send(`POST ${admission}/validatingadmissionpolicies`, { metadata: { name }, spec: { ...base, ...spec } })
  const bound = (name: string, paramRef?: JsonObject, policyName = 'p') =>
    alice(`POST ${admission}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName, validationActions: ['Deny'], ...(paramRef && { paramRef }) },
    })

  it('of a kind whose objects they may not read', async () => {
    expect(await policy('p', { paramKind: secretKind })).toMatchObject({
      status: 422,
      body: {
        message:
          'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: user "alice" does not have "get" permission on all objects of the referenced paramKind (secrets in API group "")',
      },
    })
    expect((await policy('p', {})).status).toBe(201)
    const path = `${admission}/validatingadmissionpolicies/p`
    expect((await alice(`PATCH ${path}`, { spec: { paramKind: secretKind } }, merge)).status).toBe(422)
    await harness.send(`PATCH ${path}`, { body: { spec: { paramKind: secretKind } }, type: merge })
    expect((await alice(`PATCH ${path}`, { spec: { failurePolicy: 'Ignore' } }, merge)).status).toBe(200)
    await role('one', { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['s'] })
    await bind('one', 'alice')
    expect((await policy('q', { paramKind: secretKind })).status).toBe(422)
    await role('all', { apiGroups: [''], resources: ['secrets'], verbs: ['get'] })
    await bind('all', 'alice', 'default')
    expect((await policy('q', { paramKind: secretKind })).status).toBe(422)
    await bind('all', 'alice')
    expect((await policy('q', { paramKind: secretKind })).status).toBe(201)
  })

  it('of a kind that nobody knows, unless they may read all of its group', async () => {
    const paramKind = { apiVersion: 'nobody.dev/v1', kind: 'Thing' }
    expect((await policy('p', { paramKind })).status).toBe(422)
    await role('group', { apiGroups: ['nobody.dev'], resources: ['*'], verbs: ['get'] })
    await bind('group', 'alice')
    expect((await policy('p', { paramKind })).status).toBe(201)
  })

  it('by a binding to an object that they may not read', async () => {
    await policy('p', { paramKind: secretKind }, (line, body) => harness.send(line, { body: body ?? {} }))
    expect((await bound('none')).status).toBe(201)
    expect(await bound('b', ref)).toMatchObject({
      status: 422,
      body: {
        message: expect.stringContaining(
          'spec.paramRef: Forbidden: user "alice" does not have "get" permission on the object referenced by paramRef (secrets in API group "")',
        ),
      },
    })
    await role('one', { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['s'] })
    await bind('one', 'alice', 'default')
    expect((await bound('b', ref)).status).toBe(201)
    expect((await bound('c', { ...ref, name: 't' })).status).toBe(422)
    const { namespace: _, ...ofAny } = ref
    expect((await bound('c', ofAny)).status).toBe(422)
    expect((await bound('c', { selector: {}, namespace: 'default', parameterNotFoundAction: 'Allow' })).status).toBe(
      422,
    )
    expect((await bound('c', ref, 'missing')).status).toBe(422)
    const path = `${admission}/validatingadmissionpolicybindings/b`
    expect((await alice(`PATCH ${path}`, { metadata: { labels: { a: 'b' } } }, merge)).status).toBe(200)
    expect((await alice(`PATCH ${path}`, { spec: { paramRef: { name: 't' } } }, merge)).status).toBe(422)
  })

  it('by another policy for the same parameters', async () => {
    for (const [name, paramKind] of Object.entries({ p: { apiVersion: 'v1', kind: 'ConfigMap' }, q: secretKind }))
      await policy(name, { paramKind }, (line, body) => harness.send(line, { body: body ?? {} }))
    await role('maps', { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] })
    await bind('maps', 'alice')
    expect((await bound('b', ref)).status).toBe(201)
    const path = `${admission}/validatingadmissionpolicybindings/b`
    expect((await alice(`PATCH ${path}`, { spec: { policyName: 'q' } }, merge)).status).toBe(422)
  })

  it('by parameters that are selected, unless they may list them', async () => {
    await policy('p', { paramKind: secretKind }, (line, body) => harness.send(line, { body: body ?? {} }))
    const selected = { selector: {}, namespace: 'default', parameterNotFoundAction: 'Allow' }
    await role('getter', { apiGroups: [''], resources: ['secrets'], verbs: ['get'] })
    await bind('getter', 'alice')
    expect((await bound('b', selected)).status).toBe(422)
    await role('lister', { apiGroups: [''], resources: ['secrets'], verbs: ['list'] })
    await bind('lister', 'alice')
    expect((await bound('b', selected)).status).toBe(201)
  })

  it('of other kinds is nothing asked, though their fields have the same names; nor is anything gathered', async () => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    await made('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Thing', plural: 'things' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    })
    await role('things', { apiGroups: ['example.com'], resources: ['things'], verbs: ['*'] })
    await bind('things', 'alice')
    const like = { spec: { paramKind: secretKind, paramRef: ref }, aggregationRule: { clusterRoleSelectors: [] } }
    const things = '/apis/example.com/v1/namespaces/default/things'
    expect((await alice(`POST ${things}`, { metadata: { name: 't' }, ...like })).status).toBe(201)
    const { body } = await alice(`GET ${things}/t`)
    expect(body).toMatchObject(like)
    expect(body).not.toHaveProperty('rules')
  })

  it('that changes things, either', async () => {
    const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "test", path: "/data"}]' } }]
    const { validations: _, ...matching } = base
    const spec = { ...matching, mutations, reinvocationPolicy: 'Never', paramKind: secretKind }
    const send = (token: string) =>
      as(token)(`POST ${admission}/mutatingadmissionpolicies`, { metadata: { name: 'p' }, spec })
    const refusal = { status: 422, body: { message: expect.stringContaining('does not have "get" permission') } }
    expect(await send('alice')).toMatchObject(refusal)
    expect((await send('token')).status).toBe(201)
    const binding = { metadata: { name: 'b' }, spec: { policyName: 'p', paramRef: ref } }
    expect(await alice(`POST ${admission}/mutatingadmissionpolicybindings`, binding)).toMatchObject(refusal)
  })

  it('nor creates one by an apply, who may only patch', async () => {
    await role('patcher', { apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['patch'] })
    await bind('patcher', 'bob')
    const apply = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'p' },
      spec: base,
    }
    const line = `PATCH ${admission}/validatingadmissionpolicies/p?fieldManager=x`
    expect((await as('bob')(line, apply, 'application/apply-patch+yaml')).status).toBe(403)
  })
})

describe('reviews', () => {
  const ask = async (token: string, spec: JsonObject) =>
    (await as(token)('POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec })).body.status

  it('tell the sender what they may do, and why', async () => {
    const list = { resourceAttributes: { verb: 'list', resource: 'configmaps', namespace: 'default' } }
    expect(await ask('alice', list)).toEqual({ allowed: false })
    await bind('view', 'alice', 'default')
    expect(await ask('alice', list)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "view-alice/default" of ClusterRole "view" to User "alice"',
    })
    expect(await ask('alice', { resourceAttributes: { verb: '*', resource: '*', group: '*' } })).toEqual({
      allowed: false,
    })
    expect(await ask('alice', { resourceAttributes: { verb: 'get', resource: 'unknown' } })).toEqual({ allowed: false })
    expect(await ask('alice', { nonResourceAttributes: { verb: 'get', path: '/apis' } })).toMatchObject({
      allowed: true,
    })
    expect(await ask('token', { resourceAttributes: { verb: 'get', resource: 'unknown' } })).toEqual({ allowed: true })
  })

  it('list the rules of the sender in a namespace', async () => {
    await role('names', { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['a'] })
    await bind('names', 'alice', 'default')
    await bind('gone', 'alice', 'default')
    const { status } = (
      await alice('POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } })
    ).body
    expect(status).toMatchObject({
      incomplete: true,
      evaluationError: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
      resourceRules: expect.arrayContaining([
        { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['a'] },
      ]),
      nonResourceRules: expect.arrayContaining([expect.objectContaining({ verbs: ['get'] })]),
    })
  })

  it('about others are for those who may ask', async () => {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    const spec = { user: 'bob', groups: ['people'], resourceAttributes: { verb: 'get', resource: 'secrets' } }
    expect((await alice(`POST ${path}`, { spec })).status).toBe(403)
    await bind('system:auth-delegator', 'alice')
    expect((await alice(`POST ${path}`, { spec })).body.status).toEqual({ allowed: false })
    await bind('cluster-admin', 'bob')
    expect((await alice(`POST ${path}`, { spec })).body.status).toMatchObject({ allowed: true })
    expect(await alice(`POST ${path}`, { spec: { resourceAttributes: {} } })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'spec.user' }] } },
    })
  })

  it('in a namespace are about that namespace', async () => {
    const path = '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews'
    const spec = (namespace: string) => ({
      user: 'bob',
      resourceAttributes: { verb: 'get', resource: 'secrets', namespace },
    })
    expect((await harness.send(`POST ${path}`, { body: { spec: spec('default') } })).body.status).toEqual({
      allowed: false,
    })
    expect((await harness.send(`POST ${path}`, { body: { spec: spec('other') } })).status).toBe(422)
  })
})

describe('a request in the name of somebody else', () => {
  const whoami = 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews'
  const ask = async (headers: Record<string, string>, token = 'token') => {
    const { status, body } = await harness.send(whoami, { token, headers, body: {} })
    return status === 201 ? body.status.userInfo : [status, body.message]
  }

  it('has the rights of that one and no others', async () => {
    await bind('view', 'bob', 'default')
    const get = (path: string, user: string) => harness.send(`GET ${path}`, { headers: { 'impersonate-user': user } })
    expect((await get(configMaps, 'bob')).status).toBe(200)
    expect((await get('/api/v1/namespaces/default/secrets', 'bob')).status).toBe(403)
    expect((await get('/metrics', 'bob')).status).toBe(403)
    expect((await get(configMaps, 'nobody')).status).toBe(403)
  })

  it('is of a user with groups, uid and extra', async () => {
    expect(
      await ask({
        'impersonate-user': 'bob',
        'impersonate-group': 'a, b\nc',
        'impersonate-uid': '7',
        'impersonate-extra-example.com%2fscopes': 'x\ny',
      }),
    ).toEqual({
      username: 'bob',
      groups: ['a, b', 'c', 'system:authenticated'],
      uid: '7',
      extra: { 'example.com/scopes': ['x', 'y'] },
    })
  })

  it('is of a ServiceAccount with its groups', async () => {
    expect(await ask({ 'impersonate-user': 'system:serviceaccount:a:robot' })).toEqual({
      username: 'system:serviceaccount:a:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
    })
    expect(await ask({ 'impersonate-user': 'system:anonymous' })).toEqual([
      403,
      expect.stringContaining('User "system:anonymous" cannot create resource "selfsubjectreviews"'),
    ])
  })

  it('names whom it is for, and in no way that nobody knows', async () => {
    const refused: readonly Record<string, string>[] = [
      { 'impersonate-group': 'a' },
      { 'impersonate-uid': '7' },
      { 'impersonate-extra-a': 'b' },
      { 'impersonate-user': 'a\nb' },
      { 'impersonate-user': '', 'impersonate-group': 'a' },
      { 'impersonate-user': 'a', 'impersonate-colour': 'red' },
      { 'impersonate-user': 'a', 'impersonate-extra-': 'red' },
    ]
    for (const headers of refused)
      expect([headers, await ask(headers)]).toMatchObject([headers, [400, expect.any(String)]])
  })

  it('is allowed for each part of it', async () => {
    const users = (resourceNames: string[]) => ({
      apiGroups: [''],
      resources: ['users'],
      verbs: ['impersonate'],
      resourceNames,
    })
    const bob = { 'impersonate-user': 'bob' }
    expect(await ask(bob, 'alice')).toEqual([
      403,
      'users "bob" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
    ])
    await role('as-bob', users(['bob']))
    await bind('as-bob', 'alice')
    expect(await ask(bob, 'alice')).toMatchObject({ username: 'bob' })
    expect(await ask({ 'impersonate-user': 'carol' }, 'alice')).toMatchObject([403, expect.any(String)])
    const parts: readonly (readonly [Record<string, string>, string])[] = [
      [{ 'impersonate-group': 'system:masters' }, 'groups "system:masters"'],
      [{ 'impersonate-uid': '7' }, 'uids.authentication.k8s.io "7"'],
      [{ 'impersonate-extra-scopes': 'all' }, 'userextras.authentication.k8s.io "all"'],
    ]
    for (const [headers, subject] of parts)
      expect(await ask({ ...bob, ...headers }, 'alice')).toMatchObject([403, expect.stringContaining(subject)])
    const extras = {
      apiGroups: ['authentication.k8s.io'],
      resources: ['userextras/scopes', 'uids'],
      verbs: ['impersonate'],
    }
    await role('extras', extras)
    await bind('extras', 'alice')
    expect(await ask({ ...bob, 'impersonate-uid': '7', 'impersonate-extra-scopes': 'all' }, 'alice')).toMatchObject({
      uid: '7',
    })
    expect(await ask({ ...bob, 'impersonate-extra-other': 'all' }, 'alice')).toMatchObject([403, expect.any(String)])
    const robot = { 'impersonate-user': 'system:serviceaccount:default:robot' }
    expect(await ask(robot, 'alice')).toMatchObject([403, expect.stringContaining('serviceaccounts "robot"')])
    await bind('edit', 'alice', 'default')
    expect(await ask(robot, 'alice')).toMatchObject({ username: 'system:serviceaccount:default:robot' })
  })
})

it('bootstrap roles are completed at each start, and keep what people added', async () => {
  const path = `GET ${group}/clusterroles/system:aggregate-to-view`
  const extra = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
  await harness.send(`PATCH ${group}/clusterroles/system:aggregate-to-view`, {
    body: { rules: [extra] },
    type: 'application/merge-patch+json',
  })
  await installRoles(harness.services.resources, [])
  const { rules } = (await harness.send(path)).body
  expect(rules).toContainEqual(extra)
  await bind('view', 'alice')
  expect((await alice('GET /api/v1/configmaps')).status).toBe(200)
  const { resourceVersion } = (await harness.send(path)).body.metadata
  await installRoles(harness.services.resources, [])
  expect((await harness.send(path)).body.metadata.resourceVersion).toBe(resourceVersion)
})

it('a role for each controller shows what its runs may do, and no more after a start with less', async () => {
  const Gadget = defineKind({ group: 'example.com', version: 'v1', kind: 'Gadget', spec: z.object({}) })
  const { resources } = harness.services
  const start = (...grants: readonly Grant[]) =>
    installRoles(resources, [
      defineReconciler(Gadget, { name: 'gadget', owns: [ConfigMap], grants, reconcile: async () => done() }),
    ])
  const rules = async () =>
    (await harness.send(`GET ${group}/clusterroles/system:controller:gadget`)).body.rules as readonly JsonObject[]
  const all = ['create', 'delete', 'patch', 'update', 'get', 'list', 'watch']
  const own = [
    { apiGroups: ['example.com'], resources: ['gadgets'], verbs: all },
    { apiGroups: ['example.com'], resources: ['gadgets/status'], verbs: ['get', 'patch', 'update'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: all },
    { apiGroups: [''], resources: ['configmaps/status'], verbs: ['get', 'patch', 'update'] },
  ]
  await start({ kind: Secret, access: 'read' })
  expect(await rules()).toEqual(
    expect.arrayContaining([...own, { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] }]),
  )
  await start()
  expect(await rules()).toEqual(expect.arrayContaining(own))
  expect(JSON.stringify(await rules())).not.toContain('secrets')
})
