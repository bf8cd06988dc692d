import { describe, expect, it } from 'vitest'
import { done, type Controller } from '../../../../shared/index.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import { createUnendedRuns, type UnendedCounts } from '../../../../shared/runtime/local/unended-runs.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'

/** What happens in one process: runs that begin, runs that end, well or badly, and how the process ends. */
interface Life {
  readonly begins?: readonly string[]
  readonly ends?: readonly string[]
  readonly throws?: readonly string[]
  readonly by: 'poison' | 'stop'
  /** What is to be given up could not be written. */
  readonly isRefused?: true
}

const crash = (...begins: string[]): Life => ({ begins, by: 'poison' })

describe('ends of the process in a row are counted', () => {
  /** What stands for an object that was given up. */
  const given = 1_000
  const thrice = [crash('a'), crash('a'), crash('a')]
  it.for<[string, readonly Life[], Record<string, number>, Record<string, 'now' | 'before'>]>([
    ['for what is under way', [crash('a')], { a: 1 }, {}],
    ['for all that is under way', [crash('a', 'b')], { a: 1, b: 1 }, {}],
    ['for the same object once', [crash('a', 'a')], { a: 1 }, {}],
    ['up to three, which give it up', [crash('a'), crash('a'), crash('a', 'b')], { a: given, b: 1 }, { a: 'now' }],
    ['and each further one gives it up again', [...thrice, crash('a')], { a: given }, { a: 'now' }],
    ['and a start after a stop tells it only', [...thrice, { by: 'stop' }], { a: given }, { a: 'before' }],
    ['and so does one after the end of another', [...thrice, crash('b')], { a: given, b: 1 }, { a: 'before' }],
    [
      'and each start until it could be written',
      [...thrice, { by: 'stop', isRefused: true }],
      { a: given },
      { a: 'now' },
    ],
    ['and so does an end before that', [...thrice, { ...crash('a'), isRefused: true }], { a: given }, { a: 'now' }],
    [
      'for two in turns',
      [...thrice, crash('b'), crash('b'), crash('b')],
      { a: given, b: given },
      { a: 'before', b: 'now' },
    ],
    ['until a run of what was given up ends', [...thrice, { ends: ['a'], by: 'stop' }], {}, {}],
    ['though it did not run between', [crash('a'), crash('b'), crash('a')], { a: 2, b: 1 }, {}],
    ['but not when asked to end', [crash('a'), { begins: ['a', 'b'], by: 'stop' }], { a: 1 }, {}],
    ['until a run ends', [crash('a'), { ends: ['a'], by: 'stop' }], {}, {}],
    ['until a run fails, which is an end', [crash('a', 'b'), { throws: ['a'], by: 'stop' }], { b: 1 }, {}],
    ['from one on behind a run that ended', [crash('a'), crash('a'), { ends: ['a'], ...crash('a') }], { a: 1 }, {}],
  ])('%s', async ([, lives, counts, givenUp]) => {
    let known: UnendedCounts = new Map()
    for (const life of lives) known = await live(known, life)
    const runs = createUnendedRuns(known)
    const expected = Object.entries(givenUp).map(([name, when]) => ({
      loop: 'widget',
      key: keyOf(name),
      isGivenUp: when === 'before',
    }))
    const { runs: over, onGivenUp } = runs.takeGivenUp()
    expect([over, runs.takeGivenUp().runs]).toEqual([expected, []])
    for (const one of over) onGivenUp?.(one)
    expect(runs.counts()).toEqual(new Map(Object.entries(counts).map(([name, ends]) => [textOf(name), ends])))
  })

  it('for a thousand at most, those with most ends first', async () => {
    const many = Array.from({ length: 1_100 }, (_, i) => `n${i}`)
    const counts = await live(await live(new Map(), crash('last')), crash(...many, 'last'))
    expect(counts.size).toBe(1_000)
    expect(counts.get(textOf('last'))).toBe(2)
  })

  it('and whoever keeps them is told when one is taken away', async () => {
    let told = 0
    const runs = createUnendedRuns(await live(new Map(), crash('a')), () => told++)
    const [widget] = runs.follow([controllerOf(async () => done())])
    await run(widget, 'b')
    expect(told).toBe(0)
    await run(widget, 'a')
    await run(widget, 'a')
    expect(told).toBe(1)
  })

  it('of clean-ups, too', () => {
    const runs = createUnendedRuns(new Map())
    const [widget] = runs.follow([
      { ...controllerOf(async () => done()), cleanup: () => Promise.withResolvers<never>().promise },
    ])
    void widget?.cleanup?.(objectOf('a'), undefined as never)
    expect(runs.countsAtEnd()).toEqual(new Map([[textOf('a'), 1]]))
  })
})

/** The counts that a process leaves behind. */
async function live(
  known: UnendedCounts,
  { begins = [], ends = [], throws = [], by, isRefused }: Life,
): Promise<UnendedCounts> {
  let isOver = true
  const runs = createUnendedRuns(known)
  const [widget] = runs.follow([
    controllerOf(async ({ metadata: { name } }) => {
      if (!isOver) return Promise.withResolvers<never>().promise
      if (throws.includes(name)) throw new Error('not now')
      return done()
    }),
  ])
  const { runs: over, onGivenUp } = runs.takeGivenUp()
  for (const one of isRefused === true ? [] : over) onGivenUp?.(one)
  for (const name of [...ends, ...throws]) await run(widget, name).catch(() => {})
  isOver = false
  for (const name of begins) void run(widget, name)
  return by !== 'poison' ? runs.counts() : runs.countsAtEnd()
}

function controllerOf(reconcile: Controller['reconcile']): Controller {
  return { ...widgets([], () => done()), name: 'widget', reconcile }
}

async function run(controller: Controller | undefined, name: string): Promise<unknown> {
  return controller?.reconcile(objectOf(name), undefined as never)
}

function keyOf(name: string) {
  return { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name }
}

function textOf(name: string): string {
  return `widget/test.setpoint.dev/Widget/default/${name}`
}

function objectOf(name: string): ApiObject {
  const metadata = { name, namespace: 'default' } as ApiObject['metadata']
  return { apiVersion: 'test.setpoint.dev/v1', kind: 'Widget', metadata }
}
