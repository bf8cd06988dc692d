import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createHarness, type Harness, type Reply } from './harness.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createHarness()
  await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } })
})
afterEach(() => harness.close())

const put = (path: string, body: object) => harness.send(`PUT /api/v1/namespaces/n${path}`, { body: { ...body } })

describe('a namespace', () => {
  it('is held by Kubernetes finalizer, which no ordinary write changes', async () => {
    const { body } = await harness.send('GET /api/v1/namespaces/n')
    expect(body).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } })
    const written = await put('', { metadata: { name: 'n', finalizers: body.metadata.finalizers } })
    expect(written.body).toMatchObject({ metadata: body.metadata, spec: { finalizers: ['kubernetes'] } })
    const patched = await harness.send('PATCH /api/v1/namespaces/n', {
      type: 'application/merge-patch+json',
      body: { spec: { finalizers: [] } },
    })
    expect(patched.body).toMatchObject({ metadata: body.metadata, spec: { finalizers: ['kubernetes'] } })
  })

  const merge = 'application/merge-patch+json'
  const json = 'application/json-patch+json'
  const none = { metadata: { finalizers: null } }
  const ours = 'setpoint.dev/namespace'
  it.each<readonly [string, () => Promise<Reply>]>([
    ['a PUT', () => put('', { metadata: { name: 'n' } })],
    ['a merge patch', () => harness.send('PATCH /api/v1/namespaces/n', { type: merge, body: none })],
    [
      'a JSON patch',
      () =>
        harness.send('PATCH /api/v1/namespaces/n', {
          type: json,
          body: [{ op: 'remove', path: '/metadata/finalizers' }],
        }),
    ],
  ])('keeps it in %s that leaves all finalizers out, while it is being deleted, too', async (_, write) => {
    const metadata = { finalizers: [ours, 'x.dev/y'] }
    await harness.send('PATCH /api/v1/namespaces/n', { type: merge, body: { metadata } })
    const kept = { metadata: { finalizers: [ours] }, spec: { finalizers: ['kubernetes'] } }
    expect((await write()).body).toMatchObject(kept)
    await harness.send('DELETE /api/v1/namespaces/n')
    expect((await write()).body).toMatchObject({ ...kept, status: { phase: 'Terminating' } })
    expect(await harness.send('GET /api/v1/namespaces/n')).toMatchObject({ status: 200 })
  })

  it('takes nothing new while it is being deleted', async () => {
    expect((await harness.send('DELETE /api/v1/namespaces/n')).body).toMatchObject({ status: { phase: 'Terminating' } })
    const refused = await harness.send('POST /api/v1/namespaces/n/configmaps', { body: { metadata: { name: 'c' } } })
    expect(refused).toMatchObject({
      status: 403,
      body: {
        reason: 'Forbidden',
        message:
          'configmaps "c" is forbidden: unable to create new content in namespace n because it is being terminated',
        details: {
          name: 'c',
          kind: 'configmaps',
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: 'namespace n is being terminated',
              field: 'metadata.namespace',
            },
          ],
        },
      },
    })
  })

  it('that is going, or is not there, is the first reason to refuse what is put into it', async () => {
    const admission = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic'
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
    const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'false' }] }
    await harness.send(`POST ${admission}ies`, { body: { metadata: { name: 'p' }, spec } })
    const binding = { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'] } }
    await harness.send(`POST ${admission}ybindings`, { body: binding })
    const send = async (namespace: string, body: JsonObject) => {
      const refused = await harness.send(`POST /api/v1/namespaces/${namespace}/configmaps`, { body })
      return [refused.status, refused.body.details.causes?.[0].reason]
    }
    const denied = { metadata: { name: 'c' } }
    const invalid = { metadata: { name: 'C!' } }
    expect(await send('n', denied)).toEqual([422, undefined])
    await harness.send('DELETE /api/v1/namespaces/n')
    for (const body of [denied, invalid]) {
      expect(await send('none', body)).toEqual([404, undefined])
      expect(await send('n', body)).toEqual([403, 'NamespaceTerminating'])
    }
  })

  it('goes when it is finalized', async () => {
    const { body } = await harness.send('DELETE /api/v1/namespaces/n')
    expect(await put('/finalize', { metadata: { name: 'n' }, spec: { finalizers: ['kubernetes'] } })).toMatchObject({
      status: 200,
      body: { metadata: { resourceVersion: body.metadata.resourceVersion } },
    })
    const stale = { metadata: { name: 'n', resourceVersion: '1' }, spec: {} }
    expect(await put('/finalize', stale)).toMatchObject({ status: 409 })
    expect(await put('/finalize', { metadata: { name: 'n' }, spec: { finalizers: [] } })).toMatchObject({ status: 200 })
    expect(await harness.send('GET /api/v1/namespaces/n')).toMatchObject({ status: 404 })
  })

  it('says so in discovery', async () => {
    expect((await harness.send('GET /api/v1')).body.resources).toContainEqual(
      expect.objectContaining({ name: 'namespaces/finalize', verbs: ['update'] }),
    )
    expect(await harness.send('PUT /api/v1/namespaces/default/configmaps/c/finalize')).toMatchObject({ status: 404 })
  })
})
