import { describe, expect, it } from 'vitest'
import { DamagedObjectError, OperatingError } from '../../../shared/model/errors.ts'
import { defineBuiltInKind } from '../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { refuseIncomplete, removeDamaged } from '../../../shared/resources/damaged.ts'
import type { DeleteOptions } from '../../../shared/resources/resources.ts'
import { createMapStore } from './map-store.ts'

const kind = defineBuiltInKind({ group: 'g.dev', kind: 'K', plural: 'ks', namespaced: true, schema: {} })
const at = { namespace: 'n', name: 'a' }
const remains = { uid: 'u', resourceVersion: '3' }

async function remove(error?: Error, asked: DeleteOptions = {}, of = kind) {
  const removed: StoredObject[] = []
  const base = createMapStore(() => {
    if (error !== undefined) throw error
  })
  const store = {
    ...base,
    remove: async (stored: StoredObject) => {
      removed.push(stored)
      return stored
    },
  }
  const deleted = await removeDamaged(store, of, { at, asked })
  return { deleted, removed }
}

describe('an object that cannot be read', () => {
  const damage = new DamagedObjectError('cannot be read', remains)
  const metadata = { ...at, ...remains, generation: 1, creationTimestamp: '1970-01-01T00:00:00Z' }
  const left = { object: { apiVersion: 'g.dev/v1', kind: 'K', metadata }, engine: {} }

  it('is removed by what is known of it', async () => {
    expect(await remove(damage)).toStrictEqual({ deleted: { stored: left, gone: true }, removed: [left] })
    const { namespace: _, ...inNone } = metadata
    const ofCluster = { ...left, object: { ...left.object, metadata: inNone } }
    expect((await remove(damage, {}, { ...kind, namespaced: false })).removed).toStrictEqual([ofCluster])
  })

  it.each<[DeleteOptions, number]>([
    [{ dryRun: true }, 0],
    [{ dryRun: false }, 1],
    [{ preconditions: { uid: 'u' } }, 1],
  ])('is removed under %j in %d writes', async (asked, writes) => {
    const { deleted, removed } = await remove(damage, asked)
    expect([deleted?.stored, removed.length]).toEqual([left, writes])
  })

  it('stays if it is not the one that is meant', async () => {
    await expect(remove(damage, { preconditions: { uid: 'other' } })).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
    })
  })

  it('is not one that can be read, or of which nobody knows', async () => {
    expect(await remove()).toEqual({ deleted: undefined, removed: [] })
    await expect(remove(new OperatingError('UNAVAILABLE', 'away'))).rejects.toThrow('away')
  })
})

it('a list with objects that cannot be read is not complete', () => {
  const list = { items: [], resourceVersion: '1' }
  expect(() => refuseIncomplete(list)).not.toThrow()
  const damaged = [{ group: 'g.dev', kind: 'K', ...at }]
  expect(() => refuseIncomplete({ ...list, damaged })).toThrow('1 of what is listed cannot be read, among it')
})
