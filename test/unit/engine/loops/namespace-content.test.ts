import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contentRoutes, createContentRunner } from '../../../../shared/engine/loops/namespace-content.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import type { ObjectKey } from '../../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import { timestamp } from '../../../../shared/model/time.ts'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import { createWidgetHarness, widget, type Harness } from '../../api/harness.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

const namespaceKey = { group: '', kind: 'Namespace', namespace: '', name: 'n' }
const content = (uid: string) => ({ group: 'garbage.setpoint.dev', kind: 'Content', namespace: uid, name: 'n' })

function changeOf(type: Change['type'], kind: string, metadata: object, apiVersion = 'v1'): Change {
  const meta = { name: 'n', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '', ...metadata }
  return { type, touched: [], stored: { object: { apiVersion, kind, metadata: meta }, engine: {} } }
}

describe('who wakes the content of a namespace', () => {
  /** Keys that a change wakes, with the wait ahead of them, and what was read for that. */
  async function woken(change: Change, namespaces: readonly string[] = []) {
    const reads: string[] = []
    const store = {
      get: async ({ name }: ObjectKey) => {
        reads.push(name)
        return namespaces.includes(name) ? ({} as StoredObject) : undefined
      },
    }
    const routes = contentRoutes('queue', { store, clock: { nowMs: () => 100_000 } })
    const targets = await Promise.all(
      routes.map(async (route) =>
        (await route.targets(change, [])).map(({ key, lane, reason }) => ({
          key,
          lane,
          reason,
          waitMs: route.debounceMs,
        })),
      ),
    )
    expect(routes.map(({ name, isNeverHeld }) => [name, isNeverHeld])).toEqual([
      ['queue', true],
      ['queue', true],
    ])
    return { targets: targets.flat(), reads }
  }

  it('its removal, half a minute later', async () => {
    expect(await woken(changeOf('removed', 'Namespace', { uid: 'u1' }))).toEqual({
      targets: [{ key: content('u1'), lane: 'background', reason: 'their namespace is gone', waitMs: 30_000 }],
      reads: [],
    })
  })

  const made = (ms: number) => ({ name: 'a', namespace: 'n', creationTimestamp: timestamp(ms) })
  const late = 'their namespace was gone when one was made'
  it('a creation that took longer than five seconds, if the namespace is gone', async () => {
    expect(await woken(changeOf('added', 'ConfigMap', made(94_000)))).toEqual({
      targets: [{ key: content(''), lane: 'background', reason: late, waitMs: 0 }],
      reads: ['n'],
    })
  })

  const going = { name: 'a', namespace: 'n', deletionTimestamp: timestamp(99_000) }
  it('one that is gone after its clean-up, if the namespace is gone', async () => {
    const reason = 'their namespace was gone when one was cleaned up'
    expect(await woken(changeOf('removed', 'ConfigMap', going))).toEqual({
      targets: [{ key: content(''), lane: 'background', reason, waitMs: 0 }],
      reads: ['n'],
    })
  })

  it.each<[string, Change, readonly string[]]>([
    ['a namespace that is made', changeOf('added', 'Namespace', { creationTimestamp: timestamp(0) }), []],
    ['a removed object of another kind', changeOf('removed', 'ConfigMap', made(94_000)), []],
    ['a removed Namespace of another group', changeOf('removed', 'Namespace', { name: 'n' }, 'x.dev/v1'), []],
    ['one that is being cleaned up', changeOf('modified', 'ConfigMap', going), []],
    [
      'one that is gone after its clean-up, in a namespace that is there',
      changeOf('removed', 'ConfigMap', { ...going, namespace: 'm' }),
      ['m'],
    ],
    ['a creation that was prompt', changeOf('added', 'ConfigMap', made(95_000)), []],
    ['a change of what was made long ago', changeOf('modified', 'ConfigMap', made(0)), []],
    [
      'a late creation in a namespace that is there',
      changeOf('added', 'ConfigMap', { ...made(0), namespace: 'm' }),
      ['m'],
    ],
  ])('is not %s', async (_what, change, reads) => {
    expect(await woken(change, ['m'])).toEqual({ targets: [], reads })
  })
})

it('a namespace is remembered for two seconds, if it is there', async () => {
  const reads: string[] = []
  let nowMs = 100_000
  const store = {
    get: async ({ name }: ObjectKey) => {
      reads.push(`${nowMs} ${name}`)
      return name === 'm' ? ({} as StoredObject) : undefined
    },
  }
  const [, late] = contentRoutes('queue', { store, clock: { nowMs: () => nowMs } })
  for (nowMs of [100_000, 102_000, 102_001, 100_000])
    for (const namespace of ['m', 'n', 'm'])
      await late?.targets(changeOf('added', 'ConfigMap', { namespace, creationTimestamp: timestamp(0) }), [])
  // A clock that is put back by more remembers nothing.
  const all = ['100000 m', '100000 n', '102000 n', '102001 m', '102001 n', '100000 m', '100000 n']
  expect(reads).toEqual(all)
})

describe('the content of a namespace', () => {
  async function fill(): Promise<void> {
    await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } })
    await harness.send('POST /api/v1/namespaces/n/secrets', { body: { metadata: { name: 's' } } })
    await harness.send('POST /apis/example.com/v1/namespaces/n/widgets', { body: widget('w') })
  }

  async function removeNamespace(): Promise<void> {
    const stored = (await harness.store.get(namespaceKey)) as StoredObject
    await harness.store.remove(stored)
  }

  async function left(): Promise<readonly string[]> {
    const paths = ['/api/v1/namespaces/n/secrets', '/apis/example.com/v1/namespaces/n/widgets']
    const lists = await Promise.all(paths.map((path) => harness.send(`GET ${path}`)))
    return lists.flatMap(({ body }) => body.items.map((one: { metadata: { name: string } }) => one.metadata.name))
  }

  /** What became of a turn: `delayed for …`, `settled`, or `handed on`. */
  async function run(key: ObjectKey, wakeUps: readonly Partial<WakeUp>[], isNearReceiveLimit = false) {
    const ends: string[] = []
    const turn = {
      key,
      wakeUps,
      isNearReceiveLimit,
      delay: async (ms: number) => void ends.push(`delayed for ${ms}`),
      settle: async () => void ends.push('settled'),
    } as unknown as Turn
    const { services, store, clock } = harness
    await createContentRunner({ ...services, store, clock }, async (same) => {
      expect(same).toBe(turn)
      ends.push('handed on')
    })(turn, new AbortController().signal)
    return ends
  }

  const nowMs = () => harness.clock.nowMs()

  it('goes when the namespace is gone, of every kind', async () => {
    await fill()
    await removeNamespace()
    expect(await run(content(''), [{}])).toEqual(['settled'])
    expect(await left()).toEqual([])
  })

  it('keeps Secrets until the custom objects are gone', async () => {
    await fill()
    const path = 'PATCH /apis/example.com/v1/namespaces/n/widgets/w'
    const hold = (finalizers: string[] | null) =>
      harness.send(path, { type: 'application/merge-patch+json', body: { metadata: { finalizers } } })
    await hold(['example.com/held'])
    await removeNamespace()
    expect(await run(content(''), [{}])).toEqual(['settled'])
    expect(await left()).toEqual(['s', 'w'])
    await hold(null)
    expect(await run(content(''), [{}])).toEqual(['settled'])
    expect(await left()).toEqual([])
  })

  it('stays when the namespace is there, or there again', async () => {
    await fill()
    expect(await run(content('u'), [{}])).toEqual(['settled'])
    expect(await left()).toEqual(['s', 'w'])
  })

  it('stays when the namespace comes back while it is looked for', async () => {
    await fill()
    let reads = 0
    const { get } = harness.store
    // The first look is that of a process which stands still then; what it lists is the new namespace's.
    const store = { get: (key: ObjectKey) => (++reads === 1 ? undefined : get.call(harness.store, key)) }
    const turn = { key: content(''), wakeUps: [{}], settle: async () => {} } as unknown as Turn
    const { services, clock } = harness
    await createContentRunner({ ...services, store, clock }, async () => {})(turn, new AbortController().signal)
    expect(await left()).toEqual(['s', 'w'])
  })

  it.each([
    { what: 'waits for its time', aheadMs: 1, isNear: false, ends: ['delayed for 1'], count: 2 },
    { what: 'goes when that has come', aheadMs: 0, isNear: false, ends: ['settled'], count: 0 },
    { what: 'goes ahead of it if held too often', aheadMs: 1, isNear: true, ends: ['settled'], count: 0 },
  ])('$what', async ({ aheadMs, isNear, ends, count }) => {
    await fill()
    await removeNamespace()
    const times = [{ notBeforeMs: nowMs() + aheadMs + 5_000 }, { notBeforeMs: nowMs() + aheadMs }]
    expect(await run(content('u'), times, isNear)).toEqual(ends)
    expect(await left()).toHaveLength(count)
  })

  const ofObject = { group: '', kind: 'Secret', namespace: 'n', name: 's' }
  it.each<[string, ObjectKey, Partial<WakeUp>, number]>([
    ['at the daily look at one of its objects', ofObject, { origin: 'resync' }, 0],
    ['not at another look', ofObject, { origin: 'change' }, 2],
    ['not at the daily look at an object of the cluster', { ...ofObject, namespace: '' }, { origin: 'resync' }, 2],
    ['not with children', { ...content('n'), kind: 'Children' }, { origin: 'resync' }, 2],
  ])('goes %s', async (_what, key, wakeUp, count) => {
    await fill()
    await removeNamespace()
    expect(await run(key, [{ origin: 'change' }, wakeUp])).toEqual(['handed on'])
    expect(await left()).toHaveLength(count)
  })
})
