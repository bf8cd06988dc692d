import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packTexts, unpackTexts } from '../../../../shared/adapters/aws/dynamodb/dynamodb-packing.ts'

const applied = JSON.stringify({
  apiVersion: 'konnect.setpoint.dev/v1alpha1',
  kind: 'KonnectService',
  metadata: { annotations: {}, name: 'orders', namespace: 'default' },
  spec: { controlPlaneRef: { name: 'shop' }, host: 'orders.example', port: 8080, retries: 5, tags: ['team-a', 'prod'] },
})
/** As kubectl applies it, and as its run leaves it. */
const doc = JSON.stringify({
  apiVersion: 'konnect.setpoint.dev/v1alpha1',
  kind: 'KonnectService',
  metadata: {
    name: 'orders',
    namespace: 'default',
    uid: '5f0d9c3e-2b1a-4c7d-9e8f-0a1b2c3d4e5f',
    resourceVersion: '1795412345678901',
    generation: 3,
    creationTimestamp: '2026-11-22T10:00:00Z',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `${applied}\n` },
    finalizers: ['setpoint.dev/konnect-service'],
  },
  spec: { controlPlaneRef: { name: 'shop' }, host: 'orders.example', port: 8080, retries: 5, tags: ['team-a', 'prod'] },
  status: {
    id: 'a7b0c2d4-1111-4222-8333-1234567890ab',
    observedGeneration: 3,
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Synced',
        message: 'the service is as it is declared',
        lastTransitionTime: '2026-11-22T10:00:02Z',
        observedGeneration: 3,
      },
    ],
  },
})
const engine = JSON.stringify({ change: { verb: 'changed', atMs: 1_795_412_345_678, by: 'kubectl', fields: ['spec'] } })

describe('the texts of an item', () => {
  it.each([
    ['short', { doc: '{"kind":"Ship"}', engine: '{"netMs":5}' }],
    ['short and at rest', { doc: '{"kind":"Ship"}', engine: '' }],
    ['long', { doc, engine }],
    ['long and at rest', { doc, engine: '' }],
    ['not ASCII', { doc: JSON.stringify({ text: 'Grüße, 世界 🚢\n'.repeat(50) }), engine }],
  ])('that are %s are read as they were written', (_, texts) => {
    expect(unpackTexts(packTexts(texts))).toEqual(texts)
  })

  it('are read as they were written, whatever they are', () => {
    const json = fc.json({ depthSize: 'large' }).filter((text) => !text.includes('\n'))
    fc.assert(
      fc.property(json, fc.oneof(fc.constant(''), json), (a, b) => {
        const texts = { doc: a, engine: b }
        expect(unpackTexts(packTexts(texts))).toEqual(texts)
      }),
    )
  })

  it('are read from the stream, too, where bytes are in base 64', () => {
    const { packed } = packTexts({ doc, engine })
    const B = Buffer.from(packed?.B ?? []).toString('base64')
    expect(unpackTexts({ packed: { B } as never })).toEqual({ doc, engine })
  })

  it('that are short stay readable', () => {
    expect(packTexts({ doc: '{}', engine: '' })).toEqual({ doc: { S: '{}' }, engine: undefined, packed: undefined })
  })

  it('of an object as kubectl applies it leave room in one unit of a write for the rest of its item', () => {
    expect(doc.length + engine.length).toBeGreaterThan(1_100)
    expect(packTexts({ doc, engine }).packed?.B?.length).toBeLessThan(400)
  })

  it('that an earlier version packed can be read: the dictionary is for ever', () => {
    const before = [
      'tZXLToQwFIb3PgVhTSf0gsAzuDGOO5lFaQ9CZCgpjXHDu5tSBgEFceGugV4+Dv93eijDacQwoSy6j5OlQt+E8S99f7eK/JtqGhDm',
      '9Ev0H9y0M+j3SsDPIigt7V/d1yEqQpkKCojkmCMmYolSSAoUcpwTQSWDqNhQZvahaYhXAtEdgTBGhDzjfxZot5JLu5bV/KNrrszH',
      'jRuvxMeaN/AEhXs47daVqnUrStWZ2QEn+ODXtnZ0rdL2XRImYZD5GoyuwJJFQeYb/mqHL5lvgF8Rdwu0kpnNW9YMF+C29GPZUDdG',
      'a94DVuizrFlsu7GFnqJ3Q/aDAXjkveFa2gHWIjhUO1Er6c6cesiQUx7noSCSIYwxRowQghJKKfpKIM83JKeH+83a9/NwyS6ajinB',
      'G0vjVZ3HO68ydiBB1FwPk7eb0iL4ZKsp0f7S958=',
    ].join('')
    expect(unpackTexts({ packed: { B: before } as never })).toEqual({ doc, engine })
  })
})
