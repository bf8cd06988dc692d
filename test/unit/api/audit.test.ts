import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { auditScopes, isAudited, type Audit } from '../../../shared/ports/audit.ts'
import { installRoles } from '../../../shared/resources/bootstrap-roles.ts'
import { createHarness, type Harness } from './harness.ts'

let harness: Harness
const records: JsonObject[] = []
const keep: Audit = {
  isRecorded: () => true,
  record: (record) => void records.push(JSON.parse(record.line()) as JsonObject),
}
beforeEach(async () => {
  harness = await createHarness({ audit: keep })
  await installRoles(harness.services.resources, [])
  records.length = 0
})
afterEach(() => harness.close())

const secrets = '/api/v1/namespaces/default/secrets'
const people = ['people', 'system:authenticated']

/** Without what differs from run to run. */
function told(): readonly JsonObject[] {
  return records.splice(0).map(({ time, latencyMs, agent, ...record }) => {
    expect([typeof time, typeof latencyMs, agent]).toEqual(['string', 'number', 'kubectl/v1.32.0 (linux/amd64)'])
    return record
  })
}

describe('which requests are recorded', () => {
  it.each([
    ['GET', [false, false, true]],
    ['HEAD', [false, false, true]],
    ['OPTIONS', [false, false, true]],
    ['POST', [false, true, true]],
    ['PUT', [false, true, true]],
    ['PATCH', [false, true, true]],
    ['DELETE', [false, true, true]],
    ['BREW', [false, true, true]],
  ])('is a %s in the scopes off, writes and on: %j', (method, expected) => {
    expect(auditScopes.map((scope) => isAudited(scope, { method, path: '/' }))).toEqual(expected)
  })

  it('is asked ahead of the answer; without a record an answer has no id', async () => {
    const asked: string[] = []
    const isRecorded: Audit['isRecorded'] = ({ method, path }) => {
      asked.push(`${method} ${path}`)
      return method === 'POST'
    }
    const own = await createHarness({ audit: { ...keep, isRecorded }, newAuditId: () => 'made' })
    for (const heard of [asked, records]) heard.length = 0
    const read = await own.send('GET /api/v1/namespaces/default/configmaps?limit=1')
    expect([read.status, read.headers['audit-id']]).toEqual([200, undefined])
    const failed = await own.send('GET /api/v1/namespaces/default/configmaps/none')
    expect([failed.status, failed.headers['audit-id']]).toEqual([404, undefined])
    const written = await own.send('POST /api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'm' } } })
    expect([written.status, written.headers['audit-id']]).toEqual([201, 'made'])
    expect(records.map(({ verb }) => verb)).toEqual(['create'])
    const path = '/api/v1/namespaces/default/configmaps'
    expect(asked).toEqual([`GET ${path}`, `GET ${path}/none`, `POST ${path}`])
    own.close()
  })
})

describe('the id of a record', () => {
  it('is in the answer, and the one that the client has sent', async () => {
    const own = await createHarness({ audit: keep, newAuditId: () => 'made' })
    for (const [sent, id] of [
      ['mine-1', 'mine-1'],
      [undefined, 'made'],
      ['a b', 'made'],
      ['a"b', 'made'],
      ['x'.repeat(65), 'made'],
    ] as const) {
      records.length = 0
      const headers = sent === undefined ? {} : { 'audit-id': sent }
      for (const path of [`${secrets}/none`, '/version']) {
        const reply = await own.send(`GET ${path}`, { headers })
        expect(reply.headers['audit-id']).toBe(id)
      }
      expect(records.map(({ auditID }) => auditID)).toEqual([id, id])
    }
    own.close()
    expect((await harness.send('GET /version')).headers).not.toHaveProperty('audit-id')
  })
})

describe('a record of a request', () => {
  it('says who did what to which object, and which fields changed', async () => {
    const user = { name: 'tester', groups: ['system:masters'] }
    const object = { resource: 'secrets', namespace: 'default' }
    await harness.send(`POST ${secrets}`, {
      body: { metadata: { generateName: 's-' }, stringData: { key: 'hush-hush' } },
    })
    const [created] = told()
    expect(created).toEqual({
      user,
      verb: 'create',
      ...object,
      name: expect.stringMatching(/^s-\w{5}$/),
      decision: 'allow',
      code: 201,
    })
    const path = `${secrets}/${String(created?.['name'])}`
    await harness.send(`PATCH ${path}`, {
      body: { metadata: { labels: { a: 'b' } }, data: { key: 'bmV3LW5ldw==', other: 'b3RoZXI=' } },
      type: 'application/merge-patch+json',
    })
    await harness.send(`GET ${path}?secret=query`)
    await harness.send(`DELETE ${path}`)
    const all = told()
    const name = created?.['name']
    expect(all).toEqual([
      {
        user,
        verb: 'patch',
        ...object,
        name,
        decision: 'allow',
        changed: ['metadata.labels', 'data.key', 'data.other'],
        code: 200,
      },
      { user, verb: 'get', ...object, name, decision: 'allow', code: 200 },
      { user, verb: 'delete', ...object, name, decision: 'allow', code: 200 },
    ])
    expect(JSON.stringify([created, ...all])).not.toMatch(/hush|bmV3|b3Ro|aHVz|query/)
  })

  it('says which fields somebody changed who may not do everything', async () => {
    await harness.send('POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      body: {
        metadata: { name: 'alice' },
        roleRef: { kind: 'ClusterRole', name: 'edit' },
        subjects: [{ kind: 'User', name: 'alice' }],
      },
    })
    const path = '/api/v1/namespaces/default/configmaps'
    await harness.send(`POST ${path}`, { body: { metadata: { name: 'm' } } })
    records.length = 0
    await harness.send(`PATCH ${path}/m`, {
      body: { data: { key: 'a' } },
      type: 'application/merge-patch+json',
      token: 'alice',
    })
    expect(told()).toMatchObject([{ user: { name: 'alice' }, verb: 'patch', changed: ['data'], code: 200 }])
  })

  it('says what was refused, and why something was allowed', async () => {
    const send = (line: string, headers = {}) => harness.send(line, { token: 'alice', headers })
    await send(`GET ${secrets}`)
    await send('GET /metrics')
    await send('GET /apis')
    await send('GET /api', { 'impersonate-user': 'bob' })
    const user = { name: 'alice', groups: people }
    expect(told()).toEqual([
      { user, verb: 'list', resource: 'secrets', namespace: 'default', decision: 'deny', code: 403 },
      { user, verb: 'get', path: '/metrics', decision: 'deny', code: 403 },
      {
        user,
        verb: 'get',
        path: '/apis',
        decision: 'allow',
        reason:
          'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
        code: 200,
      },
      { user, verb: 'get', path: '/api', decision: 'deny', code: 403 },
    ])
  })

  it('names both of whom one speaks for the other', async () => {
    await harness.send('GET /apis', { headers: { 'impersonate-user': 'bob' } })
    expect(told()).toMatchObject([
      { user: { name: 'tester' }, as: { name: 'bob', groups: ['system:authenticated'] }, decision: 'allow', code: 200 },
    ])
  })

  it('is made for whoever nobody knows, and for what fails', async () => {
    await harness.send(`GET ${secrets}`, { token: 'wrong-token' })
    await harness.send('BREW /api')
    await harness.send('GET /apis/none/v1/things')
    await harness.send('GET /readyz')
    const all = told()
    expect(all).toEqual([
      { verb: 'get', path: secrets, decision: 'unknown', code: 401 },
      expect.objectContaining({ verb: 'brew', path: '/api', code: 405 }),
      expect.objectContaining({ verb: 'list', group: 'none', resource: 'things', decision: 'allow', code: 404 }),
    ])
    expect(JSON.stringify(all)).not.toContain('wrong-token')
  })
})

describe('what admission says of a request', () => {
  const root = '/apis/admissionregistration.k8s.io/v1'
  const maps = '/api/v1/namespaces/default/configmaps'
  const bind = async (spec: JsonObject, ...validationActions: string[]): Promise<void> => {
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['*'] }]
    const policy = { metadata: { name: 'p' }, spec: { matchConstraints: { resourceRules }, ...spec } }
    const binding = { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions } }
    for (const [plural, body] of [
      ['validatingadmissionpolicies', policy],
      ['validatingadmissionpolicybindings', binding],
    ] as const)
      expect(await harness.send(`POST ${root}/${plural}`, { body })).toMatchObject({ status: 201 })
    records.length = 0
  }

  it('is in its record: annotations, and what is to be audited and not refused', async () => {
    const note = {
      key: 'names',
      valueExpression: 'object.metadata.?name.orValue("none") + " by " + request.userInfo.username',
    }
    const validations = [{ expression: 'true' }, { expression: 'false', message: 'mind' }]
    await bind({ validations, auditAnnotations: [note, { key: 'nothing', valueExpression: 'null' }] }, 'Audit')
    expect(await harness.send(`POST ${maps}`, { body: { metadata: { name: 'm' } } })).toMatchObject({ status: 201 })
    const failure = { message: 'mind', policy: 'p', binding: 'b', expressionIndex: 1, validationActions: ['Audit'] }
    expect(told()[0]?.['annotations']).toEqual({
      'p/names': 'm by tester',
      'validation.policy.admission.k8s.io/validation_failure': JSON.stringify([failure]),
    })
    await harness.send(`DELETE ${maps}/m`)
    expect(Object.keys(told()[0]?.['annotations'] ?? {})).toContain(
      'validation.policy.admission.k8s.io/validation_failure',
    )
  })

  it('is not in it where a Secret is written, and is cut where it is long', async () => {
    const long = {
      key: 'long',
      valueExpression:
        '[1,2,3,4,5,6,7,8].map(i, "0123456789".replace("0", "abcdefghijklmnopqrstuvwxyz".replace("a", "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"))).join()',
    }
    await bind({ auditAnnotations: [long] }, 'Audit')
    await harness.send(`POST ${secrets}`, { body: { metadata: { name: 's' }, stringData: { key: 'hush-hush' } } })
    expect(told()[0]).not.toHaveProperty('annotations')
    await harness.send(`POST ${maps}`, { body: { metadata: { name: 'm' } } })
    expect(String((told()[0]?.['annotations'] as JsonObject | undefined)?.['p/long'])).toHaveLength(1_000)
  })

  it('may depend on what the one who asks may do', async () => {
    await bind(
      {
        validations: [
          {
            expression: 'authorizer.group("").resource("secrets").namespace("default").check("delete").allowed()',
            message: 'only who may delete Secrets',
          },
        ],
      },
      'Deny',
    )
    const role = { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }] }
    const binding = {
      metadata: { name: 'r' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' },
      subjects: [{ kind: 'User', name: 'alice' }],
    }
    await harness.send('POST /apis/rbac.authorization.k8s.io/v1/clusterroles', { body: role })
    await harness.send('POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { body: binding })
    const body = { metadata: { name: 'm' } }
    expect(await harness.send(`POST ${maps}`, { body, token: 'alice' })).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('only who may delete Secrets') as unknown },
    })
    expect(await harness.send(`POST ${maps}`, { body })).toMatchObject({ status: 201 })
  })
})
