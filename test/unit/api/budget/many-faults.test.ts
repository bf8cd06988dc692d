import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import { createHarness } from '../harness.ts'
import { request } from '../sent-request.ts'
import { heldMs } from './held.ts'

/** A body with very many faults has a short answer, at once. */

const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
const adm = '/apis/admissionregistration.k8s.io/v1'
const many = (count: number, one: Json): Json[] => Array.from({ length: count }, () => one)
const rows: Readonly<Record<string, Row>> = {
  role: { line: `POST ${rbac}/roles`, body: { metadata: { name: 'r' }, rules: many(100_000, {}) } },
  binding: {
    line: `POST ${rbac}/rolebindings`,
    body: { metadata: { name: 'r' }, roleRef: { kind: 'Role', name: 'x' }, subjects: many(100_000, {}) },
  },
  clusterrole: {
    line: `POST /apis/rbac.authorization.k8s.io/v1/clusterroles`,
    body: {
      metadata: { name: 'r' },
      aggregationRule: { clusterRoleSelectors: [{ matchExpressions: many(100_000, {}) }] },
    },
  },
  policy: {
    line: `POST ${adm}/validatingadmissionpolicies`,
    body: {
      metadata: { name: 'r' },
      spec: { matchConstraints: { resourceRules: many(25_000, {}) }, validations: [{ expression: 'true' }] },
    },
  },
  policybinding: {
    line: `POST ${adm}/validatingadmissionpolicybindings`,
    body: {
      metadata: { name: 'r' },
      spec: { policyName: 'x', validationActions: ['Deny'], matchResources: { resourceRules: many(100_000, {}) } },
    },
  },
  webhook: {
    line: `POST ${adm}/validatingwebhookconfigurations`,
    body: {
      metadata: { name: 'r' },
      webhooks: [
        {
          name: 'a.b.c',
          clientConfig: { url: 'https://a' },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          rules: many(100_000, {}),
        },
      ],
    },
  },
  secret: {
    line: `POST /api/v1/namespaces/default/secrets`,
    body: {
      metadata: { name: 'r' },
      data: Object.fromEntries(Array.from({ length: 20000 }, (_, i) => [`a b${i}`, 'QQ=='])),
    },
  },
  delete: {
    line: `DELETE /api/v1/namespaces/default/configmaps/x`,
    body: { dryRun: many(250_000, 'a') },
  },
  both: {
    line: `POST /api/v1/namespaces/default/configmaps`,
    body: {
      metadata: { name: 'r' },
      data: Object.fromEntries(Array.from({ length: 12000 }, (_, i) => [`a${i}`, 'QQ=='])),
      binaryData: Object.fromEntries(Array.from({ length: 12000 }, (_, i) => [`a${i}`, 'QQ=='])),
    },
  },
  finalizers: {
    line: `POST /api/v1/namespaces/default/configmaps`,
    body: { metadata: { name: 'r', finalizers: Array.from({ length: 30000 }, (_, i) => `a${i}`) } },
  },
  crd: definition({ names: { shortNames: many(100_000, '') } }),
  crdfields: definition({ version: { selectableFields: many(12_000, { jsonPath: '.a' }) } }),
  crdstored: definition({
    version: {
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { a: { type: 'object', required: many(3, 'a'), allOf: many(40_000, { type: 'string' }) } },
        },
      },
    },
  }),
}

/** A definition is sound but for what is given. */
function definition({ names = {}, version = {} }: Partial<Record<'names' | 'version', JsonObject>>): Row {
  const schema = { openAPIV3Schema: { type: 'object' } }
  return {
    line: `POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions`,
    body: {
      metadata: { name: 'as.b.c' },
      spec: {
        group: 'b.c',
        scope: 'Namespaced',
        names: { plural: 'as', kind: 'A', ...names },
        versions: [{ name: 'v1', served: true, storage: true, schema, ...version }],
      },
    },
  }
}

interface Row {
  readonly line: string
  readonly body: JsonObject
}

test.each(Object.entries(rows))('a body with many faults: %s', async (_name, { line, body }) => {
  const harness = await createHarness()
  const answer = await harness.api(request(line, { body }))
  const ms = await heldMs({ line, sent: { body }, status: answer.status }, harness)
  harness.close()
  expect(String(answer.body).length).toBeLessThan(200_000)
  expect(ms).toBeLessThan(100)
})

test('a role that is refused has a short answer, and holds the process for no tenth of a second', async () => {
  const h = await createHarness()
  const group = 'rbac.authorization.k8s.io'
  await h.send(`POST ${rbac}/roles`, {
    body: { metadata: { name: 'admin' }, rules: [{ apiGroups: [group], resources: ['roles'], verbs: ['create'] }] },
  })
  await h.send(`POST ${rbac}/rolebindings`, {
    body: {
      metadata: { name: 'alice' },
      roleRef: { apiGroup: group, kind: 'Role', name: 'admin' },
      subjects: [{ apiGroup: group, kind: 'User', name: 'alice' }],
    },
  })
  const resources = Array.from({ length: 100 }, (_, i) => `r${i}`)
  const body = { metadata: { name: 'long' }, rules: [{ apiGroups: ['"'.repeat(170_000)], resources, verbs: ['get'] }] }
  const sent = { body, token: 'alice' }
  const answer = await h.api(request(`POST ${rbac}/roles`, sent))
  const ms = await heldMs({ line: `POST ${rbac}/roles`, sent, status: 403 }, h)
  expect(String(answer.body).length).toBeLessThan(1_000_000)
  expect(ms).toBeLessThan(100)
  h.close()
})
