import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { adviseOnSpecs, createRunAdvice } from '../../../../shared/engine/insight/run-advice.ts'
import { again, ConfigMap, defineKind, done, mapped, reference } from '../../../../shared/index.ts'
import type { Controller } from '../../../../shared/reconciler/controller.ts'
import type { Verdict } from '../../../../shared/reconciler/verdict.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'

it('of those that ask for runs, as many are remembered as may well be there, not all that ever did', () => {
  const given: string[] = []
  const adviseOn = createRunAdvice(widgets([]), (_, about) => given.push(about))
  const run = (name: string): void => {
    const { object, engine } = storedWidget(name)
    const ready = [{ type: 'Ready', status: 'True', reason: 'Reconciled', message: '', lastTransitionTime: '' }]
    const status = { observedGeneration: object.metadata.generation, conditions: ready }
    adviseOn({ stored: { object: { ...object, status }, engine }, verdict: again('1s'), ms: 1 })
  }
  for (let i = 0; i < 10; i++) run('often')
  expect(given).toEqual([expect.stringContaining('often')])
  for (let i = 0; i < 9; i++) run('gone')
  for (let i = 0; i < 20_000; i++) run(`w-${i}`)
  run('gone')
  expect(given).toHaveLength(1)
})

const failed: Verdict = { kind: 'failed', reason: 'R', message: 'e', quiet: false }

/** What is advised on runs of one object, each with its number. */
function advisedOn(
  runs: readonly { readonly verdict: Verdict; readonly ms?: number; readonly name?: string }[],
  {
    controller = widgets([]),
    isReady = true,
    sameErrors,
  }: { controller?: Controller; isReady?: boolean; sameErrors?: number } = {},
): readonly string[] {
  const advised: string[] = []
  let count = 0
  const adviseOn = createRunAdvice(controller, (name) => void advised.push(`${count} ${name}`))
  for (const { verdict, ms = 1, name = 'w' } of runs) {
    count++
    const { object } = storedWidget(name)
    const ready = {
      type: 'Ready',
      status: isReady ? 'True' : 'False',
      reason: 'R',
      message: '',
      lastTransitionTime: '',
    }
    const status = { observedGeneration: 1, conditions: [ready] }
    const failure = { failure: { attempt: 9, error: 'e', sameErrors } }
    const wait = { kind: 'Backoff', generation: 1, atMs: 0, ...failure }
    const engine = sameErrors === undefined ? {} : { wait }
    adviseOn({ stored: { object: { ...object, status }, engine } as never, verdict, ms })
  }
  return advised
}

const times = (count: number, verdict: Verdict) => Array.from({ length: count }, () => ({ verdict }))
const soon = again('59s')

describe('advice on runs', () => {
  it.each([
    [30_000, []],
    [30_001, ['1 LongRun']],
  ])('of a minute at most: one took %d ms', (ms, advised) => {
    expect(advisedOn([{ verdict: done(), ms }])).toEqual(advised)
  })

  it.each([
    [3, []],
    [4, ['1 RepeatedError']],
  ])('that failed the same way after %d equal failures', (sameErrors, advised) => {
    expect(advisedOn([{ verdict: failed }], { sameErrors })).toEqual(advised)
  })

  it.each([
    ['of a converged object', {}, ['10 SteadyRequeue', '20 SteadyRequeue']],
    ['of one that nothing can wake', { isReady: false }, []],
    [
      'of one that owns',
      { isReady: false, controller: widgets([], undefined, { owns: [ConfigMap] }) },
      ['10 Polling', '20 Polling'],
    ],
    [
      'of one that refers',
      {
        isReady: false,
        controller: widgets([], undefined, { watches: [reference(ConfigMap, () => ({ name: 'c' }))] }),
      },
      ['10 Polling', '20 Polling'],
    ],
    [
      'of one that maps',
      { isReady: false, controller: widgets([], undefined, { watches: [mapped(ConfigMap, () => ({ name: 'c' }))] }) },
      ['10 Polling', '20 Polling'],
    ],
  ])('that ask for another one again and again, %s', (_what, options, advised) => {
    expect(advisedOn(times(21, soon), options)).toEqual(advised)
  })

  it('is not given on what asks for another one later, or now and then', () => {
    expect(advisedOn(times(21, again('60s')))).toEqual([])
    expect(advisedOn([...times(9, soon), { verdict: done() }, ...times(9, soon)])).toEqual([])
    expect(advisedOn([...times(9, soon), { verdict: again('60s') }, ...times(10, soon)])).toEqual(['20 SteadyRequeue'])
    expect(advisedOn(Array.from({ length: 18 }, (_, i) => ({ verdict: soon, name: `w${i % 2}` })))).toEqual([])
    expect(advisedOn(Array.from({ length: 20 }, (_, i) => ({ verdict: soon, name: `w${i % 2}` })))).toEqual([
      '19 SteadyRequeue',
      '20 SteadyRequeue',
    ])
  })

  it('remembers ten thousand that ask, and forgets the one that asked least lately', () => {
    const others = (count: number) => Array.from({ length: count }, (_, i) => ({ verdict: soon, name: `o${i}` }))
    expect(advisedOn([...times(9, soon), ...others(9_999), ...times(1, soon)])).toEqual(['10009 SteadyRequeue'])
    expect(advisedOn([...times(9, soon), ...others(10_000), ...times(1, soon)])).toEqual([])
    // Asking again makes it the latest.
    const kept = [
      ...times(5, soon),
      ...others(9_999),
      ...times(4, soon),
      { verdict: soon, name: 'new' },
      ...times(1, soon),
    ]
    expect(advisedOn(kept)).toEqual(['10010 SteadyRequeue'])
  })
})

it('fields of a spec that are commands are told of', () => {
  const about: unknown[] = []
  const logger = {
    debug: () => {},
    info: () => {},
    warn: (_message: string, fields: object = {}) => void about.push((fields as { about?: unknown }).about),
    error: () => {},
    with: () => logger,
  }
  const kindOf = (spec: z.ZodType) => defineKind({ group: 'g.dev', version: 'v1', kind: 'Thing', spec })
  const names = ['restart', 'deleteNow', 'restartPolicy', 'size', 'command', 'syncNow']
  const spec = z.object(Object.fromEntries(names.map((name) => [name, z.string().optional()])))
  const kinds = [
    { ...kindOf(spec) },
    { ...kindOf(z.object({})) },
    { group: '', version: 'v1', kind: 'ConfigMap', namespaced: true },
  ]
  for (const kind of kinds)
    adviseOnSpecs([{ ...widgets([]), kind } as unknown as Controller], {
      logger,
      telemetry: createPrometheusTelemetry(),
      clock: { nowMs: () => 0, sleep: async () => {} },
    })
  // Of one name it is told once in an hour, and each counts.
  expect(about).toEqual(['Thing spec.restart'])
})
