import { describe, expect, it } from 'vitest'
import {
  explainAction,
  explainReports,
  explainRequeue,
} from '../../../../../shared/engine/insight/explain/plan-answers.ts'
import { wheelSlot, wheelSlots } from '../../../../../shared/model/wheel.ts'
import {
  deleted,
  factsOf,
  failure,
  hoursAgo,
  nowMs,
  letPass,
  paused,
  situations,
  waiting,
  type Given,
} from './given-facts.ts'

type Row = readonly [string, Given, readonly string[]]
const runs = 'widget runs its reconcile function: one run at a time, none longer than 60s.'
const stays = 'It stays until somebody takes x/one away.'

describe('what is done', () => {
  it.each([
    ['by nobody', situations.unattended, ['None: no reconciler handles this kind.']],
    ['while it is paused', situations.paused, ['None while the object is paused.']],
    ['when it has stopped', situations.stopped, ['None: widget has given generation 2 up.']],
    [
      'when others hold it',
      { metadata: { ...deleted, finalizers: ['x/one', 'orphan', 'foregroundDeletion'] } },
      [
        'None by widget: its clean-up is done, or there was none.',
        stays,
        'Its children are orphaned first (orphan).',
        'Its children that block its deletion are deleted first (foregroundDeletion).',
      ],
    ],
    ['for an object', {}, [runs]],
    ['for an object that others hold, and is not on its way', { metadata: { finalizers: ['x/one'] } }, [runs]],
    [
      'for one on its way',
      { metadata: { ...deleted, finalizers: ['test/ours', 'x/one'] } },
      ['widget runs its clean-up; after that, the finalizer test/ours goes.', stays],
    ],
    [
      'for one on its way that fails',
      { metadata: deleted, engine: waiting('Backoff', failure) },
      ['widget runs its clean-up; after that, the finalizer test/ours goes.'],
    ],
    [
      'for one whose controller leaves what it made',
      { metadata: deleted, controller: { deletionPolicy: 'Retain' } },
      ['widget leaves what it made outside, as its policy says; after that, the finalizer test/ours goes.'],
    ],
    [
      'for one that is to be cleaned up though its controller leaves others',
      {
        metadata: { ...deleted, annotations: { 'setpoint.dev/deletion-policy': 'Delete' } },
        controller: { deletionPolicy: 'Retain' },
      },
      ['widget runs its clean-up; after that, the finalizer test/ours goes.'],
    ],
    [
      'for one whose pause cannot be read',
      { metadata: { annotations: { 'setpoint.dev/paused': 'yes' } } },
      [runs, 'Its annotation setpoint.dev/paused is "yes", not "true", so it has no effect: the object is not paused.'],
    ],
    [
      'by nobody, for one whose pause cannot be read',
      { metadata: { annotations: { 'setpoint.dev/paused': 'yes' } }, facts: { controller: undefined } },
      ['None: no reconciler handles this kind.'],
    ],
  ] satisfies readonly Row[])('%s', (_what, given, lines) => {
    expect(explainAction(factsOf(given))).toEqual(lines)
  })
})

const soon =
  'A change of the object, of a child, or of an object that it refers to runs it at once. An edit of the spec resets the backoff.'
const soonIn = (time: string): string => soon.replace('at once', time)
const noResync = 'There is no resync.'

describe('when it runs next', () => {
  it.each([
    ['Backoff', failure, 'In 30s, after failure 3: the wait doubles from 1 s to 1000 s.'],
    ['Backoff', {}, 'In 30s, after failure 1: the wait doubles from 1 s to 1000 s.'],
    ['RetryAfter', failure, 'In 30s, which is the time that the remote API asked for.'],
    ['HotLoop', {}, 'In 30s: it runs in a loop and is slowed down.'],
    ['Expectation', {}, 'In 30s at the latest, when its expectation must be met.'],
    ['Resync', {}, 'In 30s at the latest, for the resync.'],
    ['Stopped', failure, 'In 30s: it has stopped, and is looked at again then.'],
    ['Stopped', { atMs: undefined }, 'No timer is set: it has stopped.'],
    ['Requeue', {}, 'In 30s at the latest, as its last run asked for.'],
    ['Requeue', { atMs: nowMs }, 'Now at the latest, as its last run asked for.'],
    ['Requeue', { atMs: undefined }, 'Now at the latest, as its last run asked for.'],
    ['Requeue', { generation: 1 }, 'No timer is set.'],
  ])('after a %s %j', (kind, more, line) => {
    expect(explainRequeue(factsOf({ engine: waiting(kind, more) }))).toEqual([line, noResync, soon])
  })

  it.each([
    ['by nobody', situations.unattended, ['Never: no reconciler handles this kind.']],
    [
      'by the limit of its controller',
      { engine: { ...waiting('RateLimited'), memory: { reservedMs: nowMs } } },
      [
        'In 30s: the rate limit of its controller lets others run first.',
        noResync,
        soonIn('as soon as its rate limit allows'),
      ],
    ],
    [
      'by its own limit',
      { engine: waiting('RateLimited') },
      ['In 30s: its own rate limit holds it back.', noResync, soonIn('as soon as its rate limit allows')],
    ],
    [
      'by its own limit, ahead of a retry',
      { engine: waiting('RateLimited', { ...failure, retryAtMs: nowMs + 90_000 }) },
      [
        'In 30s: its own rate limit holds it back.',
        'If that run fails, the retry after failure 3 comes at its time: in 90s.',
        noResync,
        soonIn('as soon as its rate limit allows'),
      ],
    ],
    [
      'by its own limit, until a retry is due',
      { engine: waiting('RateLimited', { ...failure, retryAtMs: nowMs + 30_000 }) },
      ['In 30s: its own rate limit holds it back.', noResync, soonIn('as soon as its rate limit allows')],
    ],
    [
      'of a controller with a debounce',
      { engine: waiting('Requeue'), controller: { debounceMs: 60_000 } },
      ['In 30s at the latest, as its last run asked for.', noResync, soonIn('within 60s, the time of its debounce')],
    ],
    ['after an edit that its predicate lets pass', letPass, ['No timer is set.', noResync, soon]],
    ['after a change', situations.changed, ['Now: its wake-up is in the queue, or on the way to it.', noResync, soon]],
    [
      'when something else asked for it',
      { engine: { wakeAtMs: nowMs + 10_000 } },
      ['No timer is set.', 'Another run was asked for: in 10s.', noResync, soon],
    ],
    [
      'while it is paused',
      situations.paused,
      ['No timer is set.', noResync, 'No change runs it before the pause ends.'],
    ],
    ['when others hold it', situations.held, ['No timer is set.', noResync]],
  ] satisfies readonly Row[])('%s', (_what, given, lines) => {
    expect(explainRequeue(factsOf(given))).toEqual(lines)
  })

  const resyncOf = (given: Given): string | undefined => explainRequeue(factsOf(given))[1]
  const annotated = (value: string): Given => ({ metadata: { annotations: { 'setpoint.dev/resync': value } } })
  /** When the wheel of an hour passes the object. */
  const passMs = (wheelSlot('uid-w') * 3_600_000) / wheelSlots
  const next = passMs > nowMs % 3_600_000 ? `in ${Math.floor(passMs / 60_000)}m` : 'in'

  it.each([
    ['each hour', { controller: { resyncMs: 3_600_000 } }, `The resync runs it every 60m: next ${next}`],
    [
      'each hour, while it fails',
      { controller: { resyncMs: 3_600_000 }, engine: waiting('Backoff', failure) },
      'The resync runs it every 60m: next in',
    ],
    [
      'never, by its annotation',
      { ...annotated('0'), controller: { resyncMs: 3_600_000 } },
      'There is no resync: by its own annotation setpoint.dev/resync.',
    ],
    [
      'by its annotation',
      annotated('1h'),
      'The resync runs it every 60m, by its own annotation setpoint.dev/resync: next in',
    ],
    [
      'by its annotation, when it fails no more',
      { ...annotated('1h'), engine: waiting('Backoff', failure) },
      'Once that wait is over, the resync runs it every 60m, by its own annotation setpoint.dev/resync.',
    ],
    [
      'by its annotation, when the remote API lets it',
      { ...annotated('1h'), engine: waiting('RetryAfter', failure) },
      'Once that wait is over, the resync runs it every 60m, by its own annotation setpoint.dev/resync.',
    ],
    [
      'by its annotation, whatever else it waits for',
      { ...annotated('1h'), engine: waiting('Requeue') },
      'The resync runs it every 60m, by its own annotation setpoint.dev/resync: next in',
    ],
  ] satisfies readonly (readonly [string, Given, string])[])('%s', (_what, given, line) => {
    expect(resyncOf(given)?.startsWith(line)).toBe(true)
  })

  it.each([
    ['1h', 0],
    ['soon', 1],
  ])('an annotation of %s is told of %d times as one without effect', (value, count) => {
    const told = explainRequeue(factsOf(annotated(value))).filter((line) => line.includes('which is not a duration'))
    expect(told).toEqual(
      count === 0
        ? []
        : ['Its annotation setpoint.dev/resync is "soon", which is not a duration such as 5m, so it has no effect.'],
    )
  })
})

describe('what it says of itself', () => {
  it('is its conditions, its last error and its events', () => {
    const event = { type: 'Normal', reason: 'Made', message: 'it was made', lastTimestamp: hoursAgo(1) }
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'Waiting', message: 'for parts', lastTransitionTime: hoursAgo(1) },
      { type: 'Stalled', status: 'False', reason: 'Fine', message: '', lastTransitionTime: '' },
    ]
    const events = [event, { ...event, lastTimestamp: undefined, message: undefined, count: 2 }]
    const facts = factsOf({
      status: { conditions },
      engine: waiting('Backoff', failure),
      facts: { events: events as never },
    })
    expect(explainReports(facts)).toEqual([
      'Ready=False, since 60m ago  Waiting: for parts',
      'Stalled=False  Fine',
      'Last error: no luck',
      'Events of the last hour:',
      '  60m ago  Normal Made: it was made',
      '  at an unknown time  Normal Made (2 times)',
    ])
  })

  it('may be nothing', () => {
    expect(explainReports(factsOf({ status: { conditions: [] } }))).toEqual([
      'It has no conditions.',
      'No events in the last hour.',
    ])
  })
})

it('of a pause and of others’ finalizers both are told', () => {
  expect(explainAction(factsOf({ metadata: { ...deleted, ...paused, finalizers: ['test/ours', 'x/one'] } }))).toEqual([
    'None while the object is paused.',
    stays,
  ])
})
