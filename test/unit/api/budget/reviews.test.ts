import { expect, test } from 'vitest'
import { processorMsOf } from '../../../support/processor-time.ts'
import { createHarness } from '../harness.ts'

test('a tenant cannot hold the process by a LocalSubjectAccessReview that repeats a group', async () => {
  const harness = await createHarness()
  const send = async (line: string, body: object, token = 'token') => {
    const answer = await harness.send(line, { body, headers: { authorization: `Bearer ${token}` } } as never)
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body))
    return answer
  }
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
  // What `admin` of a namespace has: roles and rolebindings, and localsubjectaccessreviews.
  await send(`POST ${rbac}/roles`, {
    metadata: { name: 'admin' },
    rules: [
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['localsubjectaccessreviews'], verbs: ['create'] },
    ],
  })
  const subject = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })
  const roleRef = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name })
  await send(`POST ${rbac}/rolebindings`, {
    metadata: { name: 'alice' },
    roleRef: roleRef('admin'),
    subjects: [subject('User', 'alice')],
  })
  await send(`POST ${rbac}/roles`, { metadata: { name: 'empty' }, rules: [] }, 'alice')
  for (let i = 0; i < 300; i++)
    await send(
      `POST ${rbac}/rolebindings`,
      { metadata: { name: `b${i}` }, roleRef: roleRef('empty'), subjects: [subject('Group', 'g')] },
      'alice',
    )
  const groups = Array.from({ length: 80_000 }, () => 'g')
  const review = { user: 'x', groups, resourceAttributes: { namespace: 'default', verb: 'get', resource: 'secrets' } }
  const tookMs = await processorMsOf(() =>
    send('POST /apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews', { spec: review }, 'alice'),
  )
  expect(tookMs).toBeLessThan(400)
  harness.close()
})
