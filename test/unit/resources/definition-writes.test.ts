import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'
import { tellDefinitionWrites } from '../../../shared/resources/definition-writes.ts'
import { expectCode } from '../../support/expect-code.ts'
import { openSqlite, type OpenSqlite } from '../../support/sqlite.ts'
import { storedWidget } from '../../support/stored-object.ts'

let opened: OpenSqlite
let told = 0
let store: ObjectStore
beforeEach(() => {
  opened = openSqlite(':memory:')
  told = 0
  store = tellDefinitionWrites(opened.store, () => told++)
})
afterEach(() => opened.close())

function definition(): StoredObject {
  const stored = storedWidget('widgets.example.com', {})
  return {
    ...stored,
    object: { ...stored.object, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  }
}

describe('writes of definitions', () => {
  it('are told, each of them, once they can be read', async () => {
    const created = await store.create(definition())
    expect(told).toBe(1)
    const replaced = await store.replace({ ...created, engine: { wakeAtMs: 1 } }, ['engine'])
    expect(told).toBe(2)
    await store.remove(replaced)
    expect(told).toBe(3)
  })

  it('are told when nobody knows what became of them', async () => {
    const failing = { ...opened.store, create: () => Promise.reject(new OperatingError('WRITE_UNKNOWN', 'who knows')) }
    await expectCode(tellDefinitionWrites(failing, () => told++).create(definition()), 'WRITE_UNKNOWN')
    expect(told).toBe(1)
  })

  it('are the only writes told', async () => {
    await store.create(storedWidget('w'))
    expect(told).toBe(0)
  })
})
