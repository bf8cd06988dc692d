import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { workflow, type ApiObject, type Context, type Dependent, type Kind } from '../../../../shared/index.ts'
import { InvariantError } from '../../../../shared/model/errors.ts'

/** Passes over a small graph, on children in memory. */

const named = (kind: string): Kind => ({ group: 'test.dev', version: 'v1', kind, namespaced: true })
const [App, Config, Server, Page] = ['App', 'Config', 'Server', 'Page'].map(named) as [Kind, Kind, Kind, Kind]

type Child = ApiObject & { readonly isReady?: boolean }

interface World {
  readonly ctx: Context
  readonly children: Map<string, Child[]>
  /** What was written, in order: `apply Server a`, `delete Server a`. */
  readonly did: string[]
  readonly read: string[]
  /** Children stay, and are being deleted. */
  holds: boolean
}

function childOf(node: string, name: string, more: object = {}): Child {
  return { metadata: { name, labels: { 'setpoint.dev/dependent': node }, ...more } } as unknown as Child
}

function createWorld(children: Readonly<Record<string, readonly Child[]>> = {}): World {
  const world: World = {
    children: new Map(Object.entries(children).map(([kind, some]) => [kind, [...some]])),
    did: [],
    read: [],
    holds: false,
    ctx: {
      children: async ({ kind }: Kind) => {
        world.read.push(kind)
        return [...(world.children.get(kind) ?? [])]
      },
      apply: async ({ kind }: Kind, object: Child) => {
        world.did.push(`apply ${kind} ${object.metadata.name}`)
        if (object.metadata.name === 'broken') throw new Error('it is broken')
        const others = (world.children.get(kind) ?? []).filter(
          ({ metadata: { name } }) => name !== object.metadata.name,
        )
        world.children.set(kind, [...others, object])
        return object
      },
      delete: async ({ kind }: Kind, at: { readonly name: string }) => {
        world.did.push(`delete ${kind} ${JSON.stringify(at)}`)
        const isOther = ({ metadata: { name } }: Child): boolean => name !== at.name
        if (!world.holds) world.children.set(kind, (world.children.get(kind) ?? []).filter(isOther))
        return true
      },
    } as unknown as Context,
  }
  return world
}

type Node = Dependent<ApiObject, Kind, 'config' | 'server' | 'page'>
type Nodes = Readonly<Record<'config' | 'server' | 'page', Node>>

const object = (name: string, more: object = {}): never => ({ metadata: { name, ...more } }) as never

function flowOf(changes: Partial<Record<keyof Nodes, Partial<Node>>> = {}) {
  const nodes: Nodes = {
    config: { kind: Config, desired: () => object('c'), ...changes.config },
    server: {
      kind: Server,
      dependsOn: ['config'],
      desired: () => [object('s', { labels: { mine: 'yes' } })],
      ...changes.server,
    },
    page: { kind: Page, dependsOn: ['server'], desired: () => object('p'), ...changes.page },
  }
  return workflow(App, nodes)
}

const primary = { metadata: { name: 'a' } } as unknown as ApiObject
const reason = 'DependentsNotReady'

describe('a pass', () => {
  it('makes each node after those it depends on, and marks its objects as its own', async () => {
    const { ctx, did, children } = createWorld()
    const { states, objects, ready } = await flowOf().run(primary, ctx)
    expect(did).toEqual(['apply Config c', 'apply Server s', 'apply Page p'])
    expect([states, ready]).toEqual([{ config: 'ready', server: 'ready', page: 'ready' }, true])
    expect(objects.server).toEqual([
      childOf('server', 's', { labels: { mine: 'yes', 'setpoint.dev/dependent': 'server' } }),
    ])
    expect(children.get('Page')).toEqual([childOf('page', 'p')])
  })

  it('begins a node once, although other nodes are made in the meantime', async () => {
    const { ctx, did } = createWorld()
    const desired = (): Promise<never> => setImmediate(object('s'))
    expect(await flowOf({ server: { dependsOn: [], desired } }).run(primary, ctx)).toMatchObject({ ready: true })
    expect(did).toEqual(['apply Config c', 'apply Server s', 'apply Page p'])
  })

  it('stops where an object is not ready, and names what is waited for', async () => {
    const { ctx, did } = createWorld()
    const told: unknown[] = []
    const flow = flowOf({
      server: {
        readyWhen: (...given) => {
          told.push(given)
          return false
        },
      },
    })
    expect(await flow.run(primary, ctx)).toMatchObject({
      states: { config: 'ready', server: 'notReady', page: 'waiting' },
      objects: { config: [{}], server: [{}], page: [] },
      ready: { reason, message: 'server is not ready' },
    })
    expect(did).toEqual(['apply Config c', 'apply Server s'])
    expect(told).toEqual([[expect.objectContaining({ metadata: expect.anything() }), primary]])
  })

  it('does not take a promise for ready', async () => {
    const flow = flowOf({ server: { readyWhen: (async () => false) as never } })
    const refused = 'server: readyWhen tells at once whether an object is ready, and not as a promise'
    await expect(flow.run(primary, createWorld().ctx)).rejects.toThrow(refused)
  })

  it('does not take what is being deleted for ready', async () => {
    const { ctx } = createWorld()
    const deletionTimestamp = '2026-01-01T00:00:00Z'
    const flow = flowOf({ page: { desired: () => object('p', { deletionTimestamp }) } })
    expect(await flow.run(primary, ctx)).toMatchObject({ states: { page: 'notReady' } })
  })

  it('deletes what a node no longer wants, and nothing else', async () => {
    const { ctx, did } = createWorld({
      Server: [
        childOf('server', 's'),
        childOf('server', 'old', { namespace: 'n' }),
        childOf('other', 'of another node'),
        childOf('server', 'going', { deletionTimestamp: 'x' }),
        { metadata: { name: 'of no node' } } as unknown as Child,
      ],
    })
    await flowOf().run(primary, ctx)
    expect(did.filter((one) => one.startsWith('delete'))).toEqual(['delete Server {"name":"old","namespace":"n"}'])
  })

  it('deletes after all is made, and nothing that another node wants, even if that has failed', async () => {
    const { ctx, did } = createWorld({
      Server: [childOf('server', 'broken', { namespace: 'n' }), childOf('server', 'old'), childOf('page', 'older')],
    })
    const given = { metadata: { name: 'a', namespace: 'n' } } as unknown as ApiObject
    const page = { kind: Server, dependsOn: [], desired: async () => object('broken') }
    await expect(flowOf({ page }).run(given, ctx)).rejects.toThrow('page: it is broken')
    expect(did).toEqual([
      'apply Config c',
      'apply Server broken',
      'apply Server s',
      'delete Server {"name":"old"}',
      'delete Server {"name":"older"}',
    ])
  })

  it.each([
    [true, { name: 'x', namespace: 'n' }, { name: 'x' }, false],
    [true, { name: 'x', namespace: 'm' }, { name: 'x' }, true],
    [false, { name: 'x', namespace: 'm' }, { name: 'x' }, false],
  ])('with a namespace: %j, lets two nodes have %j and %j: %j', async (namespaced, one, other, isAllowed) => {
    const given = { metadata: { name: 'a', namespace: 'n' } } as unknown as ApiObject
    const kind = { ...Server, namespaced }
    const flow = flowOf({
      server: { kind, desired: () => ({ metadata: one }) },
      page: { kind, desired: () => ({ metadata: other }) },
    })
    const run = flow.run(given, createWorld().ctx)
    if (isAllowed) expect(await run).toMatchObject({ ready: true })
    else await expect(run).rejects.toThrow('page: it wants Server x, which server wants, too')
  })

  it('says first why it could not be made, and then what else has failed', async () => {
    const { ctx } = createWorld({ Server: [childOf('server', 'old')] })
    const failing = () => ({ ...ctx, delete: () => Promise.reject(new Error('it stays')) }) as unknown as Context
    await expect(flowOf().run(primary, failing())).rejects.toThrow(/^server: it stays$/)
    const server = { desired: () => object('broken') }
    await expect(flowOf({ server }).run(primary, failing())).rejects.toThrow(/^server: it is broken$/)
  })

  it('reads the children of a kind once', async () => {
    const { ctx, read } = createWorld()
    await flowOf({ server: { kind: Config }, page: { kind: Config } }).run(primary, ctx)
    expect(read).toEqual(['Config'])
  })

  it.each<[string, Partial<Node>, object, readonly string[]]>([
    ['unwanted', { wantedWhen: () => false }, { server: 'gone', page: 'gone' }, ['delete Page p', 'delete Server s']],
    ['inactive', { activeWhen: async () => false }, { server: 'inactive', page: 'gone' }, ['delete Page p']],
    ['wanted', { wantedWhen: () => true, activeWhen: () => true }, { server: 'ready', page: 'ready' }, []],
  ])('whose second node is %s', async (_what, server, states, deleted) => {
    const { ctx, did } = createWorld({ Server: [childOf('server', 's')], Page: [childOf('page', 'p')] })
    const result = await flowOf({ server }).run(primary, ctx)
    expect(result.states).toEqual({ config: 'ready', ...states })
    expect(result.ready).toBe(true)
    const done = did.filter((one) => one.startsWith('delete')).map((one) => one.replace(/\{"name":"(.*)"\}/, '$1'))
    expect(done).toEqual(deleted)
  })

  it('waits for what is going, and says so', async () => {
    const world = createWorld({ Server: [childOf('server', 's')], Page: [childOf('page', 'p')] })
    world.holds = true
    expect(await flowOf({ server: { wantedWhen: () => false } }).run(primary, world.ctx)).toMatchObject({
      states: { server: 'waiting', page: 'going' },
      ready: { reason, message: 'page is being deleted' },
    })
    expect(world.did.toSorted()).toEqual(['apply Config c', 'delete Page {"name":"p"}'])
  })

  it.each([
    [true, { page: 'gone', server: 'gone' }],
    [false, { page: 'going', server: 'waiting' }],
  ])('takes a node for gone when its own word says so: %j', async (isGone, states) => {
    const world = createWorld({ Page: [childOf('page', 'p')] })
    world.holds = isGone
    const flow = flowOf({ server: { wantedWhen: () => false }, page: { goneWhen: async () => isGone } })
    expect((await flow.run(primary, world.ctx)).states).toMatchObject(states)
  })
})

describe('what fails in a pass', () => {
  it.each<[string, Partial<Node>, string]>([
    ['an object', { desired: () => object('broken') }, 'server: it is broken'],
    ['what is desired', { desired: () => Promise.reject(new Error('no idea')) }, 'server: no idea'],
    ['a condition', { wantedWhen: () => Promise.reject(new Error('who knows')) }, 'server: who knows'],
    [
      'what is left out',
      { desired: () => undefined as never },
      'server: desired returns an object with metadata, or a list of them, and not undefined: wantedWhen says',
    ],
    [
      'what is left out of a list',
      { desired: () => JSON.parse('[null]') as never },
      'and not null: wantedWhen says that none is',
    ],
    [
      'an object that is wanted twice',
      { desired: () => [object('x'), object('x')] },
      'server wants the same object twice',
    ],
  ])('is the node that fails: %s; the others go on', async (_what, server, message) => {
    const { ctx, did } = createWorld({ Page: [childOf('page', 'p')] })
    await expect(flowOf({ server, page: { dependsOn: ['config'] } }).run(primary, ctx)).rejects.toThrow(message)
    expect(did.filter((one) => !one.includes('Server'))).toEqual(['apply Config c', 'apply Page p'])
  })

  it('is no node if an invariant is broken', async () => {
    const broken = new InvariantError('impossible')
    const flow = flowOf({ server: { wantedWhen: () => Promise.reject(broken) } })
    await expect(flow.run(primary, createWorld().ctx)).rejects.toBe(broken)
  })
})

describe('a second workflow in one run', () => {
  const other = (name: string, kind: Kind) => workflow(App, { [name]: { kind, desired: () => object('o') } })

  it.each(['run', 'tearDown'] as const)('is refused if both have a node of one kind and name: %s', async (verb) => {
    const { ctx, did } = createWorld()
    const flow = flowOf()
    await flow.run(primary, ctx)
    await flow.run(primary, ctx)
    const before = did.length
    const refused = 'another workflow of this run has a node page of Page, too: give one another name'
    await expect(other('page', Page)[verb](primary, ctx)).rejects.toThrow(new TypeError(refused))
    expect(did).toHaveLength(before)
    expect(await other('page', Page).run(primary, createWorld().ctx)).toMatchObject({ ready: true })
  })

  it('may have other names, or other kinds', async () => {
    const { ctx, children } = createWorld()
    await flowOf().run(primary, ctx)
    for (const flow of [other('more', Page), other('page', Server)])
      expect(await flow.run(primary, ctx)).toMatchObject({ ready: true })
    expect(children.get('Page')?.map(({ metadata: { name } }) => name)).toEqual(['p', 'o'])
  })
})

describe('a workflow', () => {
  it('as a reconciler is ready when every node is', async () => {
    expect(await flowOf().reconcile(primary, createWorld().ctx)).toEqual({ kind: 'done', ready: true })
    const flow = flowOf({ page: { readyWhen: () => false } })
    expect(await flow.reconcile(primary, createWorld().ctx)).toMatchObject({ ready: { reason } })
  })

  it.each<[string, Partial<Node>, object]>([
    ['comes again where nothing tells that a node is gone', { goneWhen: () => false }, { afterMs: 60_000 }],
    ['waits for its object to go where that tells of it', {}, { kind: 'done' }],
  ])('as a reconciler %s', async (_what, page, outcome) => {
    const world = createWorld({ Page: [childOf('page', 'p')] })
    world.holds = true
    const flow = flowOf({ page: { wantedWhen: () => false, ...page } })
    const ready = { reason, message: 'page is being deleted' }
    expect(await flow.reconcile(primary, world.ctx)).toMatchObject({ ...outcome, ready })
  })

  it('as a clean-up deletes what nothing depends on first, and comes again until all is gone', async () => {
    const all = { Config: [childOf('config', 'c')], Server: [childOf('server', 's')], Page: [childOf('page', 'p')] }
    const world = createWorld(all)
    world.holds = true
    const flow = flowOf()
    expect(await flow.cleanup(primary, world.ctx)).toEqual({
      kind: 'again',
      afterMs: 60_000,
      ready: { reason, message: 'page is being deleted' },
    })
    world.holds = false
    expect(await flow.tearDown(primary, world.ctx)).toBe(true)
    expect(await flow.cleanup(primary, world.ctx)).toEqual({ kind: 'done' })
    const page = 'delete Page {"name":"p"}'
    expect(world.did).toEqual([page, page, 'delete Server {"name":"s"}', 'delete Config {"name":"c"}'])
  })

  it('as a clean-up does not ask whether a node is wanted', async () => {
    const world = createWorld({ Page: [childOf('page', 'p')] })
    const flow = flowOf({ page: { wantedWhen: () => Promise.reject(new Error('who knows')) } })
    expect(await flow.cleanup(primary, world.ctx)).toEqual({ kind: 'done' })
    expect(world.did).toEqual(['delete Page {"name":"p"}'])
  })

  it('as a clean-up throws what failed', async () => {
    const flow = flowOf({ page: { goneWhen: () => Promise.reject(new Error('who knows')) } })
    await expect(flow.cleanup(primary, createWorld().ctx)).rejects.toThrow('page: who knows')
  })

  it.each([
    [['orphan'], []],
    [['other'], ['Config', 'Page', 'Server']],
    [undefined, ['Config', 'Page', 'Server']],
  ])('lets its objects go with the finalizers %j', async (finalizers, read) => {
    const world = createWorld()
    const given = { metadata: { name: 'a', finalizers } } as unknown as ApiObject
    expect(await flowOf().cleanup(given, world.ctx)).toEqual({ kind: 'done' })
    expect(world.read.toSorted()).toEqual(read)
  })

  it('owns the kinds of its nodes, each once', () => {
    expect(flowOf({ page: { kind: Server } }).owns).toEqual([Config, Server])
  })

  it.each([
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['A-1', true],
    ['-a', false],
    ['a-', false],
    ['a_b', false],
  ])('may have a node called %s: %j', (name, isAllowed) => {
    const make = () => workflow(App, { [name]: { kind: Page, desired: () => [] } })
    if (isAllowed) expect(make).not.toThrow()
    else expect(make).toThrow(`workflow of App: ${name} is no name for a node`)
  })
})

it.each([
  [{ dependOn: ['config'] }, 'workflow of App: page: there is no option dependOn: dependsOn is probably meant'],
  [{ desired: undefined }, 'workflow of App: page: desired is missing: give a function'],
])('refuses a node that it cannot know: %j', (wrong, why) => {
  expect(() => flowOf({ page: wrong as object })).toThrow(why)
})
