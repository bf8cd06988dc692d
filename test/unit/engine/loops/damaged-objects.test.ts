import { expect, it } from 'vitest'
import { ConfigMap, defineReconciler, done, reference } from '../../../../shared/index.ts'
import { DamagedObjectError } from '../../../../shared/model/errors.ts'
import type { ObjectKey } from '../../../../shared/model/object-key.ts'
import { createTestEnv, type TestEnv } from '../../../../shared/testing/test-env.ts'
import { Widget } from '../../../acceptance/support/primary.ts'

/** Of an object that cannot be read: its turns, and what they may hold up. */

const runs: string[] = []
const widgets = defineReconciler(Widget, {
  resync: '10h',
  watches: [reference(ConfigMap, ({ metadata }) => (metadata.name === 'w0' ? { name: 'settings' } : undefined))],
  reconcile: async ({ metadata }) => {
    runs.push(metadata.name)
    return done()
  },
})

const many = 200

async function start(): Promise<TestEnv> {
  const env = await createTestEnv({ reconcilers: [widgets], tickMs: 60_000 })
  for (let i = 0; i < many; i++) await env.apply(Widget, { metadata: { name: `w${i}` }, spec: {} })
  await env.apply(ConfigMap, { metadata: { name: 'settings' }, data: { a: '1' } })
  await env.advance('11h')
  return env
}

/** From now on w0 cannot be read. */
function damage(env: TestEnv): void {
  const error = new DamagedObjectError('w0 is damaged', { uid: 'u', resourceVersion: '1' })
  const isW0 = ([key]: readonly unknown[]): boolean =>
    (key as ObjectKey).kind === 'Widget' && (key as ObjectKey).name === 'w0'
  env.faults.always('store.get', { kind: 'error', error }, isW0)
}

async function countAfterRestart(env: TestEnv): Promise<number> {
  runs.length = 0
  await env.crash()
  await env.advance('3m')
  return runs.length
}

it('a damaged object makes no storm of resyncs at the next start', async () => {
  await using whole = await start()
  await whole.advance('12h')
  expect(await countAfterRestart(whole)).toBeLessThan(10)
  await using env = await start()
  damage(env)
  await env.advance('12h')
  expect(await countAfterRestart(env)).toBeLessThan(10)
})

it('a damaged object has no change told again that was dealt with', async () => {
  for (const isDamaged of [false, true]) {
    await using env = await start()
    if (isDamaged) damage(env)
    await env.apply(ConfigMap, { metadata: { name: 'settings' }, data: { a: '2' } })
    await env.advance('1m')
    for (let i = 1; i < many; i++) await env.apply(Widget, { metadata: { name: `w${i}` }, spec: { size: 2 } })
    await env.advance('10m')
    expect(await countAfterRestart(env), `damaged: ${isDamaged}`).toBeLessThan(10)
  }
})

it('a turn of a damaged object is over, and the log says so once', async () => {
  await using env = await start()
  damage(env)
  await env.apply(ConfigMap, { metadata: { name: 'settings' }, data: { a: '2' } })
  await env.advance('1h')
  const told = env.logs.filter(({ message }) => message.startsWith('turn '))
  expect(told).toMatchObject([{ message: 'turn dropped: its object is damaged' }])
})

it('a child whose owner is damaged stays, and holds up no other', async () => {
  await using env = await createTestEnv({ reconcilers: [widgets], tickMs: 60_000 })
  for (const name of ['w0', 'w1']) {
    const { metadata } = await env.apply(Widget, { metadata: { name }, spec: {} })
    const owner = { apiVersion: 'test.setpoint.dev/v1', kind: 'Widget', name, uid: metadata.uid }
    await env.apply(ConfigMap, { metadata: { name: `of-${name}` } })
    await env.patch(ConfigMap, `of-${name}`, { metadata: { ownerReferences: [owner] } })
  }
  await env.settle()
  damage(env)
  await env.patch(ConfigMap, 'of-w0', { metadata: { finalizers: ['example.com/others'] } })
  await env.delete(Widget, 'w1')
  await env.advance('25h')
  expect((await env.list(ConfigMap)).map(({ metadata }) => metadata.name)).toEqual(['of-w0'])
})

it('an owner that waits for a damaged child goes soon after that was taken away by force', async () => {
  await using env = await createTestEnv({ reconcilers: [widgets], tickMs: 60_000 })
  const { metadata } = await env.apply(Widget, { metadata: { name: 'w1' }, spec: {} })
  const owner = { apiVersion: 'test.setpoint.dev/v1', kind: 'Widget', name: 'w1', uid: metadata.uid }
  await env.apply(ConfigMap, { metadata: { name: 'child' } })
  const child = await env.patch(ConfigMap, 'child', {
    metadata: { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] },
  })
  await env.settle()
  const { uid, resourceVersion } = child.metadata
  const isChild = ([key]: readonly unknown[]): boolean => (key as ObjectKey).name === 'child'
  const error = new DamagedObjectError('child is damaged', { uid, resourceVersion })
  env.faults.always('store.get', { kind: 'error', error }, isChild)
  await env.delete(Widget, 'w1', { propagation: 'Foreground' })
  await env.advance('2m')
  expect(await env.get(Widget, 'w1')).toBeDefined()
  await env.delete(ConfigMap, 'child', { ignoreDamage: true })
  env.faults.clear()
  await env.advance('6m')
  expect(await env.get(Widget, 'w1')).toBeUndefined()
})
