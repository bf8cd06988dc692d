import * as z from 'zod'
import { afterEach, describe, expect, it } from 'vitest'
import {
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  stop,
  withReport,
  workflow,
  type Controller,
  type Kind,
  type ObjectMeta,
} from '../../shared/index.ts'
import type { StoredObject, Touched } from '../../shared/model/stored-object.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Part, Widget, writesOf } from './support/primary.ts'

/** Dependents as a graph: features F80 and F92 to F97. Parts are ready when somebody says that they are done. */

let env: TestEnv
afterEach(() => env.close())

const named = (primary: Widget, suffix: string) => ({ name: `${primary.metadata.name}-${suffix}` })
const isDone = (part: Part): boolean => part.status?.done === true

/** config → server → page, and a node apart. `color` says which nodes are wanted or fail. */
function chain(): Controller {
  const nodes = workflow(Widget, {
    config: {
      kind: ConfigMap,
      desired: (widget) => ({ metadata: named(widget, 'config'), data: { size: String(widget.spec.size) } }),
    },
    server: {
      kind: Part,
      dependsOn: ['config'],
      wantedWhen: ({ spec }) => spec.color !== 'closed',
      desired: (widget) => ({ metadata: named(widget, 'server'), spec: { of: widget.metadata.name } }),
      readyWhen: isDone,
    },
    page: {
      kind: Part,
      dependsOn: ['server'],
      desired: (widget) => ({ metadata: named(widget, 'page'), spec: {} }),
    },
    apart: {
      kind: ConfigMap,
      desired: (widget) => {
        if (widget.spec.color === 'broken') throw new Error('no ink left')
        if (widget.spec.color === 'refused') throw stop('NoInk', 'no ink is sold here')
        return { metadata: named(widget, 'apart'), data: {} }
      },
    },
  })
  return defineReconciler(Widget, { ...nodes })
}

async function start(
  controller: Controller,
  spec: { readonly size?: number; readonly color?: string } = {},
): Promise<void> {
  env = await createTestEnv({ reconcilers: [controller] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec })
  await env.settle()
}

const names = async (kind: Kind<{ readonly metadata: Readonly<ObjectMeta> }, unknown>) =>
  (await env.list(kind, 'default')).map(({ metadata }) => metadata.name)
const finish = (name: string) => env.patch(Part, name, { status: { done: true } }, { subresource: 'status' })
const readyOf = async () => (await env.get(Widget, 'w'))?.status?.conditions?.find(({ type }) => type === 'Ready')

describe('a dependent', () => {
  it('F92 is made as its primary wants it, belongs to it, and is put back when somebody changes it', async () => {
    await start(chain(), { size: 3 })
    expect(await env.get(ConfigMap, 'w-config')).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Widget', name: 'w', controller: true }] },
      data: { size: '3' },
    })
    await env.patch(ConfigMap, 'w-config', { data: { size: '4' } })
    await env.delete(ConfigMap, 'w-apart')
    await env.settle()
    expect(await env.get(ConfigMap, 'w-config')).toMatchObject({ data: { size: '3' } })
    expect(await names(ConfigMap)).toEqual(['w-apart', 'w-config'])
    await env.patch(Widget, 'w', { spec: { size: 5 } })
    await env.settle()
    expect(await env.get(ConfigMap, 'w-config')).toMatchObject({ data: { size: '5' } })
  })

  it('F92 that is as it should be is not written', async () => {
    await start(chain())
    await finish('w-server')
    await env.settle()
    const before = env.calls.filter(({ call }) => call === 'store.replace' || call === 'store.create').length
    await env.patch(Widget, 'w', { metadata: { annotations: { touched: 'yes' } } })
    await env.settle()
    expect(env.calls.filter(({ call }) => call === 'store.replace' || call === 'store.create')).toHaveLength(before + 1)
  })
})

describe('the graph', () => {
  it('F93 makes a node when what it depends on is ready, and says what it waits for', async () => {
    await start(chain())
    expect(await names(Part)).toEqual(['w-server'])
    expect(await readyOf()).toMatchObject({
      status: 'False',
      reason: 'DependentsNotReady',
      message: 'server is not ready',
    })
    await finish('w-server')
    await env.settle()
    expect(await names(Part)).toEqual(['w-page', 'w-server'])
    expect(await readyOf()).toMatchObject({ status: 'True' })
  })

  it('F93 deletes a node that is no longer wanted after those that depend on it, and makes them again', async () => {
    await start(chain())
    await finish('w-server')
    await env.settle()
    await env.patch(Part, 'w-page', { metadata: { finalizers: ['example.dev/slow'] } })
    await env.patch(Widget, 'w', { spec: { color: 'closed' } })
    await env.settle()
    expect((await env.get(Part, 'w-server'))?.metadata).not.toHaveProperty('deletionTimestamp')
    expect(await readyOf()).toMatchObject({ status: 'False', message: 'page is being deleted' })

    await env.patch(Part, 'w-page', { metadata: { finalizers: null } })
    await env.settle()
    expect(await names(Part)).toEqual([])
    expect(await names(ConfigMap)).toEqual(['w-apart', 'w-config'])
    expect(await readyOf()).toMatchObject({ status: 'True' })

    await env.patch(Widget, 'w', { spec: { color: 'open' } })
    await env.settle()
    expect(await names(Part)).toEqual(['w-server'])
  })

  it('F93 leaves a node alone while it is not active: its kind need not even be served', async () => {
    const Elsewhere: Kind = { group: 'elsewhere.dev', version: 'v1', kind: 'Thing', namespaced: true }
    const nodes = workflow(Widget, {
      thing: {
        kind: Elsewhere,
        activeWhen: ({ spec }) => spec.color === 'on',
        desired: (widget) => ({ metadata: named(widget, 'thing'), spec: {} }),
      },
      config: { kind: ConfigMap, desired: (widget) => ({ metadata: named(widget, 'config'), data: {} }) },
    })
    await start(defineReconciler(Widget, { ...nodes }))
    expect(await readyOf()).toMatchObject({ status: 'True' })
    await env.patch(Widget, 'w', { spec: { color: 'on' } })
    await env.settle()
    expect(await readyOf()).toMatchObject({ status: 'False', message: expect.stringMatching(/^thing: no kind Thing/) })
    const { definition } = defineKind({ group: 'elsewhere.dev', version: 'v1', kind: 'Thing', spec: z.object({}) })
    await env.applyManifest(JSON.parse(JSON.stringify(definition)))
    await env.advance('1m')
    expect(await names(Elsewhere)).toEqual(['w-thing'])
    await env.patch(Widget, 'w', { spec: { color: 'off' } })
    await env.settle()
    expect(await names(Elsewhere)).toEqual(['w-thing'])
  })

  /** A server that goes before its config, which it needs until it says that it is gone. */
  const serverUntil = (isGone: () => boolean) =>
    workflow(Widget, {
      config: {
        kind: ConfigMap,
        wantedWhen: ({ spec }) => spec.color !== 'closed',
        desired: (widget) => ({ metadata: named(widget, 'config'), data: {} }),
      },
      server: {
        kind: Part,
        dependsOn: ['config'],
        desired: (widget) => ({ metadata: named(widget, 'server'), spec: {} }),
        goneWhen: isGone,
      },
    })

  it('F93 waits with what a deleted node depends on until its own condition says that it is gone', async () => {
    let isGone = false
    const nodes = serverUntil(() => isGone)
    await start(defineReconciler(Widget, { ...nodes }))
    await env.delete(Widget, 'w')
    await env.advance('5m')
    expect(await names(Part)).toEqual([])
    expect(await names(ConfigMap)).toEqual(['w-config'])
    isGone = true
    await env.advance('1m')
    expect(await names(ConfigMap)).toEqual([])
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })

  it('F93 asks a node that is no longer wanted each minute whether it is gone, though nothing tells of it', async () => {
    let isGone = false
    const nodes = serverUntil(() => isGone)
    await start(defineReconciler(Widget, { ...nodes }))
    await env.patch(Widget, 'w', { spec: { color: 'closed' } })
    await env.advance('5m')
    expect([await names(Part), await names(ConfigMap)]).toEqual([[], ['w-config']])
    expect(await readyOf()).toMatchObject({ status: 'False', message: 'server is being deleted' })
    isGone = true
    await env.advance('1m')
    expect(await names(ConfigMap)).toEqual([])
    expect(await readyOf()).toMatchObject({ status: 'True' })
  })
})

describe('a failure', () => {
  it('F94 stops nothing that does not depend on it, is told by name, and is tried again', async () => {
    await start(chain(), { color: 'broken' })
    await finish('w-server')
    await env.settle()
    expect(await names(Part)).toEqual(['w-page', 'w-server'])
    expect(await readyOf()).toMatchObject({ status: 'False', message: 'apart: no ink left' })
    expect((await env.get(Widget, 'w'))?.status).toMatchObject({ reconcile: { waiting: 'Backoff' } })
    await env.patch(Widget, 'w', { spec: { color: 'blue' } })
    await env.settle()
    expect(await readyOf()).toMatchObject({ status: 'True' })
  })

  it('F94 that no retry helps is not retried', async () => {
    await start(chain(), { color: 'refused' })
    expect(await readyOf()).toMatchObject({ status: 'False', reason: 'NoInk', message: 'apart: no ink is sold here' })
    expect((await env.get(Widget, 'w'))?.status).toMatchObject({ reconcile: { waiting: 'Stopped' } })
  })

  it('F94 says of the primary what its error says, and where a slip was made', async () => {
    const fails = (size: number): never => {
      if (size === 2) throw new TypeError('a slip')
      const report = { conditions: { Inked: { status: 'False', reason: 'Dry' } }, retryWithin: '1m' } as const
      throw withReport(stop('NoInk', 'no ink is sold here'), report)
    }
    await start(
      defineReconciler(Widget, {
        ...workflow(Widget, { page: { kind: Part, desired: ({ spec }) => fails(spec.size) } }),
      }),
    )
    expect((await env.get(Widget, 'w'))?.status).toMatchObject({
      conditions: [{ type: 'Inked', status: 'False', reason: 'Dry' }, { type: 'Ready' }, { type: 'Stalled' }],
      reconcile: { waiting: 'Stopped', nextRunAt: '2026-01-01T00:01:00.000Z' },
    })
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    expect(env.logs.find(({ fields }) => fields['error'] === 'page: a slip')?.fields['stack']).toContain('j-workflow')
  })

  it('F94 is an object that two nodes want: one of them has it, and the other does not take it away', async () => {
    const node = { kind: ConfigMap, desired: () => ({ metadata: { name: 'both' }, data: {} }) }
    await start(defineReconciler(Widget, { ...workflow(Widget, { first: node, second: node }) }))
    await env.advance('10s')
    expect(await env.get(ConfigMap, 'both')).toMatchObject({
      metadata: { labels: { 'setpoint.dev/dependent': 'first' } },
    })
    const message = 'second: it wants ConfigMap both, which first wants, too'
    const { conditions = [] } = (await env.get(Widget, 'w'))?.status ?? {}
    expect(conditions).toMatchObject([{ type: 'Ready', status: 'False', message }])
  })

  it('F94 of several nodes are all told', async () => {
    const fails = (what: string) => () => Promise.reject(new Error(what))
    const nodes = workflow(Widget, {
      one: { kind: Part, desired: fails('one is broken') },
      two: { kind: Part, wantedWhen: fails('nobody knows'), desired: () => [] },
      three: { kind: Part, dependsOn: ['one'], desired: fails('never asked') },
    })
    await start(defineReconciler(Widget, { ...nodes }))
    expect(await readyOf()).toMatchObject({ message: 'two: nobody knows; one: one is broken' })
  })
})

describe('a node of many objects', () => {
  const many = (): Controller =>
    defineReconciler(Widget, {
      ...workflow(Widget, {
        parts: {
          kind: Part,
          desired: ({ spec }) =>
            Array.from({ length: spec.size }, (_, i) => ({ metadata: { name: `part-${i}` }, spec: {} })),
          readyWhen: isDone,
        },
        others: { kind: Part, desired: () => ({ metadata: { name: 'other' }, spec: {} }) },
      }),
    })

  it('F95 has as many as are wanted, takes away the rest, and leaves those of others', async () => {
    await start(many(), { size: 3 })
    await env.apply(Part, { metadata: { name: 'part-9' }, spec: {} })
    expect(await names(Part)).toEqual(['other', 'part-0', 'part-1', 'part-2', 'part-9'])
    await env.patch(Widget, 'w', { spec: { size: 1 } })
    await env.settle()
    expect(await names(Part)).toEqual(['other', 'part-0', 'part-9'])
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    expect(await names(Part)).toEqual(['other', 'part-0', 'part-1', 'part-9'])
  })

  it('F95 is ready when all of them are', async () => {
    await start(many(), { size: 2 })
    await finish('part-0')
    await env.settle()
    expect(await readyOf()).toMatchObject({ status: 'False', message: 'parts is not ready' })
    await finish('part-1')
    await env.settle()
    expect(await readyOf()).toMatchObject({ status: 'True' })
  })

  it('F95 that fails for one is done for the others', async () => {
    env = await createTestEnv({ reconcilers: [many()] })
    const isPart0 = ([stored]: readonly unknown[]): boolean =>
      (stored as StoredObject).object.metadata.name === 'part-0'
    const mend = env.faults.always('store.create', { kind: 'error', error: new Error('disk full') }, isPart0)
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 3 } })
    await env.settle()
    expect(await names(Part)).toEqual(['other', 'part-1', 'part-2'])
    mend()
    await env.advance('1m')
    expect(await names(Part)).toEqual(['other', 'part-0', 'part-1', 'part-2'])
  })
})

describe('a node whose objects are in several namespaces', () => {
  const Tenant = defineKind({
    group: 'test.setpoint.dev',
    version: 'v1',
    kind: 'Tenant',
    scope: 'Cluster',
    spec: z.object({ namespaces: z.array(z.string()) }),
  })
  const tenants = (): Controller =>
    defineReconciler(Tenant, {
      ...workflow(Tenant, {
        config: {
          kind: ConfigMap,
          desired: ({ spec }) =>
            spec.namespaces.map((namespace) => ({ metadata: { name: 'config', namespace }, data: {} })),
        },
      }),
    })

  it('F95 tells them apart by name and namespace', async () => {
    env = await createTestEnv({ reconcilers: [tenants()] })
    for (const name of ['a', 'b']) await env.applyManifest({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    const placesFor = async (...namespaces: string[]) => {
      await env.apply(Tenant, { metadata: { name: 't' }, spec: { namespaces } })
      await env.settle()
      return (await env.list(ConfigMap)).map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
    }
    expect(await placesFor('a', 'b')).toEqual(['a/config', 'b/config'])
    expect(await placesFor('b')).toEqual(['b/config'])
    expect(await placesFor('a')).toEqual(['a/config'])
  })
})

describe('a graph that changes', () => {
  const flow = (first: string, second?: string): Controller =>
    defineReconciler(Widget, {
      ...workflow(Widget, {
        first: { kind: Part, desired: async () => ({ metadata: { name: first }, spec: {} }) },
        second: {
          kind: Part,
          wantedWhen: () => second !== undefined,
          desired: async () => {
            // What it wants takes a while to find out.
            await new Promise((resolve) => setTimeout(resolve, 5))
            return { metadata: { name: second ?? 'none' }, spec: {} }
          },
        },
        third: { kind: Part, wantedWhen: () => second === undefined, desired: () => [] },
      }),
    })

  it('F93 has an object move from one node to another as it is', async () => {
    await start(flow('main'))
    const before = await env.get(Part, 'main')
    await env.crash([flow('other', 'main')])
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    expect(await names(Part)).toEqual(['main', 'other'])
    expect(await env.get(Part, 'main')).toMatchObject({
      metadata: { uid: before?.metadata.uid, labels: { 'setpoint.dev/dependent': 'second' } },
    })
    await env.crash([flow('main')])
    await env.patch(Widget, 'w', { spec: { size: 3 } })
    await env.settle()
    expect(await env.list(Part, 'default')).toMatchObject([{ metadata: { uid: before?.metadata.uid } }])
  })
})

describe('things outside', () => {
  /** A system outside that gives its entities ids of its own. */
  function createVendor() {
    const entities = new Map<string, string>()
    const calls: string[] = []
    return {
      entities,
      calls,
      create: async (label: string) => {
        const id = `id-${calls.push(`create ${label}`)}`
        entities.set(id, label)
        return id
      },
      update: async (id: string, label: string) => {
        calls.push(`update ${id}`)
        entities.set(id, label)
      },
      remove: async (id: string) => {
        calls.push(`remove ${id}`)
        entities.delete(id)
      },
    }
  }

  const Seat = defineKind({
    group: 'test.setpoint.dev',
    version: 'v1',
    kind: 'Seat',
    spec: z.object({ label: z.string() }),
    status: z.object({ id: z.string() }),
  })

  /** One entity for each object, whose status holds the id. Equal entities are not written. */
  const seats = (vendor: ReturnType<typeof createVendor>): Controller =>
    defineReconciler(Seat, {
      resync: '1m',
      async reconcile({ spec: { label }, status }, ctx) {
        const known = status?.id !== undefined && vendor.entities.has(status.id) ? status.id : undefined
        const id = known ?? (await ctx.once('create', () => vendor.create(label), { of: status?.id ?? null }))
        if (vendor.entities.get(id) !== label) await vendor.update(id, label)
        return done({ status: { id } })
      },
      async cleanup({ status }) {
        if (status?.id !== undefined) await vendor.remove(status.id)
        return done()
      },
    })

  const halls = (): Controller =>
    defineReconciler(Widget, {
      ...workflow(Widget, {
        seats: {
          kind: Seat,
          desired: ({ spec: { size, color = 'red' } }) =>
            Array.from({ length: size }, (_, i) => ({
              metadata: { name: `seat-${i}` },
              spec: { label: `${color} ${i}` },
            })),
          readyWhen: ({ status }) => status?.id !== undefined,
        },
      }),
    })

  const labels = (vendor: ReturnType<typeof createVendor>) => [...vendor.entities.values()].toSorted()

  it('F96 are nodes by a kind of their own: each keeps its id in an object, and an equal one is left alone', async () => {
    const vendor = createVendor()
    env = await createTestEnv({ reconcilers: [halls(), seats(vendor)] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 2 } })
    await env.settle()
    expect((await env.list(Seat, 'default')).map(({ status }) => status?.id)).toEqual(['id-1', 'id-2'])
    expect(await readyOf()).toMatchObject({ status: 'True' })
    await env.crash()
    await env.advance('10m')
    expect(vendor.calls).toEqual(['create red 0', 'create red 1'])

    await env.patch(Widget, 'w', { spec: { color: 'blue' } })
    await env.settle()
    expect(labels(vendor)).toEqual(['blue 0', 'blue 1'])
    vendor.entities.set('id-2', 'painted over')
    await env.advance('2m')
    expect(labels(vendor)).toEqual(['blue 0', 'blue 1'])
  })

  it('F96 of which there are fewer go outside too, and so do all at the end', async () => {
    const vendor = createVendor()
    env = await createTestEnv({ reconcilers: [halls(), seats(vendor)] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 3 } })
    await env.settle()
    await env.patch(Widget, 'w', { spec: { size: 1 } })
    await env.settle()
    expect(labels(vendor)).toEqual(['red 0'])
    await env.delete(Widget, 'w')
    await env.settle()
    expect(labels(vendor)).toEqual([])
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })
})

describe('the end', () => {
  it('F80 comes in the reverse order, and the primary last', async () => {
    await start(chain())
    await finish('w-server')
    await env.settle()
    for (const name of ['w-page', 'w-server'])
      await env.patch(Part, name, { metadata: { finalizers: ['example.dev/slow'] } })
    await env.delete(Widget, 'w')
    await env.settle()
    const isMarked = async (name: string) => (await env.get(Part, name))?.metadata.deletionTimestamp !== undefined
    expect([await isMarked('w-page'), await isMarked('w-server')]).toEqual([true, false])
    expect(await names(ConfigMap)).toEqual(['w-config'])
    expect(await readyOf()).toMatchObject({ status: 'False', message: 'page is being deleted' })

    await env.patch(Part, 'w-page', { metadata: { finalizers: null } })
    await env.settle()
    expect([await isMarked('w-server'), await names(ConfigMap)]).toEqual([true, ['w-config']])

    await env.patch(Part, 'w-server', { metadata: { finalizers: null } })
    await env.settle()
    expect([await names(Part), await names(ConfigMap)]).toEqual([[], []])
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })

  it('F80 asks no node whether it is wanted: what that depends on may be gone', async () => {
    const nodes = workflow(Widget, {
      config: {
        kind: ConfigMap,
        wantedWhen: async (_, ctx) => {
          const switches = await ctx.get(ConfigMap, 'switches')
          if (switches === undefined) throw new Error('there are no switches')
          return switches.data?.['config'] === 'on'
        },
        desired: (widget) => ({ metadata: named(widget, 'config'), data: {} }),
      },
    })
    env = await createTestEnv({ reconcilers: [defineReconciler(Widget, { ...nodes })] })
    await env.apply(ConfigMap, { metadata: { name: 'switches' }, data: { config: 'on' } })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    expect(await names(ConfigMap)).toEqual(['switches', 'w-config'])
    await env.delete(ConfigMap, 'switches')
    await env.delete(Widget, 'w')
    await env.settle()
    expect([await names(ConfigMap), await env.get(Widget, 'w')]).toEqual([[], undefined])
  })

  /** Whether there were so many writes. */
  async function endWithCrashAt(nth: number): Promise<boolean> {
    await start(chain())
    await finish('w-server')
    await env.settle()
    let writes = 0
    const isTheNth = ([stored, touched]: readonly unknown[]): boolean => {
      const { kind, metadata } = (stored as StoredObject).object
      const isTheMark = kind === 'Widget' && (touched as Touched | undefined)?.includes('delete') === true
      return metadata.deletionTimestamp !== undefined && !isTheMark && ++writes === nth
    }
    for (const call of ['store.replace', 'store.remove']) env.faults.once(call, { kind: 'crash' }, isTheNth)
    await env.delete(Widget, 'w')
    // What the process had in hand comes again after its visibility timeout on AWS: six times what a function may take.
    await env.advance('10m')
    return writes >= nth
  }

  it('F80 leaves the dependents where the primary is deleted with orphan', async () => {
    await start(chain())
    await env.delete(Widget, 'w', { propagation: 'Orphan' })
    await env.eventually(async () => expect(await env.get(Widget, 'w')).toBeUndefined())
    await env.advance('2m')
    expect(await names(ConfigMap)).toEqual(['w-apart', 'w-config'])
    expect((await env.get(ConfigMap, 'w-config'))?.metadata.ownerReferences ?? []).toEqual([])
  })

  it('F80 is reached after a crash at any write', async () => {
    let crashes = 0
    while (await endWithCrashAt(crashes + 1)) {
      crashes++
      expect([await env.get(Widget, 'w'), await names(Part), await names(ConfigMap)]).toEqual([undefined, [], []])
      await env.close()
    }
    expect(crashes).toBeGreaterThan(4)
  })
})

describe('a name that somebody else has taken since', () => {
  it('F97 is not deleted with the object that had it before', async () => {
    const nodes = workflow(Widget, {
      first: { kind: ConfigMap, desired: (widget) => ({ metadata: named(widget, 'first'), data: {} }) },
      last: {
        kind: ConfigMap,
        dependsOn: ['first'],
        desired: (widget) => ({ metadata: named(widget, 'last'), data: {} }),
        goneWhen: async () => {
          if ((await env.get(ConfigMap, 'w-first'))?.data?.['whose'] === 'mine') return true
          await env.delete(ConfigMap, 'w-first')
          await env.apply(ConfigMap, { metadata: { name: 'w-first' }, data: { whose: 'mine' } })
          return true
        },
      },
    })
    await start(defineReconciler(Widget, { ...nodes }))
    await env.delete(Widget, 'w')
    await env.advance('2m')
    expect([await env.get(Widget, 'w'), (await env.get(ConfigMap, 'w-first'))?.data]).toEqual([
      undefined,
      { whose: 'mine' },
    ])
  })
})

describe('by hand', () => {
  it('F97 a reconciler may run the graph when it wants to, and report what became of it', async () => {
    const nodes = workflow(Widget, {
      part: { kind: Part, desired: (widget) => ({ metadata: named(widget, 'part'), spec: {} }), readyWhen: isDone },
    })
    const reconciler = defineReconciler(Widget, {
      owns: nodes.owns,
      reconcile: async (widget, ctx) => {
        if (widget.spec.color === undefined) throw stop('NoColor', 'it has no color')
        const { states, objects, ready } = await nodes.run(widget, ctx)
        return { kind: 'done', ready, status: { phase: states.part, size: objects.part.length } }
      },
    })
    await start(reconciler)
    expect(await names(Part)).toEqual([])
    await env.patch(Widget, 'w', { spec: { color: 'blue' } })
    await env.settle()
    expect((await env.get(Widget, 'w'))?.status).toMatchObject({ phase: 'notReady', size: 1 })
    await finish('w-part')
    await env.settle()
    expect((await env.get(Widget, 'w'))?.status).toMatchObject({ phase: 'ready', size: 1 })
    expect(writesOf(env, 'Part', 'w-part').filter(({ call }) => call === 'store.create')).toHaveLength(1)
  })
})
