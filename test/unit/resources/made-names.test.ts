import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemRandom } from '../../../shared/adapters/node/system-random.ts'
import type { Random } from '../../../shared/ports/random.ts'
import { keyOf } from '../../../shared/model/object-key.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { builtInKinds, namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import { createResources } from '../../../shared/resources/create-resources.ts'
import { openSqlite, type OpenSqlite } from '../../support/sqlite.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

const clock = createVirtualClock()
let opened: OpenSqlite
beforeEach(() => {
  opened = openSqlite(':memory:', clock)
})
afterEach(() => opened.close())

/** Says the same suffix so often, and others then. */
function repeating(times: number): Random {
  let asked = 0
  return { ...systemRandom, next: () => (asked++ < times * 5 ? 0 : 0.5) }
}

async function create(random: Random): Promise<string> {
  const { create: make } = createResources({ store: opened.store, clock, random })
  const body = { metadata: { generateName: 'a-' } }
  return (await make(namespaceKind, body, { manager: 'test' })).stored.object.metadata.name
}

describe('a name that is made', () => {
  it('is another one if somebody has it', async () => {
    expect(await create(repeating(1))).toBe('a-bbbbb')
    expect(await create(repeating(9))).not.toBe('a-bbbbb')
  })

  it('ends its beginning with a whole character', async () => {
    const roles = builtInKinds.find(({ plural }) => plural === 'clusterroles') as ServedKind
    const { create: make } = createResources({ store: opened.store, clock, random: systemRandom })
    const body = { metadata: { generateName: `${'a'.repeat(57)}😀-` }, rules: [] }
    const { object } = (await make(roles, body, { manager: 'test' })).stored
    expect(object.metadata.name).toMatch(/^a{57}[a-z0-9]{5}$/)
    expect(await opened.store.get(keyOf(object))).toMatchObject({ object: { metadata: { uid: object.metadata.uid } } })
  })

  it('is none in the end where each of them is taken', async () => {
    await create(repeating(1))
    await expect(create(repeating(100))).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
      message: 'namespaces "a-bbbbb" already exists, the server was not able to generate a unique name for the object',
      details: { name: 'a-bbbbb', kind: 'namespaces', retryAfterSeconds: 1 },
    })
  })
})
