import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { again, ConfigMap, done } from '../../shared/index.ts'
import { OperatingError } from '../../shared/model/errors.ts'
import type { Fault } from '../../shared/testing/faults.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget, widgets, type RunRecord } from './support/widgets.ts'
import { share } from '../support/strength.ts'

/**
 * Whatever happens in whatever order, once it stops happening everything comes to what was last asked for: edits, hands
 * in children, failing runs, calls of ports that fail, answer late or not at all, and crashes at any of them.
 */

const away = new OperatingError('UNAVAILABLE', 'away')
const names = ['a', 'b'] as const

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constant({ kind: 'error', error: away } as const),
  fc.constant({ kind: 'unknown', error: new OperatingError('WRITE_UNKNOWN', 'no answer') } as const),
  fc.record({ kind: fc.constant('delay' as const), ms: fc.integer({ min: 1, max: 3_000 }) }),
  fc.constant({ kind: 'crash' } as const),
)

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant('edit' as const), name: fc.constantFrom(...names), size: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('label' as const), name: fc.constantFrom(...names) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('spoil' as const), name: fc.constantFrom(...names) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('fail' as const), times: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('fault' as const),
      call: fc.constantFrom(
        'store.get',
        'store.replace',
        'store.create',
        'queue:widget.send',
        'queue:widget.hold',
        'queue:widget.settle',
        'queue:widget.wake',
        'relayed.save',
      ),
      fault,
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('crash' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.constantFrom(10, 500, 1_000, 7_000) }),
  },
)

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

describe('whatever happens', () => {
  it('everything comes to what was last asked for', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), fc.nat(), async (steps, seed) => {
        const fails = { left: 0 }
        const runs: RunRecord[] = []
        const env = await createTestEnv({
          seed,
          reconcilers: [
            widgets(
              runs,
              async (widget, ctx) => {
                if (fails.left-- > 0) throw new Error('no luck')
                const { name } = widget.metadata
                await ctx.apply(ConfigMap, { metadata: { name }, data: { size: String(widget.spec.size) } })
                return widget.spec.size % 4 === 3
                  ? again('20s', { status: { size: widget.spec.size }, ready: true })
                  : done({ status: { size: widget.spec.size } })
              },
              { owns: [ConfigMap] },
            ),
          ],
        })
        const wanted = new Map<string, number>()
        for (const one of steps) await act(env, one, { wanted, fails })
        env.faults.clear()
        fails.left = 0
        await env.advance('30m')
        for (const [name, size] of wanted) {
          expect(await env.get(Widget, name)).toMatchObject({ spec: { size }, status: { size } })
          expect(await env.get(ConfigMap, name)).toMatchObject({ data: { size: String(size) } })
        }
        await env.close()
      }),
      { numRuns: share(100) },
    )
  })
})

async function act(
  env: TestEnv,
  one: Step,
  { wanted, fails }: { readonly wanted: Map<string, number>; readonly fails: { left: number } },
): Promise<void> {
  if (one.act === 'pass') await env.advance(one.ms)
  else if (one.act === 'crash') await env.crash()
  else if (one.act === 'fail') fails.left = one.times
  else if (one.act === 'fault') env.faults.once(one.call, one.fault)
  else await request(env, one, wanted)
}

/** A request that is not answered may have been heard: what is wanted is then what is there. */
async function request(
  env: TestEnv,
  one: Extract<Step, { readonly name: string }>,
  wanted: Map<string, number>,
): Promise<void> {
  const asked = ask(env, one)
  const answered = asked.then(
    () => true,
    () => false,
  )
  await env.advance('3s')
  if (one.act !== 'edit') return void (await meanwhile(env, answered))
  if (await meanwhile(env, answered)) return void wanted.set(one.name, one.size)
  for (let tries = 0; tries < 5; tries++) {
    const found = env.get(Widget, one.name).then(
      (widget) => widget?.spec.size,
      () => {},
    )
    const size = await meanwhile(env, found)
    await env.advance('3s')
    if (size !== undefined) return void wanted.set(one.name, size)
  }
}

/** What is asked may meet one delay after the other: time goes on until it is answered. */
async function meanwhile<Result>(env: TestEnv, asked: Promise<Result>): Promise<Result> {
  let isOver = false
  void asked.then(() => (isOver = true))
  while (!isOver) await env.advance('1s')
  return asked
}

function ask(env: TestEnv, one: Extract<Step, { readonly name: string }>): Promise<unknown> {
  switch (one.act) {
    case 'edit':
      return env.apply(Widget, { metadata: { name: one.name }, spec: { size: one.size } })
    case 'label':
      return env.patch(Widget, one.name, { metadata: { labels: { at: String(env.nowMs()) } } })
    case 'spoil':
      return env.patch(ConfigMap, one.name, { data: { size: 'spoiled' } })
  }
}
