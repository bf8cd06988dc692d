import { expect, it } from 'vitest'
import { done, type ApiObject, type Context } from '../../../shared/index.ts'
import { withDeletionPolicy } from '../../../shared/reconciler/deletion-policy.ts'
import type { DeletionPolicy } from '../../../shared/reconciler/controller.ts'

const name = 'setpoint.dev/deletion-policy'

it.each<[DeletionPolicy, Readonly<Record<string, string>> | undefined, string]>([
  ['Delete', undefined, 'cleaned up'],
  ['Delete', {}, 'cleaned up'],
  ['Retain', undefined, 'kept: Retained'],
  ['Retain', { [name]: 'Delete' }, 'cleaned up'],
  ['Delete', { [name]: 'Retain' }, 'kept: Retained'],
  ['Delete', { [name]: 'retain' }, 'DeletionPolicyInvalid'],
  ['Delete', { [name]: '' }, 'DeletionPolicyInvalid'],
])('a controller that says %s and an object that says %j: %s', async (policy, annotations, becomes) => {
  let became = ''
  const cleanup = withDeletionPolicy(async () => {
    became = 'cleaned up'
    return done()
  }, policy)
  const ctx = { event: async (_: string, reason: string) => void (became = `kept: ${reason}`) } as unknown as Context
  const object = { metadata: { name: 'a', annotations } } as unknown as ApiObject
  await cleanup(object, ctx).catch((error: unknown) => void (became = (error as { readonly reason: string }).reason))
  expect(became).toBe(becomes)
})
