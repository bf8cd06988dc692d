import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemRandom } from '../../../shared/adapters/node/system-random.ts'
import { defineBuiltInKind, type ServedKind } from '../../../shared/model/served-kind.ts'
import { namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import { createResources } from '../../../shared/resources/create-resources.ts'
import type { PermitWrite, Resources } from '../../../shared/resources/resources.ts'
import { openSqlite, type OpenSqlite } from '../../support/sqlite.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

let opened: OpenSqlite
let resources: Resources
beforeEach(async () => {
  const clock = createVirtualClock()
  opened = openSqlite(':memory:', clock)
  resources = createResources({ store: opened.store, clock, random: systemRandom })
  await resources.create(namespaceKind, { metadata: { name: 'default' } }, { manager: 'test' })
})
afterEach(() => opened.close())

const at = { namespace: 'default', name: 'a' }
const schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
} as const
const plain = defineBuiltInKind({ group: 'g.dev', kind: 'K', plural: 'ks', namespaced: true, schema })
const hooked: ServedKind = { ...plain, hooks: { validate: () => {} } }

describe.each([
  { name: 'without hooks', kind: plain },
  { name: 'with hooks', kind: hooked },
])('of a kind $name', ({ kind }) => {
  const body = (size: number) => ({ metadata: { name: 'a' }, spec: { size } })
  const apply = (size: number, permit?: PermitWrite) =>
    resources.patch(
      kind,
      at,
      { type: 'apply', body: body(size), force: true },
      { manager: 'm', ...(permit && { permit }) },
    )

  it.each([
    {
      write: 'a creation',
      before: false,
      act: (permit: PermitWrite) => resources.create(kind, { metadata: { ...at } }, { manager: 'm', permit }),
    },
    { write: 'an apply of what is absent', before: false, act: (permit: PermitWrite) => apply(1, permit) },
    { write: 'an apply of what is there', before: true, act: (permit: PermitWrite) => apply(2, permit) },
  ])('$write is stored only if it is permitted', async ({ before, act }) => {
    if (before) await apply(1)
    const asked: boolean[] = []
    const refuse: PermitWrite = (_, live) => {
      asked.push(live !== undefined)
      throw new Error('not permitted')
    }
    await expect(act(refuse)).rejects.toThrow('not permitted')
    expect(asked).toEqual([before])
    const stored = await opened.store.get({ group: kind.group, kind: kind.kind, ...at })
    expect(stored?.object.spec).toEqual(before ? { size: 1 } : undefined)
  })
})
