import { afterEach, describe, expect, it } from 'vitest'
import {
  again,
  and,
  annotationsChanged,
  ConfigMap,
  defineReconciler,
  done,
  generationChanged,
  labelsChanged,
  mapped,
  matchesLabels,
  not,
  or,
  owned,
  reference,
  resourceVersionChanged,
  Secret,
  type ConfigMapObject,
  type Context,
  type Outcome,
  type Predicate,
} from '../../shared/index.ts'
import { awsEngine } from '../../shared/testing-aws/aws-engine.ts'
import { createTestEnv, type TestEnv, type TestEnvOptions } from '../../shared/testing/test-env.ts'
import {
  timesOf,
  Widget,
  widgets,
  widgetOf,
  type RunRecord,
  type WidgetObject,
  type WidgetStatus,
} from './support/widgets.ts'

/** What wakes a controller, and what does not. */

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

const createWidget = (name = 'w', labels: Record<string, string> = {}): Promise<unknown> =>
  env.apply(Widget, { metadata: { name, labels }, spec: {} })

/** The names of the widgets that ran since. */
async function ranSince(before: number): Promise<readonly string[]> {
  await env.settle()
  return runs.slice(before).map(({ name }) => name)
}

const partsOf = (widget: WidgetObject) => widget.spec.partsRef

describe('for, owns and watches', () => {
  it('A13 a change of a primary wakes its own key and no other', async () => {
    env = await createTestEnv({ reconcilers: [widgets((runs = []))] })
    await createWidget('a')
    await createWidget('b')
    expect(await ranSince(0)).toEqual(['a', 'b'])
    await env.patch(Widget, 'b', { spec: { size: 7 } })
    expect(await ranSince(2)).toEqual(['b'])
  })

  it('A14 a change of a child wakes its controlling owner, and no other owner', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async (widget, ctx) => {
            if (widget.metadata.name === 'a') await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: {} })
            return done()
          },
          { owns: [ConfigMap] },
        ),
      ],
    })
    await createWidget('a')
    await createWidget('b')
    await env.settle()
    const b = await widgetOf(env, 'b')
    const child = await env.get(ConfigMap, 'child')
    const second = { apiVersion: b.apiVersion, kind: b.kind, name: 'b', uid: b.metadata.uid }
    await env.patch(ConfigMap, 'child', {
      metadata: { ownerReferences: [...(child?.metadata.ownerReferences ?? []), second] },
    })
    await env.settle()
    const before = runs.length
    await env.patch(ConfigMap, 'child', { data: { by: 'hand' } })
    expect(await ranSince(before)).toEqual(['a'])
  })

  it('A14 what takes a child from its owner wakes that one, and the next, each once', async () => {
    const counting = async ({ metadata: { name } }: WidgetObject, ctx: Context) => {
      if (name === 'a' && runs.length === 1) await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: {} })
      return done()
    }
    env = await createTestEnv({ reconcilers: [widgets((runs = []), counting, { owns: [ConfigMap] })] })
    await createWidget('a')
    await createWidget('b')
    await env.settle()
    const b = await widgetOf(env, 'b')
    const next = { apiVersion: b.apiVersion, kind: b.kind, name: 'b', uid: b.metadata.uid, controller: true }
    for (const { given, wakes } of [
      { given: { metadata: { ownerReferences: [next] } }, wakes: ['a', 'b'] },
      { given: { data: { by: 'hand' } }, wakes: ['b'] },
      { given: { metadata: { ownerReferences: [] } }, wakes: ['b'] },
      { given: undefined, wakes: [] },
    ]) {
      const before = runs.length
      await (given === undefined ? env.delete(ConfigMap, 'child') : env.patch(ConfigMap, 'child', given))
      expect((await ranSince(before)).toSorted()).toEqual(wakes)
    }
  })

  it('A15 B18 a change of a ConfigMap wakes those who refer to it, also to its creation and its removal', async () => {
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), () => done(), { watches: [reference(ConfigMap, partsOf)] })],
    })
    for (const name of ['a', 'b']) {
      await env.apply(Widget, { metadata: { name }, spec: { partsRef: { name: 'parts' } } })
    }
    await createWidget('c')
    await env.settle()
    for (const act of [
      () => env.apply(ConfigMap, { metadata: { name: 'parts' }, data: { a: '1' } }),
      () => env.patch(ConfigMap, 'parts', { data: { a: '2' } }),
      () => env.delete(ConfigMap, 'parts'),
    ]) {
      const before = runs.length
      await act()
      expect((await ranSince(before)).toSorted()).toEqual(['a', 'b'])
    }
    await env.patch(Widget, 'a', { spec: { partsRef: { name: 'others' } } })
    await env.settle()
    const before = runs.length
    await env.apply(ConfigMap, { metadata: { name: 'parts' }, data: {} })
    expect(await ranSince(before)).toEqual(['b'])
  })

  it('A15 a run whose status begins to name another object misses no change of it, and runs once more', async () => {
    const seen: (string | undefined)[] = []
    const reading = async (_widget: WidgetObject, ctx: Context): Promise<Outcome<WidgetStatus>> => {
      seen.push((await ctx.get(ConfigMap, 'late'))?.data?.['a'])
      // The relay has not noted the reference yet, so this change wakes no Widget.
      if (seen.length === 1) await env.patch(ConfigMap, 'late', { data: { a: '2' } })
      return done({ status: { seen: 'late' } })
    }
    const named = ({ status }: WidgetObject) => (status?.seen === undefined ? undefined : { name: status.seen })
    const watches = [reference(ConfigMap, named)]
    env = await createTestEnv({ reconcilers: [widgets((runs = []), reading, { watches })] })
    await env.apply(ConfigMap, { metadata: { name: 'late' }, data: { a: '1' } })
    await createWidget()
    await env.settle()
    expect(seen).toEqual(['1', '2'])
    await env.patch(ConfigMap, 'late', { data: { a: '3' } })
    await env.settle()
    expect(seen).toEqual(['1', '2', '3'])
  })

  it('A15 a map function names who is woken: each once, those of before and those of now', async () => {
    const named = (config: { readonly data?: Readonly<Record<string, string>> }) =>
      (config.data?.['for'] ?? '')
        .split(' ')
        .filter(Boolean)
        .map((name) => ({ name }))
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), () => done(), { watches: [mapped(ConfigMap, named)] })],
    })
    for (const name of ['a', 'b', 'c']) await createWidget(name)
    await env.settle()
    const steps = [
      { act: () => env.apply(ConfigMap, { metadata: { name: 'm' }, data: { for: 'a b a a' } }), wakes: ['a', 'b'] },
      { act: () => env.patch(ConfigMap, 'm', { data: { for: 'c absent' } }), wakes: ['a', 'b', 'c'] },
      { act: () => env.patch(ConfigMap, 'm', { data: { other: '1' } }), wakes: ['c'] },
      { act: () => env.delete(ConfigMap, 'm'), wakes: ['c'] },
    ]
    for (const { act, wakes } of steps) {
      const before = runs.length
      await act()
      expect((await ranSince(before)).toSorted()).toEqual(wakes)
    }
  })

  it('A15 those of before are woken though the process dies on the way', async () => {
    const named = (config: { readonly data?: Readonly<Record<string, string>> }) => ({
      name: config.data?.['for'] ?? '',
    })
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), () => done(), { watches: [mapped(ConfigMap, named)] })],
    })
    for (const name of ['a', 'b']) await createWidget(name)
    await env.apply(ConfigMap, { metadata: { name: 'm' }, data: { for: 'a' } })
    await env.advance('10s')
    const before = runs.length
    env.faults.once('queue:widget.send', { kind: 'crash' })
    await env.patch(ConfigMap, 'm', { data: { for: 'b' } }).catch(() => {})
    expect((await ranSince(before)).toSorted()).toEqual(['a', 'b'])
  })

  const engines: readonly { readonly on: string; readonly options: TestEnvOptions }[] = [
    { on: 'SQLite', options: {} },
    { on: 'DynamoDB', options: { engine: awsEngine } },
  ]

  /** Widgets `a` and `b`, and a config that is mapped to `a`. */
  async function startMapped(options: TestEnvOptions): Promise<void> {
    const named = ({ data }: ConfigMapObject) => ({ name: data?.['for'] ?? '' })
    env = await createTestEnv({
      ...options,
      reconcilers: [widgets((runs = []), () => done(), { watches: [mapped(ConfigMap, named)] })],
    })
    for (const name of ['a', 'b']) await createWidget(name)
    await env.apply(ConfigMap, { metadata: { name: 'm' }, data: { for: 'a' } })
    await env.advance('1m')
  }

  async function wokenBy(act: () => Promise<unknown>): Promise<readonly string[]> {
    const before = runs.length
    await act()
    await env.advance('1m')
    return [...new Set(runs.slice(before).map(({ name }) => name))].toSorted()
  }

  /** A change at once behind the other: the relay learns of both when the object is gone. */
  const moves: Readonly<Record<string, () => Promise<unknown>>> = {
    'moved and then removed': async () => {
      await env.patch(ConfigMap, 'm', { data: { for: 'b' } })
      await env.delete(ConfigMap, 'm')
    },
    'moved, removed and made anew': async () => {
      await env.patch(ConfigMap, 'm', { data: { for: 'b' } })
      await env.delete(ConfigMap, 'm')
      await env.apply(ConfigMap, { metadata: { name: 'm' }, data: { for: 'b' } })
    },
  }

  it.each(engines.flatMap((one) => Object.keys(moves).map((move) => ({ ...one, move }))))(
    'A15 those of before are woken by what is $move, on $on',
    async ({ move, options }) => {
      await startMapped(options)
      const catchUp = env.faults.always('index.references', { kind: 'delay', ms: 1_000 })
      const woken = await wokenBy(async () => moves[move]?.())
      catchUp()
      expect(woken).toEqual(['a', 'b'])
    },
  )

  it.each(engines)('A15 those of before are woken by a move that lets a deleted object go, on $on', async (one) => {
    await startMapped(one.options)
    await env.patch(ConfigMap, 'm', { metadata: { finalizers: ['test.dev/kept'] } })
    await env.delete(ConfigMap, 'm')
    await env.advance('1m')
    const moved = { metadata: { finalizers: null }, data: { for: 'b' } }
    expect(await wokenBy(() => env.patch(ConfigMap, 'm', moved))).toEqual(['a', 'b'])
  })

  it('A16 a controller has exactly one primary kind, and a kind one controller', async () => {
    // @ts-expect-error -- a reconciler is for one kind
    expect(() => defineReconciler([Widget, ConfigMap], { reconcile: async () => done() })).toThrow(TypeError)
    const twice = [widgets([]), defineReconciler(Widget, { name: 'other', reconcile: async () => done() })]
    env = await createTestEnv()
    await expect(createTestEnv({ reconcilers: twice })).rejects.toThrow('a kind has one controller')
  })
})

describe('predicates', () => {
  const label = () => env.patch(Widget, 'w', { metadata: { labels: { app: 'web' } } })
  const annotate = () => env.patch(Widget, 'w', { metadata: { annotations: { note: 'x' } } })
  const spec = () => env.patch(Widget, 'w', { spec: { size: 9 } })
  const status = () => env.patch(Widget, 'w', { status: { seen: 'x' } }, { subresource: 'status' })
  const rows: readonly {
    readonly name: string
    readonly when: Predicate<unknown>
    readonly wakes: readonly ('label' | 'annotate' | 'spec')[]
    readonly because: string
  }[] = [
    { name: 'A17 D9 generationChanged', when: generationChanged, wakes: ['spec'], because: 'only the spec moves it' },
    { name: 'A18 D9 labelsChanged', when: labelsChanged, wakes: ['label'], because: 'only labels' },
    { name: 'A18 D9 annotationsChanged', when: annotationsChanged, wakes: ['annotate'], because: 'only annotations' },
    {
      name: 'A18 resourceVersionChanged',
      when: resourceVersionChanged,
      wakes: ['label', 'annotate', 'spec'],
      because: 'every change counts, but those of its own status',
    },
    {
      name: 'A18 matchesLabels',
      when: matchesLabels('app=web'),
      wakes: ['label', 'annotate', 'spec'],
      because: 'it matches from the first on',
    },
    {
      name: 'A18 or',
      when: or(labelsChanged, generationChanged),
      wakes: ['label', 'spec'],
      because: 'either is enough',
    },
    {
      name: 'A18 and',
      when: and(matchesLabels('app=web'), generationChanged),
      wakes: ['spec'],
      because: 'both must hold',
    },
    { name: 'A18 not', when: not(labelsChanged), wakes: ['annotate', 'spec'], because: 'the others' },
    {
      name: 'A18 D9 a custom one',
      when: ({ touched }) => touched.includes('spec'),
      wakes: ['spec'],
      because: 'it says so',
    },
  ]

  it.each(rows)('$name: $because', async ({ when, wakes }) => {
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => done(), { when })] })
    await createWidget()
    await env.settle()
    const woken: string[] = []
    for (const [name, act] of Object.entries({ label, annotate, spec, status })) {
      const before = runs.length
      await act()
      if ((await ranSince(before)).length > 0) woken.push(name)
    }
    expect(woken).toEqual(wakes)
  })

  it('A18 matchesLabels keeps back what does not match: before its label is there, and after it has another', async () => {
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), () => done(), { when: matchesLabels('app=web') })],
    })
    await createWidget()
    const steps = [
      { act: async () => {}, wakes: [] },
      { act: spec, wakes: [] },
      { act: annotate, wakes: [] },
      { act: label, wakes: ['w'] },
      { act: () => env.patch(Widget, 'w', { spec: { size: 10 } }), wakes: ['w'] },
      { act: () => env.patch(Widget, 'w', { metadata: { labels: { app: 'batch' } } }), wakes: [] },
      { act: () => env.patch(Widget, 'w', { spec: { size: 11 } }), wakes: [] },
    ]
    for (const { act, wakes } of steps) {
      const before = runs.length
      await act()
      expect(await ranSince(before)).toEqual(wakes)
    }
  })

  it('A17 a status write does not run its own controller, with or without a predicate', async () => {
    env = await createTestEnv({ reconcilers: [widgets((runs = []))] })
    await createWidget()
    expect(await ranSince(0)).toEqual(['w'])
    await status()
    expect(await ranSince(1)).toEqual([])
    // Of another manager, so that managedFields change too.
    await env.patch(Widget, 'w', { status: { seen: 'y' } }, { subresource: 'status', manager: 'somebody' })
    expect(await ranSince(1)).toEqual([])
    await spec()
    expect(await ranSince(1)).toEqual(['w'])
  })

  it('A18 each watch has its own', async () => {
    const owns = [owned(ConfigMap, { when: labelsChanged })]
    const watches = [reference(Secret, partsOf, { when: annotationsChanged })]
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async (_, ctx) => {
            await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: {} })
            return done()
          },
          { owns, watches },
        ),
      ],
    })
    await env.apply(Secret, { metadata: { name: 'parts' } })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { partsRef: { name: 'parts' } } })
    await env.settle()
    const steps = [
      { act: () => env.patch(ConfigMap, 'child', { data: { a: '1' } }), wakes: [] },
      { act: () => env.patch(ConfigMap, 'child', { metadata: { labels: { a: '1' } } }), wakes: ['w'] },
      { act: () => env.patch(Secret, 'parts', { metadata: { labels: { a: '1' } } }), wakes: [] },
      { act: () => env.patch(Secret, 'parts', { metadata: { annotations: { a: '1' } } }), wakes: ['w'] },
    ]
    for (const { act, wakes } of steps) {
      const before = runs.length
      await act()
      expect(await ranSince(before)).toEqual(wakes)
    }
  })

  it('A19 D10 none of them keeps back a timer, a retry, the resync, deletion or what is said to the engine', async () => {
    let fails = 0
    const cleaned: string[] = []
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        widgets(
          (runs = []),
          () => {
            if (fails-- > 0) throw new Error('no luck')
            return runs.length === 1 ? again('45s') : done()
          },
          {
            when: ({ type }) => type === 'added',
            resync: '1h',
            cleanup: async ({ metadata }) => {
              cleaned.push(metadata.name)
              return done()
            },
          },
        ),
      ],
    })
    await createWidget()
    await env.advance('45s')
    expect(timesOf(runs)).toEqual([0, 45_000])
    await spec()
    expect(await ranSince(2)).toEqual([])
    await env.advance('1h')
    expect(runs.length).toBe(3)
    fails = 1
    await env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': 'now' } } })
    expect(await ranSince(3)).toEqual(['w'])
    await env.advance('1s')
    expect(runs.length).toBe(5)
    await env.delete(Widget, 'w')
    await env.settle()
    expect(cleaned).toEqual(['w'])
  })

  it('one that throws is told of, lets the change pass and holds up nobody', async () => {
    const when = () => {
      throw new Error('what is this')
    }
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => done(), { when })] })
    await createWidget()
    expect(await ranSince(0)).toEqual(['w'])
    expect(env.logs).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'a predicate threw',
        fields: { controller: 'widget', error: 'Error: what is this' },
      }),
    )
  })
})

describe('debounce', () => {
  it('B2 five updates within a second are one run', async () => {
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => done(), { debounce: '1s' })] })
    await createWidget()
    await env.advance('1s')
    expect(runs).toHaveLength(1)
    for (let size = 2; size <= 6; size++) {
      await env.patch(Widget, 'w', { spec: { size } })
      await env.advance('200ms')
    }
    expect(timesOf(runs)).toEqual([0, 1_000])
    expect(runs.at(-1)).toMatchObject({ size: 6 })
    await env.advance('10s')
    expect(runs).toHaveLength(2)
  })

  it('B2 without it, those that come while a run goes on are one run', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (_, ctx) => {
          await ctx.sleep('1s')
          return done()
        }),
      ],
    })
    await createWidget()
    await env.settle()
    for (let size = 1; size <= 5; size++) await env.patch(Widget, 'w', { spec: { size } })
    await env.advance('10s')
    expect(runs).toMatchObject([{ size: 1 }, { size: 5 }])
  })
})
