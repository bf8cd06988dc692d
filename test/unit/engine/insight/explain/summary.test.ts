import { expect, it } from 'vitest'
import { advise, summarize } from '../../../../../shared/engine/insight/explain/summary.ts'
import type { ObjectSituation } from '../../../../../shared/engine/insight/explain/situation.ts'
import { deleted, factsOf, keyOfConfig, letPass, paused, situations, waiting, type Given } from './given-facts.ts'

const runNow =
  'kubectl annotate widgets.test.setpoint.dev w -n default setpoint.dev/reconcile-requested-at="$(date)" --overwrite'
const again = [`Look again at once:  ${runNow}`]
const busy = ['If this lasts, the workers are busy or stuck: see setpoint_queue_oldest_seconds at /metrics.']

/** What is said of an object in each situation, and what can be done. */
const said: Readonly<Record<ObjectSituation, readonly [readonly string[], readonly string[]]>> = {
  unattended: [['No reconciler handles Widget: the object is stored, and nothing acts on it.'], []],
  paused: [
    ['The object is paused: no run and no clean-up takes place.'],
    ['End the pause:  kubectl annotate widgets.test.setpoint.dev w -n default setpoint.dev/paused-'],
  ],
  held: [
    ['The object is being deleted and waits for the finalizers of others: x/one, y/two.'],
    [
      'Find out who owns the finalizers, and why they are not removed.',
      'Only if their owners are gone and need not clean up:  kubectl edit widgets.test.setpoint.dev w -n default',
    ],
  ],
  stopped: [
    ['The object has stopped, because another try would not help:', '  no luck'],
    ['Correct the cause above: an edit of the spec runs the object at once.', `Try again anyway:  ${runNow}`],
  ],
  failing: [
    ['The object has failed 3 times in a row; the next try is in 30s:', '  no luck'],
    [`Try at once:  ${runNow}`],
  ],
  toldToWait: [['The remote API asked to wait; the next try is in 30s:', '  no luck'], again],
  slowedDown: [['The object has reached its rate limit; the next run is in 30s.'], busy],
  inCircles: [
    ['The object runs in a loop and is slowed down; the next run is in 30s:', '  SpecChanges: spec.size'],
    ['Find out what changes the object so often: the slowing ends when the changes end.'],
  ],
  deleting: [['The object is being deleted: widget cleans up, and runs again in 30s.'], again],
  changed: [['A change waits for its run by widget.'], busy],
  notReady: [['No run failed, but the object is not ready:', '  Waiting: for parts'], again],
  asDesired: [['The object is as desired, since 60m ago.'], again],
}

it.each(Object.entries(said))('of an object that is %s', (name, [sentences, advice]) => {
  const facts = factsOf(situations[name as ObjectSituation])
  expect([summarize(facts), advise(facts)]).toEqual([sentences, advice])
})

const going = 'The object is being deleted, and its clean-up is not over.'

it.each([
  ['paused', { metadata: { ...deleted, ...paused } }, [going, ...said.paused[0]]],
  ['stopped', { ...situations.stopped, metadata: deleted }, [going, ...said.stopped[0]]],
  ['told to wait', { ...situations.toldToWait, metadata: deleted }, [going, ...said.toldToWait[0]]],
  ['slowed down', { ...situations.slowedDown, metadata: deleted }, [going, ...said.slowedDown[0]]],
  ['in circles', { ...situations.inCircles, metadata: deleted }, [going, ...said.inCircles[0]]],
  [
    'failing',
    { ...situations.failing, metadata: deleted },
    ['The clean-up of the object has failed 3 times in a row; the next try is in 30s:', '  no luck'],
  ],
])('an object on its way that is %s', (_what, given, sentences) => {
  expect(summarize(factsOf(given))).toEqual(sentences)
})

const missing = {
  shown: [
    { key: keyOfConfig('a'), object: undefined },
    { key: keyOfConfig('b'), object: {} },
  ],
  more: 0,
}

it.each([
  [
    'failed once',
    { engine: waiting('Backoff', { failure: { attempt: 1, error: 'e' } }) },
    'The object has failed once; the next try is in 30s:',
  ],
  [
    'failed, and nobody knows how often',
    { engine: waiting('Backoff') },
    'The object has failed once; the next try is in 30s:',
  ],
  [
    'is deleted, and waits for nothing',
    { metadata: deleted },
    'The object is being deleted: widget cleans up, and runs again with the next wake-up.',
  ],
  [
    'refers to what is damaged',
    { ...situations.notReady, facts: { references: { shown: [{ ...missing.shown[0], isDamaged: true }], more: 0 } } },
    'No run failed, but the object is not ready:',
  ],
  [
    'refers to what does not exist',
    { ...situations.notReady, facts: { references: missing } },
    'The object is not ready, and waits for what it refers to and does not exist: ConfigMap default/a.',
  ],
  [
    'reports nothing',
    { controller: { reportsStatus: false }, status: { conditions: [] } },
    'The object is as desired.',
  ],
] as readonly (readonly [string, Given, string])[])('an object that %s', (_what, given, sentence) => {
  expect(summarize(factsOf(given))[0]).toBe(sentence)
})

it.each([
  ['stopped without an error', { engine: waiting('Stopped') }, 1],
  ['in circles of which nothing is told', { engine: waiting('HotLoop') }, 1],
  ['not ready without a condition', { status: { conditions: [] } }, 1],
])('an object that is %s has no second line', (_what, given, count) => {
  expect(summarize(factsOf(given))).toHaveLength(count)
})

it.each([
  [undefined, false],
  [4, false],
  [5, true],
])('after %s equal failures it is said that they may be none: %j', (sameErrors, is) => {
  const failed = { failure: { attempt: 9, error: 'e', ...(sameErrors && { sameErrors }) } }
  const advice = advise(factsOf({ engine: waiting('Backoff', failed) }))
  expect(advice[0]?.startsWith(`The last ${sameErrors} failures said the same.`)).toBe(is)
  expect(advice).toHaveLength(is ? 2 : 1)
})

it('an edit that the predicate lets pass waits for no worker', () => {
  const passed = 'No run of widget has observed the last change: its `when` lets edits of the spec pass.'
  expect([summarize(factsOf(letPass)), advise(factsOf(letPass))]).toEqual([
    [passed],
    [`Look at it at once:  ${runNow}`],
  ])
})

it.each([
  ['that no run has observed yet', { ...letPass, status: { observedGeneration: undefined } }],
  ['whose predicate fails', { ...letPass, controller: { when: fail } }],
] satisfies readonly (readonly [string, Given])[])('an object %s waits for its run', (_what, given) => {
  expect([summarize(factsOf(given)), advise(factsOf(given))]).toEqual(said.changed)
})

function fail(): never {
  throw new Error('no')
}

it('nobody is told to edit the spec where the predicate of the reconciler lets edits pass', () => {
  const facts = factsOf({ ...situations.stopped, controller: { when: () => false } })
  expect(advise(facts)).toEqual([
    'Correct the cause above; an edit of the spec alone runs nothing.',
    `Then try again:  ${runNow}`,
  ])
})
