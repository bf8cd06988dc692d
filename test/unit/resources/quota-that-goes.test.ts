import { expect, it } from 'vitest'
import type { ApiObject } from '../../../shared/model/object.ts'
import { createStoredQuotas } from '../../../shared/resources/stored-quotas.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { createMapStore } from './map-store.ts'

it('a creation goes on where its quota is removed between the look at it and the reservation', async () => {
  const clock = createVirtualClock(1_000_000_000)
  let quota: ReturnType<ReturnType<typeof createMapStore>['put']> | undefined
  const store = createMapStore(async (request) => {
    if (!request.startsWith('replace ResourceQuota') || quota === undefined) return
    const gone = quota
    quota = undefined
    await store.remove(gone)
  })
  const hard = { 'count/configmaps': '5' }
  quota = store.put({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace: 'n', uid: 'q' },
    spec: { hard },
    status: { hard, used: { 'count/configmaps': '0' } },
  } as unknown as ApiObject)
  const kind = { group: '', kind: 'ConfigMap', plural: 'configmaps', namespaced: true } as ServedKind
  const logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => logger } as never
  const quotas = createStoredQuotas({
    store,
    clock,
    logger,
    maxAgeMs: Infinity,
    catalog: { byKind: () => kind },
  })
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace: 'n', creationTimestamp: '2026-01-01T00:00:00Z' },
  }
  await expect(quotas.reserve(kind, object as never, false)).resolves.toBeDefined()
})
