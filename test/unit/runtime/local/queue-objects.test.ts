import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createLocalWorkQueue, type LocalWorkQueue } from '../../../../shared/adapters/local/queue/local-work-queue.ts'
import { systemRandom } from '../../../../shared/adapters/node/system-random.ts'
import type { PageEnd } from '../../../../shared/api/computed/computed-objects.ts'
import { ConfigMap, defineReconciler, done } from '../../../../shared/index.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import { queuedKeyObjects, queueObjects, type QueuesSource } from '../../../../shared/runtime/local/queue-objects.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/virtual-clock.ts'

let clock: VirtualClock
let source: QueuesSource
let maps: LocalWorkQueue
let garbage: LocalWorkQueue

beforeEach(() => {
  clock = createVirtualClock(1_000_000)
  const open = (): LocalWorkQueue => createLocalWorkQueue({ clock, random: systemRandom, visibilityMs: 60_000 })
  maps = open()
  garbage = open()
  const controllers = [defineReconciler(ConfigMap, { name: 'maps', reconcile: async () => done() })]
  source = {
    queues: new Map([
      ['maps', maps],
      ['garbage', garbage],
    ]),
    controllers,
    clock,
  }
})

const wakeUp = (name: string, parts: Partial<WakeUp> & { readonly namespace?: string } = {}): WakeUp => {
  const { namespace = 'default', ...rest } = parts
  const key = { group: '', kind: 'ConfigMap', namespace, name }
  return { key, dedupId: name, lane: 'urgent', reason: 'created', origin: 'change', ...rest }
}
const all = { namespace: '', limit: 500 }

describe('keys of queues', () => {
  it('run, are ready, held or delayed', async () => {
    await maps.send([wakeUp('held'), wakeUp('running'), wakeUp('delayed', { notBeforeMs: 1_030_000 })])
    const [held] = await maps.receive(1, new AbortController().signal)
    if (held !== undefined) await maps.hold([held], 20_000)
    await maps.receive(1, new AbortController().signal)
    await clock.advance(5_000)
    await maps.send([wakeUp('ready', { lane: 'background', namespace: 'other' })])
    const { items, end } = await queuedKeyObjects(source).list(all)
    expect(end).toBeUndefined()
    expect(items.map(({ metadata, status }) => ({ ...metadata, ...status }))).toMatchObject([
      { name: 'maps.held', namespace: 'default', state: 'held', until: '1970-01-01T00:17:00.000Z' },
      { name: 'maps.running', state: 'running', since: '1970-01-01T00:16:40.000Z' },
      { name: 'maps.delayed', state: 'delayed', until: '1970-01-01T00:17:10.000Z' },
      {
        name: 'maps.ready',
        namespace: 'other',
        state: 'ready',
        since: '1970-01-01T00:16:45.000Z',
        lane: 'background',
        reason: 'created',
        controller: 'maps',
        object: { group: '', kind: 'ConfigMap', namespace: 'other', name: 'ready' },
      },
    ])
    for (const { metadata } of items) {
      const { name, namespace = '' } = metadata
      expect((await queuedKeyObjects(source).find({ name, namespace }))?.metadata).toEqual(metadata)
    }
    expect(await queuedKeyObjects(source).find({ name: 'maps.held', namespace: 'other' })).toBeUndefined()
    expect(await queuedKeyObjects(source).find({ name: 'garbage.held', namespace: 'default' })).toBeUndefined()
  })

  it('of the engine have their kind in their name, and those of no namespace are told of in default', async () => {
    await garbage.send([wakeUp('a', { namespace: '' })])
    const { items } = await queuedKeyObjects(source).list({ ...all, namespace: 'default' })
    expect(items).toMatchObject([{ metadata: { name: 'garbage.configmap.a', namespace: 'default' } }])
    expect(items[0]?.status?.['object']).not.toHaveProperty('namespace')
    await maps.send([wakeUp('b', { namespace: '' })])
    const found = await queuedKeyObjects(source).find({ name: 'maps.b', namespace: 'default' })
    expect(found?.status?.['object']).toEqual({ group: '', kind: 'ConfigMap', name: 'b' })
  })

  it('are told page by page, though others leave meanwhile', async () => {
    await maps.send(Array.from({ length: 7 }, (_, i) => wakeUp(`n${i}`)))
    await garbage.send([wakeUp('last')])
    const pages: (readonly string[])[] = []
    let after: PageEnd | undefined
    do {
      const page = await queuedKeyObjects(source).list({ ...all, limit: 3, ...(after && { after }) })
      pages.push(page.items.map(({ metadata }) => metadata.name))
      after = page.end
      await maps.settle(await maps.receive(2, new AbortController().signal))
    } while (after !== undefined)
    expect(pages).toEqual([
      ['maps.n0', 'maps.n1', 'maps.n2'],
      ['maps.n3', 'maps.n4', 'maps.n5'],
      ['maps.n6', 'garbage.configmap.last'],
    ])
  })

  it('are looked at in bounded numbers for one page', async () => {
    await maps.send(Array.from({ length: 10_001 }, (_, i) => wakeUp(`n${i}`, { namespace: i < 10_000 ? 'a' : 'b' })))
    const first = await queuedKeyObjects(source).list({ ...all, namespace: 'b' })
    expect(first).toEqual({ items: [], end: [0, 10_000] })
    const second = await queuedKeyObjects(source).list({ ...all, namespace: 'b', after: [0, 10_000] })
    expect(second.items).toHaveLength(1)
  })
})

it('one key is found by a look, however many wait; in a queue of the engine within a bound, which is said', async () => {
  const many = Array.from({ length: 30_000 }, (_, i) => wakeUp(`n${i}`))
  await maps.send(many)
  const listed = vi.spyOn(maps, 'list')
  const keys = queuedKeyObjects(source)
  expect(await keys.find({ name: 'maps.n29999', namespace: 'default' })).toMatchObject({ status: { state: 'ready' } })
  expect(await keys.find({ name: 'maps.none', namespace: 'default' })).toBeUndefined()
  expect(listed).not.toHaveBeenCalled()
  await garbage.send(many)
  await expect(keys.find({ name: 'garbage.configmap.n29999', namespace: 'default' })).rejects.toMatchObject({
    code: 'TOO_LARGE',
    message: 'more than 10000 keys wait in garbage: list queuedkeys, page by page',
  })
})

it('queues have a length, and the time that their oldest key waits', async () => {
  await maps.send([wakeUp('a'), wakeUp('b')])
  await clock.advance(2_000)
  const { items } = await queueObjects(source).list(all)
  expect(items.map(({ metadata, status }) => [metadata.name, status])).toEqual([
    ['maps', { controllers: ['maps'], waiting: 2, oldestSeconds: 2 }],
    ['garbage', { controllers: ['garbage'], waiting: 0, oldestSeconds: 0 }],
  ])
  expect(await queueObjects(source).find({ namespace: '', name: 'garbage' })).toEqual(items[1])
  expect(await queueObjects(source).find({ namespace: '', name: 'other' })).toBeUndefined()
})
