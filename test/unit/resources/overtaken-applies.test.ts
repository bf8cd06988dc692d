import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemRandom } from '../../../shared/adapters/node/system-random.ts'
import { builtInKinds, namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import { createResources } from '../../../shared/resources/create-resources.ts'
import type { Resources } from '../../../shared/resources/resources.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'
import { openSqlite, type OpenSqlite } from '../../support/sqlite.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

const kind = builtInKinds.find((one) => one.kind === 'ConfigMap') as ServedKind
const at = { namespace: 'default', name: 'a' }
const key = { group: '', kind: 'ConfigMap', ...at }
const config = { metadata: { name: 'a' }, data: { by: 'apply' } }

let opened: OpenSqlite
let resources: Resources
/** Happens once, before the next write of this kind. */
let meanwhile: { before: 'create' | 'replace'; act: () => Promise<unknown> } | undefined

beforeEach(async () => {
  const clock = createVirtualClock()
  opened = openSqlite(':memory:', clock)
  const { store } = opened
  const overtake = async (write: 'create' | 'replace'): Promise<void> => {
    if (meanwhile?.before !== write) return
    const { act } = meanwhile
    meanwhile = undefined
    await act()
  }
  const overtaken: ObjectStore = {
    ...store,
    create: async (stored) => overtake('create').then(() => store.create(stored)),
    replace: async (stored, touched) => overtake('replace').then(() => store.replace(stored, touched)),
  }
  meanwhile = undefined
  resources = createResources({ store: overtaken, clock, random: systemRandom })
  await resources.create(namespaceKind, { metadata: { name: 'default' } }, { manager: 'test' })
})
afterEach(() => opened.close())

const apply = (body: object = config, subresource?: 'status') =>
  resources.patch(
    kind,
    at,
    { type: 'apply', body: { ...body }, force: true },
    { manager: 'm', ...(subresource && { subresource }) },
  )
const make = () => resources.create(kind, { metadata: { ...at }, data: { by: 'another' } }, { manager: 'other' })
const remove = async () => {
  const stored = await opened.store.get(key)
  if (stored !== undefined) await opened.store.remove(stored)
}

describe('an apply', () => {
  // AWS seed 33001093 of the simulator: it was answered that there is nothing.
  it('creates what another removes between its look and its write', async () => {
    const { uid } = (await make()).stored.object.metadata
    meanwhile = { before: 'replace', act: remove }
    const applied = await apply()
    expect(applied.stored.object).toMatchObject({ data: { by: 'apply' } })
    expect(applied.stored.object.metadata.uid).not.toBe(uid)
    expect((await opened.store.get(key))?.object).toMatchObject({ data: { by: 'apply' } })
  })

  it('changes what another creates between its look and its write', async () => {
    meanwhile = { before: 'create', act: make }
    expect((await apply()).stored.object).toMatchObject({ data: { by: 'apply' } })
  })

  it('says that there is nothing where it may create nothing: of a status', async () => {
    await expect(apply(config, 'status')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is told of a namespace that is not there, at once', async () => {
    const away = { namespace: 'away', name: 'a' }
    const given = { type: 'apply', body: config, force: true } as const
    await expect(resources.patch(kind, away, given, { manager: 'm' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
