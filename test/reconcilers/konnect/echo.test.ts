import { expect, it } from 'vitest'
import { konnectReconcilers } from '../../../functions/reconcilers/konnect/reconcilers.ts'
import { KonnectControlPlane } from '../../../functions/reconcilers/konnect/kinds.ts'
import { Secret } from '../../../shared/index.ts'
import { createTestEnv } from '../../../shared/testing/test-env.ts'

it('a server that says the token back, at the end of a long text, tells no part of it', async () => {
  const fetch = async (_: string, { headers }: RequestInit): Promise<Response> => {
    const { authorization } = headers as Record<string, string>
    return Response.json({ title: 'Bad Request', detail: `${'x'.repeat(460)} ${authorization}` }, { status: 400 })
  }
  await using env = await createTestEnv({ reconcilers: konnectReconcilers({ fetch }) })
  await env.apply(Secret, { metadata: { name: 'konnect' }, stringData: { token: 'kpat_correcthorsebatterystaple' } })
  await env.apply(KonnectControlPlane, { metadata: { name: 'main' }, spec: { authRef: { name: 'konnect' } } })
  await env.settle()
  const told = JSON.stringify([await env.get(KonnectControlPlane, 'main'), env.logs])
  expect(told).toContain('400 Bad Request')
  expect(told).not.toContain('kpat')
})
