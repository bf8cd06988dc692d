/** The client of Kubernetes for Node: objects, an informer, a Lease. Ends with 0 or says what failed. */
import assert from 'node:assert/strict'
import * as k8s from '@kubernetes/client-node'

const namespace = 'node'
const config = new k8s.KubeConfig()
config.loadFromDefault()
const core = config.makeApiClient(k8s.CoreV1Api)
const leases = config.makeApiClient(k8s.CoordinationV1Api)
const objects = k8s.KubernetesObjectApi.makeApiClient(config)

async function eventually(what, check) {
  for (const end = Date.now() + 120_000; Date.now() < end;) {
    if (await check()) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(what)
}

async function main() {
  await core.createNamespace({ body: { metadata: { name: namespace } } })
  const known = new Map()
  const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
    core.listNamespacedConfigMap({ namespace }),
  )
  for (const event of ['add', 'update']) informer.on(event, (map) => known.set(map.metadata.name, map.data?.a))
  informer.on('delete', (map) => known.delete(map.metadata.name))
  await informer.start()
  for (const name of ['a', 'b']) {
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { a: '1' } } })
  }
  await objects.patch(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace }, data: { a: '2' } },
    undefined,
    undefined,
    'node-client',
    true,
    k8s.PatchStrategy.ServerSideApply,
  )
  await core.deleteNamespacedConfigMap({ namespace, name: 'b' })
  await eventually('the informer does not know what is there', () => known.size === 1 && known.get('a') === '2')
  await informer.stop()
  console.log('ok: an informer follows creation, apply and deletion')

  const spec = { holderIdentity: 'node', leaseDurationSeconds: 15, renewTime: new k8s.V1MicroTime() }
  const lease = await leases.createNamespacedLease({ namespace, body: { metadata: { name: 'held' }, spec } })
  const body = { ...lease, spec: { ...lease.spec, renewTime: new k8s.V1MicroTime() } }
  await leases.replaceNamespacedLease({ namespace, name: 'held', body })
  await assert.rejects(leases.replaceNamespacedLease({ namespace, name: 'held', body }), { code: 409 })
  console.log('ok: a Lease is held and renewed')
}

try {
  await main()
} catch (error) {
  console.error(`failed: ${error.code ?? ''} ${error.message} ${error.body ?? ''}`)
  process.exit(1)
}
process.exit(0)
