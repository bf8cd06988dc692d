import { describe, expect, it } from 'vitest'
import { createMeasure } from '../../../shared/api/measure.ts'
import type { Verb } from '../../../shared/api/request-info.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { Telemetry } from '../../../shared/ports/telemetry.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { callOf } from './called.ts'
import type { Sent } from './sent-request.ts'

function open() {
  const noted: string[] = []
  const made: string[] = []
  const gauges: (() => number)[] = []
  const textOf = (labels: object) =>
    Object.values(labels)
      .filter((text) => text !== '')
      .join(' ')
  const telemetry = {
    counter: (_metric: unknown, labels: object) => {
      made.push(`counter ${textOf(labels)}`)
      return () => void noted.push(`count ${textOf(labels)}`)
    },
    histogram: (_metric: unknown, labels: object) => {
      made.push(`histogram ${textOf(labels)}`)
      return (seconds: number) => void noted.push(`time ${textOf(labels)}: ${seconds}`)
    },
    read: (_metric: unknown, labels: object, read: () => number) => {
      made.push(`gauge ${textOf(labels)}`)
      gauges.push(read)
    },
  } as unknown as Telemetry
  const clock = createVirtualClock(0)
  const measured = createMeasure({ telemetry, clock })
  const end = async (verb: Verb, status: number, { ms = 0, ...sent }: Sent & { readonly ms?: number } = {}) => {
    const handle = measured(verb, async () => {
      await clock.advance(ms)
      return { status, headers: {}, body: '' }
    })
    return handle(callOf('GET /apis/g.dev/v1/namespaces/n/ks/a', sent))
  }
  return { noted, made, gauges, clock, measured, end }
}

describe('a request', () => {
  it('is counted by its code, and timed', async () => {
    const { noted, end } = open()
    expect((await end('get', 200, { ms: 1_500 })).status).toBe(200)
    await end('get', 404)
    expect(noted).toEqual([
      'count GET g.dev ks 200',
      'time GET g.dev ks: 1.5',
      'count GET g.dev ks 404',
      'time GET g.dev ks: 0',
    ])
  })

  it('is in a series that is made once', async () => {
    const { made, end } = open()
    for (const status of [200, 200, 404]) await end('get', status)
    expect(made).toEqual(['histogram GET g.dev ks', 'counter GET g.dev ks 200', 'counter GET g.dev ks 404'])
  })

  it('that fails is counted, and fails', async () => {
    const { noted, measured } = open()
    const handle = measured('delete', () => Promise.reject(new OperatingError('NOT_FOUND', 'gone')))
    await expect(handle(callOf('DELETE /apis/g.dev/v1/namespaces/n/ks/a/scale'))).rejects.toThrow('gone')
    expect(noted).toEqual(['count DELETE g.dev ks scale 404', 'time DELETE g.dev ks scale: 0'])
  })

  it('takes no time if the clock is set back', async () => {
    const { noted, clock } = open()
    const times = [5_000, 2_000]
    const telemetry = {
      counter: () => () => {},
      histogram: () => (seconds: number) => void noted.push(String(seconds)),
    } as unknown as Telemetry
    const back = { ...clock, nowMs: () => times.shift() ?? 0 }
    const handle = createMeasure({ telemetry, clock: back })('get', async () => ({
      status: 200,
      headers: {},
      body: '',
    }))
    await handle(callOf('GET /apis/g.dev/v1/ks/a'))
    expect(noted).toEqual(['0'])
  })

  it.each<[Verb, string | undefined, string]>([
    ['patch', 'application/apply-patch+yaml', 'APPLY'],
    ['patch', 'application/merge-patch+json', 'PATCH'],
    ['patch', undefined, 'PATCH'],
    ['update', 'application/apply-patch+yaml', 'PUT'],
    ['list', undefined, 'LIST'],
    ['create', undefined, 'POST'],
    ['deletecollection', undefined, 'DELETECOLLECTION'],
  ])('to %s of %s is called %s', async (verb, type, word) => {
    const { noted, end } = open()
    await end(verb, 200, type === undefined ? {} : { type })
    expect(noted[0]).toBe(`count ${word} g.dev ks 200`)
  })
})

describe('a watch', () => {
  it('counts as open until its client leaves, and is not timed', async () => {
    const { noted, made, gauges, end } = open()
    const [one, other] = [new AbortController(), new AbortController()]
    await end('watch', 200, { signal: one.signal })
    await end('watch', 101, { signal: other.signal })
    expect(made).toEqual(['gauge WATCH g.dev ks', 'counter WATCH g.dev ks 200', 'counter WATCH g.dev ks 101'])
    expect([gauges[0]?.(), noted.length]).toEqual([2, 2])
    one.abort()
    expect(gauges[0]?.()).toBe(1)
    other.abort()
    expect(gauges[0]?.()).toBe(0)
  })

  it('is not open that was refused, or whose client has left', async () => {
    const { gauges, end } = open()
    await end('watch', 410)
    await end('watch', 200, { signal: AbortSignal.abort() })
    expect(gauges[0]?.()).toBe(0)
  })
})
