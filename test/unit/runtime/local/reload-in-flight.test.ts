import { expect, it } from 'vitest'
import { systemClock } from '../../../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../../../shared/adapters/node/system-random.ts'
import { createJsonLogger } from '../../../../shared/adapters/node/json-logger.ts'
import type { HttpRequest } from '../../../../shared/ports/http-handler.ts'
import { startCoreWithRoles } from '../../../../shared/runtime/local/core-with-roles.ts'
import { openLocalPorts } from '../../../../shared/runtime/local/ports.ts'
import { startReplaceableCore } from '../../../../shared/runtime/local/replaceable-core.ts'

/** Requests that a core before a reload took, and that end behind it. */

const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings'

async function startPlane() {
  const ports = openLocalPorts(':memory:', systemClock)
  const core = await startReplaceableCore({
    load: async () => [],
    start: (controllers, overruns) =>
      startCoreWithRoles({
        ports,
        controllers,
        overruns,
        authenticate: (authorization) =>
          authorization === 'admin'
            ? { name: 'admin', groups: ['system:masters', 'system:authenticated'] }
            : { name: 'mallory', groups: ['system:authenticated'] },
        clock: systemClock,
        random: systemRandom,
        logger: createJsonLogger({ write: () => {}, clock: systemClock, level: 'error' }),
      }),
    introduceAgain: () => ports.introduced.save('[]'),
  })
  const ask = async (who: string, method: string, path: string, body: Promise<string> | string = '') => {
    const headers: Readonly<Record<string, string>> = { authorization: who, 'content-type': 'application/json' }
    const request: HttpRequest = {
      method,
      path,
      query: new URLSearchParams(),
      header: (name) => headers[name],
      fieldsUnder: () => [],
      body: async () => Buffer.from(await body),
      signal: new AbortController().signal,
    }
    const { status, body: answer } = await core.api(request)
    return { status, text: typeof answer === 'string' ? answer : Buffer.from(answer as Uint8Array).toString() }
  }
  return {
    ask,
    core,
    close: async () => {
      await core.stop(0)
      ports.close()
    },
  }
}

const binding = JSON.stringify({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'mallory' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
})

it('a binding that is removed while the reconcilers are loaded again gives no right any more', async () => {
  const { ask, core, close } = await startPlane()
  expect((await ask('admin', 'POST', bindings, binding)).status).toBe(201)
  const configmaps = () => ask('mallory', 'GET', '/api/v1/namespaces/default/configmaps')
  expect((await configmaps()).status).toBe(200)
  // The end of its body is on its way.
  const { promise: body, resolve: sendBody } = Promise.withResolvers<string>()
  const removing = ask('admin', 'DELETE', `${bindings}/mallory`, body)
  await core.replace(0)
  expect((await configmaps()).status).toBe(200)
  sendBody('')
  expect((await removing).status).toBe(200)
  expect((await ask('admin', 'GET', `${bindings}/mallory`)).status).toBe(404)
  expect((await configmaps()).status).toBe(403)
  await close()
})
