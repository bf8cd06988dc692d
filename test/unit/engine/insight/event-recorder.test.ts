import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createEventRecorder, type RecordedEvent } from '../../../../shared/engine/insight/event-recorder.ts'
import { defineKind, defineReconciler, done, type JsonObject } from '../../../../shared/index.ts'
import { OperatingError, type ErrorCode } from '../../../../shared/model/errors.ts'
import type { ObjectMeta } from '../../../../shared/model/object.ts'
import { createTestEnv } from '../../../../shared/testing/test-env.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const Widget = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number().int().default(1) }),
  status: z.object({}),
})

const told = ['stood in line', 'asked for tea', 'poured it', 'drank it', 'went']

it('keeps the order of what happened in one moment, for kubectl and for explain', async () => {
  const reconciler = defineReconciler(Widget, {
    reconcile: async ({ spec }, ctx) => {
      for (const message of spec.size === 1 ? told : ['poured it']) await ctx.event('Normal', 'Told', message)
      return done()
    },
  })
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 1 } })
  await env.settle()
  expect(await messagesByTime()).toEqual(told)
  const explained = await env.page('/apis/test.setpoint.dev/v1/namespaces/default/widgets/w/explain')
  expect([...explained.matchAll(/Normal Told: (.*)/g)].map(([, message]) => message)).toEqual(told.toReversed())

  // What happens again moves to the end.
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 2 } })
  await env.settle()
  expect((await messagesByTime()).at(-1)).toBe('poured it')

  /** As kubectl sorts them: by time, and what has the same in the order of the list. */
  async function messagesByTime(): Promise<readonly unknown[]> {
    const { items } = JSON.parse(await env.page('/api/v1/namespaces/default/events')) as {
      items: readonly JsonObject[]
    }
    for (const { firstTimestamp, lastTimestamp } of items)
      for (const time of [firstTimestamp, lastTimestamp])
        expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    return items
      .toSorted((a, b) => (String(a['lastTimestamp']) < String(b['lastTimestamp']) ? -1 : 1))
      .map(({ message }) => message)
  }
})

it.each(['-', '.'])('tells of an object whose long name has %j where that of the event is cut', async (mark) => {
  const reconciler = defineReconciler(Widget, {
    reconcile: async (_, ctx) => {
      await ctx.event('Normal', 'Told', 'it was made')
      return done()
    },
  })
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  await env.apply(Widget, { metadata: { name: `${'n'.repeat(235)}${mark}${'m'.repeat(17)}` }, spec: {} })
  await env.settle()
  expect(await env.page('/api/v1/namespaces/default/events')).toContain('it was made')
})

it('counts equal events that are recorded at once', async () => {
  const reconciler = defineReconciler(Widget, {
    reconcile: async ({ spec: { size } }, ctx) => {
      await Promise.all(Array.from({ length: size }, () => ctx.event('Normal', 'Told', 'it was made')))
      return done()
    },
  })
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 4 } })
  await env.settle()
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 3 } })
  await env.settle()
  const { items } = JSON.parse(await env.page('/api/v1/namespaces/default/events')) as { items: readonly JsonObject[] }
  expect(items.map(({ count }) => count)).toEqual([7])
  expect(env.logs.filter(({ message }) => message === 'event not recorded')).toEqual([])
})

/** A recorder at the fifth millisecond, and what it logs. */
function recorderWith(resources: object) {
  const lines: unknown[] = []
  const recorder = createEventRecorder({
    resources: resources as never,
    clock: { nowMs: () => 5, sleep: async () => {} },
    logger: { warn: (...line: unknown[]) => void lines.push(line) } as never,
  })
  return { recorder, lines }
}

const throwing = (code: ErrorCode) => async () => {
  throw new OperatingError(code, 'no')
}

interface Given {
  /** The event that is there; or how the look for it fails. */
  readonly there?: object | ErrorCode
  readonly metadata?: Partial<ObjectMeta>
  readonly isOfCluster?: boolean
  readonly event?: Partial<RecordedEvent>
  /** When each of them is recorded. */
  readonly atMs?: readonly number[]
}

const made: RecordedEvent = { type: 'Normal', reason: 'Made', message: 'it was made', component: 'widget' }

interface Written {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly involvedObject: object
  readonly message: string
  readonly firstTimestamp: string
}

/** What is written of an event about a widget, and what is logged. */
async function recorded({ there = 'NOT_FOUND', metadata, isOfCluster = false, event, atMs = [5] }: Given = {}) {
  const written: object[] = []
  const lines: unknown[] = []
  const { object } = storedWidget('w', { resourceVersion: '7', ...metadata })
  const { namespace: _, ...wide } = object.metadata
  const times = [...atMs]
  const recorder = createEventRecorder({
    resources: {
      get: async () => {
        if (typeof there === 'string') throw new OperatingError(there, 'no')
        return { object: { ...there, metadata: { resourceVersion: '3' } } }
      },
      patch: async (_kind: object, at: object, patch: object) => void written.push({ at, patch }),
      create: async (_kind: object, body: object) => void written.push(body),
    } as never,
    clock: { nowMs: () => times.shift() ?? 0, sleep: async () => {} },
    logger: { warn: (...line: unknown[]) => void lines.push(line) } as never,
  })
  const about = isOfCluster ? { ...object, metadata: wide } : object
  for (let i = 0; i < atMs.length; i++) await recorder.record(about, { ...made, ...event })
  return { written: written as readonly Written[], lines }
}

describe('an event', () => {
  it('that is new names the object, and who says it', async () => {
    const { written, lines } = await recorded()
    const name = expect.stringMatching(/^w\.[\w-]+$/)
    expect(written).toStrictEqual([
      {
        metadata: { namespace: 'default', name },
        involvedObject: {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          name: 'w',
          namespace: 'default',
          uid: 'uid-default-w',
          resourceVersion: '7',
        },
        type: 'Normal',
        reason: 'Made',
        message: 'it was made',
        count: 1,
        firstTimestamp: '1970-01-01T00:00:00.005000Z',
        lastTimestamp: '1970-01-01T00:00:00.005000Z',
        source: { component: 'widget' },
        reportingComponent: 'widget',
        reportingInstance: 'widget',
      },
    ])
    expect(lines).toEqual([])
  })

  it.each([
    [{}, 2],
    [{ count: 3 }, 4],
  ])('that is there as %j is counted', async (there, count) => {
    const { written } = await recorded({ there })
    expect(written).toEqual([
      {
        at: { namespace: 'default', name: expect.stringMatching(/^w\./) },
        patch: {
          type: 'merge',
          body: { count, lastTimestamp: '1970-01-01T00:00:00.005000Z', metadata: { resourceVersion: '3' } },
        },
      },
    ])
  })

  it('that cannot be looked for is lost, and said to be', async () => {
    const { written, lines } = await recorded({ there: 'UNAVAILABLE' })
    expect(written).toEqual([])
    expect(lines).toEqual([['event not recorded', { reason: 'Made', name: 'w', error: expect.stringContaining('no') }]])
  })

  it('of an object of the cluster is in the default namespace', async () => {
    const { written } = await recorded({ isOfCluster: true })
    expect(written[0]?.metadata.namespace).toBe('default')
    expect(written[0]?.involvedObject).not.toHaveProperty('namespace')
  })

  it('has the same name as what is equal, and no other', async () => {
    const nameOf = async (given: Given): Promise<string> => (await recorded(given)).written[0]?.metadata.name ?? ''
    const others: readonly Partial<RecordedEvent>[] = [
      { type: 'Warning' },
      { reason: 'Broken' },
      { message: 'it broke' },
      { component: 'gadget' },
    ]
    const names = await Promise.all([{}, ...others.map((event) => ({ event }))].map(nameOf))
    expect(new Set(names).size).toBe(5)
    expect(await nameOf({ metadata: { uid: 'other' } })).not.toBe(names[0])
    expect(await nameOf({ metadata: { resourceVersion: '8' } })).toBe(names[0])
  })

  it('keeps within the lengths that Kubernetes allows', async () => {
    const { written } = await recorded({ metadata: { name: 'n'.repeat(253) }, event: { message: 'm'.repeat(2_000) } })
    const [name, id] = written[0]?.metadata.name.split('.') ?? []
    expect([name?.length, id?.length, written[0]?.message.length]).toEqual([236, 16, 1_024])
  })

  it.each([
    [
      [0, 0],
      ['00.000000', '00.000001'],
    ],
    [
      [1, 1, 1],
      ['00.001000', '00.001001', '00.001002'],
    ],
    [
      [1, 2, 2, 1],
      ['00.001000', '00.002000', '00.002001', '00.001000'],
    ],
  ])('of the moments %j has its place in each', async (atMs, times) => {
    const { written } = await recorded({ atMs })
    expect(written.map(({ firstTimestamp }) => firstTimestamp.slice(17, 26))).toEqual(times)
  })
})

it.each([
  ['NOT_FOUND', true],
  ['FORBIDDEN', true],
  ['TOO_LARGE', true],
  ['THROTTLED', false],
  ['UNAVAILABLE', false],
  ['WRITE_UNKNOWN', false],
] as const)('says of an event that was lost to %s whether that is for good: %s', async (code, isForGood) => {
  const { recorder } = recorderWith({ get: throwing('NOT_FOUND'), create: throwing(code) })
  expect(await recorder.record(storedWidget('w').object, made)).toBe(isForGood)
})

describe('an event whose write was not answered', () => {
  /** The count of what is there in the end, after the first write of a second time was done or was lost. */
  async function countAfterLoss(before: number | undefined, isDone: boolean) {
    const state = { there: before === undefined ? undefined : { count: before }, losses: 1 }
    const write = async (event: { readonly count: number }): Promise<void> => {
      const isLost = state.losses-- > 0
      if (!isLost || isDone) state.there = event
      if (isLost) throw new OperatingError('WRITE_UNKNOWN', 'no answer')
    }
    const { recorder, lines } = recorderWith({
      get: async () => {
        if (state.there === undefined) throw new OperatingError('NOT_FOUND', 'no')
        return { object: { ...state.there, metadata: { resourceVersion: '3' } } }
      },
      patch: async (_kind: object, _at: object, { body }: { readonly body: { readonly count: number } }) => write(body),
      create: async (_kind: object, body: { readonly count: number }) => write(body),
    })
    await recorder.record(storedWidget('w').object, made)
    return { count: state.there?.count, lines }
  }

  it.each([
    ['a first time', undefined, false, 1],
    ['a first time', undefined, true, 1],
    ['again', 3, false, 4],
    ['again', 3, true, 4],
  ] as const)('is told %s, and once (%s before, done: %s)', async (_, before, isDone, count) => {
    expect(await countAfterLoss(before, isDone)).toEqual({ count, lines: [] })
  })

  it('is not tried for ever', async () => {
    let writes = 0
    const create = async (): Promise<never> => {
      writes++
      throw new OperatingError('WRITE_UNKNOWN', 'no answer')
    }
    const { recorder, lines } = recorderWith({ get: throwing('NOT_FOUND'), create })
    await recorder.record(storedWidget('w').object, made)
    expect({ writes, lines }).toEqual({
      writes: 10,
      lines: [['event not recorded', { reason: 'Made', name: 'w', error: expect.stringContaining('no answer') }]],
    })
  })
})
