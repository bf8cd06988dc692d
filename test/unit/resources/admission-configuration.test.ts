import { expect, it } from 'vitest'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'
import { createConfigurationReader } from '../../../shared/resources/admission-configuration.ts'

it('others have their turn between two policies or webhooks that are made ready', async () => {
  const object = (kind: string, i: number, rest: object) => ({ object: { kind, metadata: { name: `p${i}` }, ...rest } })
  const stored: Readonly<Record<string, (i: number) => object>> = {
    ValidatingAdmissionPolicy: (i) => object('', i, { spec: { validations: [{ expression: 'true' }] } }),
    ValidatingAdmissionPolicyBinding: (i) => object('', i, { spec: { policyName: `p${i}` } }),
    MutatingWebhookConfiguration: (i) => object('', i, { webhooks: [{ name: `h${i}` }] }),
  }
  const list = async ({ kind }: { readonly kind: string }) => ({
    items: Array.from({ length: kind in stored ? 4 : 0 }, (_, i) => stored[kind]?.(i)),
  })
  let turns = 0
  const clock = { nowMs: () => 0, nextTurn: async () => void turns++ }
  const store = { list } as unknown as ObjectStore
  const reader = createConfigurationReader({ store, clock: clock as never, maxAgeMs: Infinity })
  const { validating, mutatingWebhooks } = await reader.read()
  expect(validating.map(({ name }) => name)).toEqual(['p0', 'p1', 'p2', 'p3'])
  expect(mutatingWebhooks.map(({ spec }) => spec.name)).toEqual(['h0', 'h1', 'h2', 'h3'])
  expect(turns).toBe(6)
})
