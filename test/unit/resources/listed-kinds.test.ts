import { afterEach, beforeEach, expect, it } from 'vitest'
import { createResources } from '../../../shared/resources/create-resources.ts'
import { customResourceDefinitionKind } from '../../../shared/resources/built-in-kinds.ts'
import { createKindCatalog } from '../../../shared/resources/store-kind-catalog.ts'
import { createSeededRandom } from '../../../shared/testing/seeded-random.ts'
import type { JsonObject } from '../../../shared/index.ts'
import { Widget } from '../../acceptance/support/widgets.ts'
import { openSqlite, type OpenSqlite } from '../../support/sqlite.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

let opened: OpenSqlite
const clock = createVirtualClock()
beforeEach(() => {
  opened = openSqlite(':memory:', clock)
})
afterEach(() => opened.close())

it('a kind that is defined is listed among those that are stored, and one whose definition is gone is not', async () => {
  const { store } = opened
  const catalog = createKindCatalog({ store, clock, maxAgeMs: 0 })
  const stored = async (): Promise<boolean> => (await catalog.listStored()).some(({ kind }) => kind === Widget.kind)
  expect(await stored()).toBe(false)
  const resources = createResources({ store, clock, random: createSeededRandom(1) })
  const body = Widget.definition as unknown as JsonObject
  await resources.create(customResourceDefinitionKind, body, { manager: 'test' })
  catalog.invalidate()
  expect(await stored()).toBe(true)
})
