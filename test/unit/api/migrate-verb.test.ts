import { describe, expect, it } from 'vitest'
import { createMigrate } from '../../../shared/api/verbs/migrate.ts'
import type { Conversion } from '../../../shared/model/conversion.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { asServed } from '../../../shared/resources/as-served.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { ListOptions, ObjectList } from '../../../shared/resources/resources.ts'
import { callOf, plainKind } from './called.ts'
import { endOf } from './end-of.ts'
import { createWidgetHarness, widget, widgets } from './harness.ts'
import { fakeServices, storedOf, throwing } from './fake-services.ts'

const kind: ServedKind = { ...plainKind, storageVersion: 'v2' }
const definitionWith = (accepted: string): StoredObject =>
  storedOf(
    { name: 'ks.g.dev' },
    { spec: { group: 'g.dev', names: { kind: 'K' } }, status: { acceptedNames: { kind: accepted, plural: 'ks' } } },
  )

function open(list: Partial<ObjectList>, ends: Readonly<Record<string, () => unknown>> = {}, accepted = 'K') {
  let [now, most] = [0, 0]
  const services = fakeServices(
    {
      get: () => definitionWith(accepted),
      list: () => ({ items: [], resourceVersion: '50', ...list }),
      patch: async (_kind, { name }) => {
        most = Math.max(most, ++now)
        await Promise.resolve()
        now--
        return ends[name]?.() ?? { stored: storedOf({ name }), outcome: 'updated', warnings: [] }
      },
    },
    {
      catalog: {
        byKind: async (group: string, name: string) => (name === 'K' ? { ...kind, group, kind: name } : undefined),
      } as never,
    },
  )
  const ask = (query = '') =>
    endOf(async () => {
      const { status, body } = await createMigrate(services)(
        callOf(`POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions/ks.g.dev/migrate?${query}`),
      )
      return [status, JSON.parse(body as string) as JsonObject]
    })
  const listed = () => services.asked.filter(([verb]) => verb === 'list').map(([, , options]) => options as ListOptions)
  const patched = () => services.asked.filter(([verb]) => verb === 'patch')
  return { ask, listed, patched, most: () => most }
}

const answer = { kind: 'MigratedPage', apiVersion: 'setpoint.dev/v1', version: 'v2', failed: [] }
const items = (...names: readonly string[]) => names.map((name) => storedOf({ name, namespace: 'n' }))

describe('a migration', () => {
  it('writes each object of a page, by a patch that changes nothing', async () => {
    const unchanged = () => ({ stored: storedOf({}), outcome: 'unchanged', warnings: [] })
    const { ask, patched, listed } = open({ items: items('a', 'b') }, { b: unchanged })
    expect(await ask()).toEqual([200, { ...answer, objects: 2, written: 1 }])
    expect(listed()).toEqual([{ limit: 100 }])
    expect(patched()[0]?.slice(2)).toEqual([
      expect.objectContaining({ namespace: 'n', name: 'a' }),
      { type: 'merge', body: {} },
      { manager: 'setpoint-migrate', dryRun: false },
    ])
  })

  it('that is tried dry writes nothing, and says what it would', async () => {
    const { ask, patched } = open({ items: items('a') })
    expect(await ask('dryRun=All')).toEqual([200, { ...answer, objects: 1, written: 1 }])
    expect(patched()[0]?.at(-1)).toMatchObject({ dryRun: true })
    expect(await ask('dryRun=Some')).toMatch(/^INVALID: .*dryRun/)
  })

  it.each([
    ['limit=5', { limit: 5 }],
    ['limit=101', { limit: 100 }],
    ['continue=c', { limit: 100, continue: 'c' }],
  ])('with %s looks at that page', async (query, options) => {
    const { ask, listed } = open({ continue: 'd' })
    expect(await ask(query)).toEqual([200, { ...answer, objects: 0, written: 0, continue: 'd' }])
    expect(listed()).toEqual([options])
  })

  it('writes ten objects at a time', async () => {
    const names = Array.from({ length: 25 }, (_, i) => `a${i}`)
    const { ask, patched, most } = open({ items: items(...names) })
    expect(await ask()).toEqual([200, { ...answer, objects: 25, written: 25 }])
    expect([patched().map(([, , at]) => (at as { name: string }).name), most()]).toEqual([names, 10])
  })

  it('tells what it cannot write', async () => {
    const convertible: ServedKind = {
      ...plainKind,
      conversion: {
        version: 'v1',
        convert: throwing('CONVERSION_FAILED', 'it has no color'),
      } as unknown as Conversion,
    }
    const [odd] = items('odd').map((one): StoredObject => asServed(convertible, one))
    const found = [...items('gone', 'bad', 'large', 'fine'), odd as StoredObject]
    const { ask } = open(
      { items: found, damaged: [{ group: 'g.dev', kind: 'K', namespace: 'n', name: 'x' }] },
      {
        gone: throwing('NOT_FOUND', 'gone'),
        bad: throwing('INVALID', 'bad'),
        large: throwing('TOO_LARGE', 'large'),
      },
    )
    const failed = (name: string, message: string) => ({ namespace: 'n', name, message })
    const all = [failed('x', 'it is damaged'), failed('bad', 'bad'), failed('large', 'large')]
    expect(await ask()).toEqual([
      200,
      { ...answer, objects: 6, written: 1, failed: [...all, failed('odd', 'it has no color')] },
    ])
  })

  it('ends with a failure that has nothing to do with the object', async () => {
    expect(await open({ items: items('a') }, { a: throwing('UNAVAILABLE', 'down') }).ask()).toBe('UNAVAILABLE: down')
    const lost = () => {
      throw new Error('lost')
    }
    await expect(open({ items: items('a') }, { a: lost }).ask()).resolves.toEqual(new Error('lost'))
  })

  it('is of the kind that the definition has, and not of one that it waits for', async () => {
    const { ask, listed } = open({ items: items('a') }, {}, '')
    expect([await ask(), listed()]).toEqual(['NOT_FOUND: ks.g.dev is not served', []])
  })
})

describe('the path of a migration', () => {
  it('is one of definitions, and of nothing else', async () => {
    const harness = await createWidgetHarness()
    const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com'
    const body = {}
    expect(await harness.send(`POST ${definition}/migrate`, { body })).toMatchObject({ status: 200 })
    expect(await harness.send(`GET ${definition}/migrate`)).toMatchObject({ status: 405 })
    expect(await harness.send(`GET ${definition}/status`)).toMatchObject({ status: 200 })
    await harness.send(`POST ${widgets}`, { body: widget('a') })
    expect(await harness.send(`POST ${widgets}/a/migrate`, { body })).toMatchObject({ status: 404 })
    harness.close()
  })
})
