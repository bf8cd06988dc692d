import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createHarness, type Harness } from './harness.ts'
import { enveloped, field } from './protobuf-bytes.ts'

let harness: Harness
beforeAll(async () => {
  harness = await createHarness()
})
afterAll(() => harness.close())

const group = '/apis/rbac.authorization.k8s.io/v1'
const paths: Readonly<Record<string, string>> = {
  Role: `${group}/namespaces/default/roles`,
  ClusterRole: `${group}/clusterroles`,
  RoleBinding: `${group}/namespaces/default/rolebindings`,
  ClusterRoleBinding: `${group}/clusterrolebindings`,
  ServiceAccount: '/api/v1/namespaces/default/serviceaccounts',
}
const rule = { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }
const roleRef = { kind: 'ClusterRole', name: 'view' }
const subjects = [{ kind: 'User', name: 'alice' }]

const create = (kind: string, body: JsonObject) => harness.send(`POST ${paths[kind]}`, { body: { kind, ...body } })

describe('roles and bindings', () => {
  it('have names of any signs that a path can hold', async () => {
    for (const kind of ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding']) {
      const body = kind.endsWith('Binding') ? { roleRef, subjects } : { rules: [rule] }
      const { status } = await create(kind, { metadata: { name: 'system:node:Ünit 1' }, ...body })
      expect([kind, status]).toEqual([kind, 201])
      const path = `${paths[kind]}/system%3Anode%3A%C3%9Cnit%201`
      expect((await harness.send(`GET ${path}`)).body.metadata.name).toBe('system:node:Ünit 1')
    }
    const { body } = await create('ClusterRole', { metadata: { name: 'a/b%' } })
    expect(body.details.causes.map(({ message }: { message: string }) => message)).toEqual([
      `Invalid value: "a/b%": may not contain '/'`,
      `Invalid value: "a/b%": may not contain '%'`,
    ])
  })

  const refusals: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ['Role', { rules: [{}] }, ['rules[0].verbs', 'rules[0].apiGroups', 'rules[0].resources']],
    ['Role', { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] }, ['rules[0].nonResourceURLs']],
    ['ClusterRole', { rules: [rule, { ...rule, nonResourceURLs: ['/x'] }] }, ['rules[1].nonResourceURLs']],
    ['ClusterRole', { aggregationRule: {} }, ['aggregationRule.clusterRoleSelectors']],
    [
      'ClusterRole',
      { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: '-', operator: 'In' }] }] } },
      [
        'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values',
        'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].key',
      ],
    ],
    ['RoleBinding', { subjects }, ['roleRef.kind', 'roleRef.name', 'roleRef.apiGroup']],
    ['ClusterRoleBinding', { roleRef: { kind: 'Role', name: 'a/b' } }, ['roleRef.kind', 'roleRef.name']],
    [
      'RoleBinding',
      { roleRef, subjects: [{ kind: 'Robot', name: 'x' }, { kind: 'User' }] },
      ['subjects[0].kind', 'subjects[1].name'],
    ],
    ['RoleBinding', { roleRef, subjects: [{ kind: 'User', name: 'x', apiGroup: 'y' }] }, ['subjects[0].apiGroup']],
    ['RoleBinding', { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'A B' }] }, ['subjects[0].name']],
    ['ClusterRoleBinding', { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'x' }] }, ['subjects[0].namespace']],
  ]
  it.each(refusals)('%s %j is refused', async (kind, body, fields) => {
    const reply = await create(kind, { metadata: { name: 'bad' }, ...body })
    expect(reply.status).toBe(422)
    const found = reply.body.details.causes.map((cause: { field: string }) => cause.field)
    expect(found.toSorted()).toEqual(fields.toSorted())
  })

  it('take null where Go writes it, and keep it', async () => {
    expect((await create('ClusterRole', { metadata: { name: 'empty' }, rules: null })).body.rules).toBe(null)
    const body = { metadata: { name: 'nobody' }, roleRef, subjects: null }
    expect((await create('RoleBinding', body)).status).toBe(201)
  })

  it('say the group of what they name', async () => {
    const body = { metadata: { name: 'b' }, roleRef, subjects: [...subjects, { kind: 'ServiceAccount', name: 'x' }] }
    expect((await create('RoleBinding', body)).body).toMatchObject({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...roleRef },
      subjects: [
        { apiGroup: 'rbac.authorization.k8s.io', ...subjects[0] },
        { kind: 'ServiceAccount', name: 'x' },
      ],
    })
  })

  it('keep what they bind', async () => {
    await create('ClusterRoleBinding', { metadata: { name: 'kept' }, roleRef, subjects })
    const patch = (body: JsonObject) =>
      harness.send(`PATCH ${paths['ClusterRoleBinding']}/kept`, { body, type: 'application/merge-patch+json' })
    expect(await patch({ roleRef: { name: 'edit' } })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'roleRef', message: expect.stringContaining('cannot change roleRef') }] } },
    })
    expect((await patch({ subjects: [] })).status).toBe(200)
  })

  it('are shown in tables', async () => {
    const table = async (kind: string) => {
      const { body } = await harness.send(`GET ${paths[kind]}`, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      })
      return body.columnDefinitions.map(({ name }: { name: string }) => name)
    }
    expect(await table('Role')).toEqual(['Name', 'Created At'])
    expect(await table('RoleBinding')).toEqual(['Name', 'Role', 'Age', 'Users', 'Groups', 'ServiceAccounts'])
    expect(await table('ServiceAccount')).toEqual(['Name', 'Secrets', 'Age'])
  })
})

it('a ServiceAccount holds names of Secrets', async () => {
  const body = { metadata: { name: 'robot' }, imagePullSecrets: [{ name: 'registry' }], secrets: [{ name: 'key' }] }
  expect(await create('ServiceAccount', body)).toMatchObject({ status: 201, body })
  expect((await create('ServiceAccount', { metadata: { name: 'a:b' } })).status).toBe(422)
})

it('a strategic patch replaces what a ServiceAccount pulls images with, as on Kubernetes, and merges its Secrets', async () => {
  const given = { imagePullSecrets: [{ name: 'p' }], secrets: [{ name: 's' }] }
  await create('ServiceAccount', { metadata: { name: 'puller' }, ...given })
  const patched = await harness.send(`PATCH ${paths['ServiceAccount']}/puller`, {
    body: { imagePullSecrets: [{ name: 'q' }], secrets: [{ name: 't' }] },
    type: 'application/strategic-merge-patch+json',
  })
  expect(patched).toMatchObject({
    status: 200,
    body: { imagePullSecrets: [{ name: 'q' }], secrets: [{ name: 's' }, { name: 't' }] },
  })
})

it('kubectl sends them as protobuf', async () => {
  // `kubectl create rolebinding b --clusterrole=view --serviceaccount=default:robot`, kubectl 1.33.
  const subject = [...field(1, 'ServiceAccount'), ...field(2, ''), ...field(3, 'robot'), ...field(4, 'default')]
  const role = [...field(1, 'rbac.authorization.k8s.io'), ...field(2, 'ClusterRole'), ...field(3, 'view')]
  const binding = [...field(1, field(1, 'from-protobuf')), ...field(2, subject), ...field(3, role)]
  const body = enveloped('RoleBinding', binding, 'rbac.authorization.k8s.io/v1')
  const reply = await harness.send(`POST ${paths['RoleBinding']}`, {
    body,
    type: 'application/vnd.kubernetes.protobuf',
  })
  expect(reply).toMatchObject({
    status: 201,
    body: { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }] },
  })
})
