import { describe, expect, it } from 'vitest'
import { ConfigMap, modify, type ConfigMapObject } from '../../../shared/index.ts'
import { OperatingError } from '../../../shared/model/errors.ts'

type Ctx = Parameters<typeof modify>[0]

const conflict = new OperatingError('VERSION_CONFLICT', 'another writer was first')
const gone = new OperatingError('NOT_FOUND', 'it is gone')
const broken = new TypeError('a bug')

/** A store of one object, whose writes meet these errors first. */
function storeOf(errors: readonly Error[], isThere = true) {
  const left = [...errors]
  const writes: unknown[] = []
  let version = 1
  const ctx = {
    get: async () => (isThere ? { metadata: { name: 'm', resourceVersion: String(version) } } : undefined),
    patch: async (_: unknown, __: unknown, body: object, options: unknown) => {
      writes.push([body, options])
      const error = left.shift()
      version++
      if (error !== undefined) throw error
      return { metadata: { name: 'm', resourceVersion: 'written' } }
    },
  }
  return { ctx: ctx as unknown as Ctx, writes }
}

const change = (): { readonly metadata: { readonly labels: object }; readonly data: object } => ({
  metadata: { labels: { a: 'b' } },
  data: { c: 'd' },
})

async function endOf(ctx: Ctx, options: object = {}): Promise<unknown> {
  const what = { kind: ConfigMap, at: 'm', change, ...options } as Parameters<typeof modify<ConfigMapObject>>[1]
  const end = modify(ctx, what).then((object) => object?.metadata.resourceVersion)
  return end.catch((error: unknown) => error)
}

describe('a change by a function', () => {
  it('is written on the version that the function saw, beside its own metadata', async () => {
    const { ctx, writes } = storeOf([])
    expect(await endOf(ctx)).toBe('written')
    expect(writes).toEqual([[{ data: { c: 'd' }, metadata: { labels: { a: 'b' }, resourceVersion: '1' } }, undefined]])
  })

  it('is of the status alone if it says so', async () => {
    const { ctx, writes } = storeOf([])
    await endOf(ctx, { subresource: 'status', change: () => ({ status: {} }) })
    expect(writes).toEqual([[{ status: {}, metadata: { resourceVersion: '1' } }, { subresource: 'status' }]])
  })

  it.each([
    ['there is no object', [], false, change, undefined, 0],
    ['the function leaves it', [], true, () => {}, '1', 0],
    ['another writer was first', [conflict], true, change, 'written', 2],
    ['another writer is always first', Array.from({ length: 20 }, () => conflict), true, change, conflict, 10],
    ['it is gone meanwhile', [gone], true, change, undefined, 1],
    ['something is broken', [broken], true, change, broken, 1],
  ])('when %s', async (...[, errors, isThere, by, end, count]) => {
    const { ctx, writes } = storeOf(errors, isThere)
    expect(await endOf(ctx, { change: by })).toBe(end)
    expect(writes).toHaveLength(count)
  })

  it.each([async () => ({ data: { c: 'd' } }), async () => Promise.reject(new Error('it fails'))])(
    'is refused if nobody waits for it: %#',
    async (by) => {
      const { ctx, writes } = storeOf([])
      const refused = new TypeError('change of modify gives its patch at once, and not as a promise')
      expect([await endOf(ctx, { change: by }), writes]).toEqual([refused, []])
    },
  )

  it('is made anew on what is there then', async () => {
    const { ctx, writes } = storeOf([conflict])
    await endOf(ctx, { change: ({ metadata }: ConfigMapObject) => ({ data: { saw: metadata.resourceVersion } }) })
    expect(writes.map((write) => (write as readonly unknown[])[0])).toMatchObject([
      { data: { saw: '1' } },
      { data: { saw: '2' } },
    ])
  })
})
