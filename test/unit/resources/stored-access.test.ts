import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { Checkpoint } from '../../../shared/ports/checkpoint.ts'
import type { ListPage, ObjectStore } from '../../../shared/ports/object-store.ts'
import { createStoredAccess, type StoredAccess } from '../../../shared/resources/stored-access.ts'
import { expectCode } from '../../support/expect-code.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

function binding(resourceVersion: number, role = 'view', kind = 'ClusterRoleBinding'): StoredObject {
  const object = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name: 'b', resourceVersion: String(resourceVersion) },
    roleRef: { kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', name: 'alice' }],
  }
  return { object: object as unknown as ApiObject, engine: {} }
}

/** Bindings only; writes give back what they are given, lists what is set. */
function createFake() {
  const fake = {
    items: [] as readonly StoredObject[],
    lists: 0,
    /** What a list waits for. */
    gate: Promise.resolve(),
    failure: undefined as Error | undefined,
  }
  const write = async (stored: StoredObject): Promise<StoredObject> => {
    if (fake.failure !== undefined) throw fake.failure
    return stored
  }
  const store = {
    list: async ({ kind }: { readonly kind: string }): Promise<ListPage> => {
      const items = kind === 'ClusterRoleBinding' ? fake.items : []
      fake.lists++
      await fake.gate
      if (fake.failure !== undefined) throw fake.failure
      return { items, resourceVersion: '1', more: false }
    },
    create: write,
    replace: write,
    remove: write,
  } as unknown as ObjectStore
  return { fake, store }
}

function open(maxAgeMs = Infinity) {
  const { fake, store } = createFake()
  const clock = createVirtualClock()
  const access = createStoredAccess({ store, clock, maxAgeMs })
  return { fake, clock, access, store: access.follow(store) }
}

async function roles(access: StoredAccess): Promise<readonly string[]> {
  const book = await access.read()
  return [...book.bindingsOf({ name: 'alice', groups: [] }, '')].map(({ roleRef }) => roleRef.name)
}

describe('an object of another kind in the group of roles', () => {
  it('grants nothing, whatever it says: anybody who defines kinds may make one', async () => {
    const { access, store } = open()
    expect(await roles(access)).toEqual([])
    await store.create(binding(1, 'cluster-admin', 'Grab'))
    await store.create(binding(2, 'cluster-admin', 'AnyBinding'))
    expect(await roles(access)).toEqual([])
    const book = await access.read()
    book.note(binding(3, 'cluster-admin', 'Grab').object)
    expect(await roles(access)).toEqual([])
  })
})

describe('roles and bindings in memory', () => {
  it('are read once, and follow what is written', async () => {
    const { fake, access, store } = open()
    fake.items = [binding(1)]
    expect(await roles(access)).toEqual(['view'])
    await store.replace(binding(2, 'edit'), ['spec'])
    expect(await roles(access)).toEqual(['edit'])
    await store.remove(binding(3, 'edit'))
    expect(await roles(access)).toEqual([])
    await store.create(binding(4, 'admin'))
    expect([await roles(access), fake.lists]).toEqual([['admin'], 4])
  })

  it('take a write that is made while they are read, whatever the list says', async () => {
    for (const isGone of [false, true]) {
      const { fake, access, store } = open()
      fake.items = [binding(1)]
      const gate = Promise.withResolvers<void>()
      fake.gate = gate.promise
      const reading = roles(access)
      await (isGone ? store.remove(binding(2)) : store.replace(binding(2, 'edit'), ['spec']))
      gate.resolve()
      expect(await reading).toEqual(isGone ? [] : ['edit'])
    }
  })

  it('are not set back by an older answer that comes later', async () => {
    const { access, store } = open()
    await roles(access)
    await store.replace(binding(5, 'edit'), ['spec'])
    await store.replace(binding(4, 'view'), ['spec'])
    expect(await roles(access)).toEqual(['edit'])
  })

  it('are read again after a write of which nobody knows whether it was made', async () => {
    const { fake, access, store } = open()
    await roles(access)
    fake.failure = new OperatingError('WRITE_UNKNOWN', 'lost')
    await expect(store.create(binding(1))).rejects.toThrow('lost')
    fake.failure = undefined
    fake.items = [binding(1)]
    expect(await roles(access)).toEqual(['view'])
  })

  it('are not read again after a write that was refused, or of another kind', async () => {
    const { fake, access, store } = open()
    await roles(access)
    fake.failure = new OperatingError('VERSION_CONFLICT', 'no')
    await expect(store.create(binding(1))).rejects.toThrow('no')
    fake.failure = undefined
    const other = binding(2)
    await store.create({ ...other, object: { ...other.object, apiVersion: 'v1', kind: 'ConfigMap' } })
    expect([await roles(access), fake.lists]).toEqual([[], 4])
  })

  it('that cannot be read are read again when somebody asks', async () => {
    const { fake, access } = open()
    fake.failure = new OperatingError('UNAVAILABLE', 'down')
    await expect(roles(access)).rejects.toThrow('down')
    fake.failure = undefined
    fake.items = [binding(1)]
    expect(await roles(access)).toEqual(['view'])
  })

  it('are read again when they may be too old', async () => {
    const { fake, clock, access } = open(10_000)
    await roles(access)
    fake.items = [binding(1)]
    await clock.advance(10_000)
    expect(await roles(access)).toEqual([])
    await clock.advance(1)
    expect(await roles(access)).toEqual(['view'])
  })

  it('are read again after so many removals that the list of them would grow', async () => {
    const { fake, access, store } = open()
    await roles(access)
    await store.create(binding(1))
    const remove = ({ object, engine }: StoredObject, i: number) =>
      store.remove({ object: { ...object, metadata: { ...object.metadata, name: `b${i}` } }, engine })
    for (let i = 0; i < 10_000; i++) await remove(binding(i + 2), i)
    await roles(access)
    expect(fake.lists).toBe(4)
    await remove(binding(10_002), 10_000)
    await roles(access)
    expect(fake.lists).toBe(8)
  })
})

describe('roles and bindings that several processes write', () => {
  function openTwo() {
    const { fake, store } = createFake()
    const clock = createVirtualClock()
    let saved: string | undefined
    let texts = 0
    let loads = 0
    const saving = { failure: undefined as Error | undefined }
    const checkpoint: Checkpoint = {
      load: async () => {
        loads++
        return saved
      },
      save: async (value) => {
        if (saving.failure !== undefined) throw saving.failure
        saved = value
      },
    }
    const process = () => {
      const version = { checkpoint, newText: () => `v${++texts}` }
      const access = createStoredAccess({ store, clock, maxAgeMs: 60_000, version })
      return { access, store: access.follow(store) }
    }
    return { fake, clock, saving, loads: () => loads, one: process(), other: process() }
  }

  it('hold in each from the answer on, and are read again only then', async () => {
    const { fake, one, other, loads } = openTwo()
    for (let i = 0; i < 3; i++) expect(await roles(other.access)).toEqual([])
    expect([fake.lists, loads()]).toEqual([4, 3])
    fake.items = [binding(1)]
    await one.store.create(binding(1))
    for (let i = 0; i < 3; i++) expect(await roles(other.access)).toEqual(['view'])
    expect(fake.lists).toBe(8)
    fake.items = []
    await one.store.remove(binding(2))
    expect(await roles(other.access)).toEqual([])
  })

  it('are read again after a write whose answer was lost, and after a minute in any case', async () => {
    const { fake, clock, one, other } = openTwo()
    await roles(other.access)
    fake.failure = new OperatingError('WRITE_UNKNOWN', 'lost')
    await expect(one.store.create(binding(1))).rejects.toThrow('lost')
    fake.failure = undefined
    fake.items = [binding(1)]
    expect(await roles(other.access)).toEqual(['view'])
    fake.items = []
    await clock.advance(60_001)
    expect(await roles(other.access)).toEqual([])
  })

  it('have no answer that says they hold where nobody could be told', async () => {
    const { fake, saving, one } = openTwo()
    saving.failure = new OperatingError('UNAVAILABLE', 'down')
    await expectCode(one.store.create(binding(1)), 'WRITE_UNKNOWN')
    fake.failure = new OperatingError('UNAVAILABLE', 'away')
    await expectCode(one.store.create(binding(1)), 'WRITE_UNKNOWN')
    fake.failure = new OperatingError('VERSION_CONFLICT', 'no')
    await expect(one.store.create(binding(1))).rejects.toThrow('no')
  })

  it('that are read while another process writes do not stay', async () => {
    const { fake, one, other } = openTwo()
    const gate = Promise.withResolvers<void>()
    fake.gate = gate.promise
    const early = roles(other.access)
    await expect.poll(() => fake.lists).toBe(4)
    fake.items = [binding(1)]
    await one.store.create(binding(1))
    const late = roles(other.access)
    gate.resolve()
    expect(await early).toEqual([])
    expect(await late).toEqual(['view'])
    expect(await roles(other.access)).toEqual(['view'])
  })
})
