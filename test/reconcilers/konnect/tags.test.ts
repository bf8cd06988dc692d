import { expect, it } from 'vitest'
import { tagsFor } from '../../../functions/reconcilers/konnect/core-entities.ts'
import { uidInTags } from '../../../functions/reconcilers/konnect/owner-marks.ts'
import { KonnectConsumer, KonnectRoute, KonnectService, startKonnectEnv } from './konnect-env.ts'

const owner = { uid: 'u1', token: 't1', kind: 'KonnectService', namespace: 'default', name: 'orders' }

it.each(['k8s-uid', 'k8s-kind', 'k8s-namespace', 'k8s-name', 'managed-by'])(
  'a tag of a spec does not begin with %s, which says whose an entity is',
  async (mark) => {
    await using konnectEnv = await startKonnectEnv()
    const { env, konnect } = konnectEnv
    const spec = { controlPlaneRef: { name: 'main' }, tags: ['shop', `${mark}:somebody-else`] }
    const metadata = { name: 'orders' }
    const message = /tags that begin with k8s-uid:, .* are Setpoint's own: they say whose the entity is/
    await expect(env.apply(KonnectService, { metadata, spec: { ...spec, host: 'a.example' } })).rejects.toThrow(message)
    await expect(env.apply(KonnectRoute, { metadata, spec: { ...spec, paths: ['/'] } })).rejects.toThrow(message)
    await expect(env.apply(KonnectConsumer, { metadata, spec })).rejects.toThrow(message)
    await konnectEnv.applyControlPlane()
    await konnectEnv.applyService({ tags: ['shop', `x-${mark}:y`, mark] })
    expect(konnect.state.all('services')).toMatchObject([
      { tags: expect.arrayContaining(['shop', `x-${mark}:y`, mark]) },
    ])
  },
)

it('the tag that says whose an entity is comes before any other of its name', () => {
  const tags = tagsFor(['k8s-uid:somebody-else', 'shop'], owner)
  expect(uidInTags(tags)).toBe('u1')
  expect(tags).toContain('shop')
})
