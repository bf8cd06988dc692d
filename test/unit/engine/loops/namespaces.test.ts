import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  accountRoute,
  contentConditions,
  createAccount,
  namespaceController,
} from '../../../../shared/engine/loops/namespaces.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import { defineBuiltInKind } from '../../../../shared/model/served-kind.ts'
import type { Context } from '../../../../shared/reconciler/context.ts'
import type { Outcome } from '../../../../shared/reconciler/outcome.ts'
import { createWidgetHarness, widget, type Harness } from '../../api/harness.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
  await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } })
})
afterEach(() => harness.close())

const secrets = '/api/v1/namespaces/n/secrets'
const widgets = '/apis/example.com/v1/namespaces/n/widgets'

async function namespace(): Promise<JsonObject> {
  return (await harness.send('GET /api/v1/namespaces/n')).body as JsonObject
}

/** One run of the clean-up, so many milliseconds after the deletion. */
async function cleanUp(sinceMs: number): Promise<Outcome> {
  const object = await namespace()
  const { deletionTimestamp } = object['metadata'] as { deletionTimestamp: string }
  const { cleanup = () => expect.fail('there is a clean-up') } = namespaceController(harness.services)
  const ctx = { now: () => Date.parse(deletionTimestamp) + sinceMs } as Context
  return cleanup(object as never, ctx)
}

const accounts = '/api/v1/namespaces/n/serviceaccounts'

async function run(): Promise<Outcome> {
  const { reconcile } = namespaceController(harness.services)
  return reconcile((await namespace()) as never, {} as Context)
}

describe('the ServiceAccount of a namespace', () => {
  it('is made with it, once, and goes with it at once where there is nothing else', async () => {
    expect(await run()).toMatchObject({ kind: 'done' })
    const { status, body } = await harness.send(`GET ${accounts}/default`)
    expect(status).toBe(200)
    await run()
    expect((await harness.send(`GET ${accounts}/default`)).body).toEqual(body)
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(0)).toMatchObject({ kind: 'done' })
    expect(await harness.send(`GET ${accounts}/default`)).toMatchObject({ status: 404 })
  })

  it('is not made while the namespace is being deleted, or when it is gone', async () => {
    const before = (await namespace()) as never
    const { reconcile } = namespaceController(harness.services)
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await reconcile(before, {} as Context)).toMatchObject({ kind: 'done' })
    await harness.send('PUT /api/v1/namespaces/n/finalize', { body: { metadata: { name: 'n' }, spec: {} } })
    expect(await reconcile(before, {} as Context)).toMatchObject({ kind: 'done' })
  })

  it('keeps the rest of the content for its five seconds', async () => {
    await run()
    await harness.send(`POST ${accounts}`, { body: { metadata: { name: 'builder' } } })
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(1_000)).toMatchObject({ kind: 'again' })
  })
})

describe('a namespace that is being deleted', () => {
  it('goes at once if nothing is in it', async () => {
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(0)).toMatchObject({ kind: 'done' })
  })

  it('leaves its content alone for five seconds', async () => {
    await harness.send(`POST ${secrets}`, { body: { metadata: { name: 's' } } })
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(1_000)).toMatchObject({ kind: 'again', afterMs: 4_000 })
    expect(await harness.send(`GET ${secrets}/s`)).toMatchObject({ status: 200 })
    expect(await cleanUp(5_000)).toMatchObject({ kind: 'done' })
    expect(await harness.send(`GET ${secrets}/s`)).toMatchObject({ status: 404 })
  })

  it('that a clock ahead of this one has marked does not wait for it', async () => {
    await harness.send(`POST ${secrets}`, { body: { metadata: { name: 's' } } })
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(-60_000)).toMatchObject({ kind: 'again', afterMs: 5_000 })
    expect(await cleanUp(-60_001)).toMatchObject({ kind: 'done' })
  })

  it('is looked through the more seldom the longer others hold its content', async () => {
    await harness.send(`POST ${widgets}`, { body: widget('w', {}, { finalizers: ['example.com/held'] }) })
    await harness.send('DELETE /api/v1/namespaces/n')
    const waits = [15_000, 25_000, 300_000, 86_400_000].map(
      async (sinceMs) => (await cleanUp(5_000 + sinceMs)) as object,
    )
    expect(await Promise.all(waits)).toMatchObject([1_500, 2_500, 30_000, 30_000].map((afterMs) => ({ afterMs })))
  })

  it('keeps Secrets until the custom objects are gone, and says what is left', async () => {
    await harness.send(`POST ${secrets}`, { body: { metadata: { name: 's' } } })
    await harness.send(`POST ${widgets}`, { body: widget('w', {}, { finalizers: ['example.com/held'] }) })
    await harness.send('DELETE /api/v1/namespaces/n')
    expect(await cleanUp(5_000)).toMatchObject({ kind: 'again', afterMs: 1_000 })
    expect(await harness.send(`GET ${secrets}/s`)).toMatchObject({ status: 200 })
    const before = await namespace()
    expect(before['status']).toMatchObject({
      phase: 'Terminating',
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: 'Some resources are remaining: widgets.example.com has 1 resource instances',
        }),
        expect.objectContaining({
          type: 'NamespaceFinalizersRemaining',
          message: 'Some content in the namespace has finalizers remaining: example.com/held in 1 resource instances',
        }),
      ]),
    })
    await cleanUp(6_000)
    expect(await namespace()).toEqual(before)
    await harness.send(`PATCH ${widgets}/w`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    })
    expect(await cleanUp(7_000)).toMatchObject({ kind: 'done' })
    expect(await harness.send(`GET ${secrets}/s`)).toMatchObject({ status: 404 })
  })

  it('names twenty kinds at most', () => {
    const kind = (i: number) =>
      defineBuiltInKind({ group: 'g', kind: `K${i}`, plural: `k${i}`, namespaced: true, schema: { type: 'object' } })
    const left = Array.from({ length: 25 }, (_, i) => ({ kind: kind(i), count: 1, finalizers: new Map() }))
    const { NamespaceContentRemaining: told, NamespaceFinalizersRemaining: held } = contentConditions(left)
    expect(told?.message).toMatch(/ and 5 more$/)
    expect(held).toMatchObject({ status: 'False', reason: 'ContentHasNoFinalizers' })
  })
})

describe('an account of a namespace', () => {
  const made = ['create default in n']
  const terminating = { details: { causes: [{ reason: 'NamespaceTerminating', message: 'm', field: 'f' }] } }
  const other = { details: { causes: [{ reason: 'Other', message: 'm', field: 'f' }] } }

  it.each<[string, OperatingError | undefined, OperatingError | undefined, readonly string[], string]>([
    ['is made where there is none', new OperatingError('NOT_FOUND', 'none'), undefined, made, 'done'],
    ['is left where it is', undefined, undefined, [], 'done'],
    ['cannot be looked for', new OperatingError('UNAVAILABLE', 'away'), undefined, [], 'away'],
    [
      'was made just now',
      new OperatingError('NOT_FOUND', 'none'),
      new OperatingError('ALREADY_EXISTS', 'there'),
      made,
      'done',
    ],
    [
      'has no namespace any more',
      new OperatingError('NOT_FOUND', 'none'),
      new OperatingError('NOT_FOUND', 'no n'),
      made,
      'done',
    ],
    ['is damaged, and so there until it is deleted', new OperatingError('DAMAGED', 'broken'), undefined, [], 'done'],
    [
      'has a namespace that ends',
      new OperatingError('NOT_FOUND', 'none'),
      new OperatingError('FORBIDDEN', 'ends', terminating),
      made,
      'done',
    ],
    [
      'is forbidden for another cause',
      new OperatingError('NOT_FOUND', 'none'),
      new OperatingError('FORBIDDEN', 'no', other),
      made,
      'no',
    ],
    ['is forbidden', new OperatingError('NOT_FOUND', 'none'), new OperatingError('FORBIDDEN', 'no'), made, 'no'],
    [
      'is refused',
      new OperatingError('NOT_FOUND', 'none'),
      new OperatingError('INVALID', 'bad', terminating),
      made,
      'bad',
    ],
  ])('%s', async (...row) => {
    const [, onGet, onCreate, did, ended] = row
    const doing: string[] = []
    const resources = {
      get: async () => {
        if (onGet) throw onGet
        return {}
      },
      create: async (
        _kind: object,
        { metadata }: { metadata: { name: string; namespace: string } },
        { manager }: { manager: string },
      ) => {
        expect(manager).toBe('setpoint')
        doing.push(`create ${metadata.name} in ${metadata.namespace}`)
        if (onCreate) throw onCreate
      },
    }
    const end = await createAccount(resources as never, 'n').then(
      () => 'done',
      (error: unknown) => (error as Error).message,
    )
    expect([doing, end]).toEqual([did, ended])
  })

  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'n' } }

  it.each([
    ['when it goes', {}, {}, 1],
    ['not when it is written', { type: 'modified' }, {}, 0],
    ['not for another account', {}, { metadata: { name: 'builder', namespace: 'n' } }, 0],
    ['not for another kind', {}, { kind: 'ConfigMap' }, 0],
    ['not for a kind of another group', {}, { apiVersion: 'g.org/v1' }, 0],
  ])('wakes its namespace %s', async (_what, change, object, count) => {
    const stored = { object: { ...account, ...object }, engine: {} }
    const targets = await accountRoute.targets({ type: 'removed', touched: [], stored, ...change } as never, [])
    const key = { group: '', kind: 'Namespace', namespace: '', name: 'n' }
    expect(targets).toEqual(
      Array.from({ length: count }, () => ({ key, lane: 'background', reason: 'its ServiceAccount is gone' })),
    )
    expect([accountRoute.name, accountRoute.debounceMs]).toEqual(['namespace-lifecycle', 0])
  })
})

describe('what is said of what is left', () => {
  const kindOf = (plural: string) =>
    defineBuiltInKind({ group: 'g', kind: plural, plural, namespaced: true, schema: { type: 'object' } })
  const no = (reason: string, message: string) => ({ status: 'False', reason, message })

  it('is nothing where nothing is', () => {
    expect(contentConditions([])).toEqual({
      NamespaceDeletionDiscoveryFailure: no('ResourcesDiscovered', 'All resources successfully discovered'),
      NamespaceDeletionGroupVersionParsingFailure: no(
        'ParsedGroupVersions',
        'All legacy kube types successfully parsed',
      ),
      NamespaceDeletionContentFailure: no(
        'ContentDeleted',
        'All content successfully deleted, may be waiting on finalization',
      ),
      NamespaceContentRemaining: no('ContentRemoved', 'All content successfully removed'),
      NamespaceFinalizersRemaining: no('ContentHasNoFinalizers', 'All content-preserving finalizers finished'),
    })
  })

  it('is how many of each kind, and who holds how many of all kinds', () => {
    const left = [
      { kind: kindOf('zebras'), count: 2, finalizers: new Map([['x/y', 2]]) },
      {
        kind: kindOf('apples'),
        count: 3,
        finalizers: new Map([
          ['x/y', 1],
          ['a/b', 1],
        ]),
      },
    ]
    expect(contentConditions(left)).toMatchObject({
      NamespaceContentRemaining: {
        status: 'True',
        reason: 'SomeResourcesRemain',
        message: 'Some resources are remaining: apples.g has 3 resource instances, zebras.g has 2 resource instances',
      },
      NamespaceFinalizersRemaining: {
        status: 'True',
        reason: 'SomeFinalizersRemain',
        message:
          'Some content in the namespace has finalizers remaining: a/b in 1 resource instances, x/y in 3 resource instances',
      },
    })
  })

  it.each([
    [20, 20, undefined],
    [21, 20, 'and 1 more'],
  ])('of %d kinds names %d', (count, named, more) => {
    const left = Array.from({ length: count }, (_, i) => ({ kind: kindOf(`k${i}`), count: 1, finalizers: new Map() }))
    const message = contentConditions(left)['NamespaceContentRemaining']?.message ?? ''
    expect([message.match(/k\d+\.g/g)?.length, /and .*/.exec(message)?.[0]]).toEqual([named, more])
  })
})

describe('the clean-up of a namespace', () => {
  const kindOf = (kind: string, more: object = {}) => ({
    kind,
    plural: kind,
    group: 'g',
    namespaced: true,
    builtIn: false,
    ...more,
  })
  const deletedMs = 1_000_000_000

  interface Content {
    readonly kinds?: readonly object[]
    /** What is there, by kind. */
    readonly items?: Readonly<Record<string, readonly object[]>>
    readonly damaged?: Readonly<Record<string, number>>
    /** Kinds whose objects stay. */
    readonly staying?: readonly string[]
    readonly sinceMs?: number
    readonly deletionTimestamp?: string | undefined
    /** Whose name it is by now; none if nobody's. */
    readonly uidNow?: string
  }

  async function cleanUpOf({
    kinds = [kindOf('Widget')],
    items = {},
    damaged = {},
    staying = [],
    sinceMs = 0,
    ...given
  }: Content) {
    const did: string[] = []
    const lists: object[] = []
    const { uidNow = 'u' } = given
    const resources = {
      get: async () => {
        if (uidNow === '') throw new OperatingError('NOT_FOUND', 'it is gone')
        return { object: { metadata: { uid: uidNow } } }
      },
      list: async ({ kind }: { kind: string }, how: object) => {
        lists.push({ kind, ...how })
        return {
          items: (items[kind] ?? []).map((object) => ({ object })),
          ...(damaged[kind] !== undefined && { damaged: Array.from({ length: damaged[kind] }, () => ({})) }),
        }
      },
      delete: async ({ kind }: { kind: string }, { name }: { name: string }) => {
        did.push(`delete ${kind} ${name}`)
        return { gone: !staying.includes(kind), stored: { object: { metadata: {} } } }
      },
      patch: async (
        _kind: object,
        { name }: { name: string },
        patch: object,
        { manager, subresource }: { manager: string; subresource: string },
      ) => {
        expect(patch).toMatchObject({ type: 'merge', body: { status: { conditions: expect.any(Array) } } })
        did.push(`tell ${name} ${manager} ${subresource}`)
      },
    }
    const { deletionTimestamp = new Date(deletedMs).toISOString() } = given
    const going = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'n', uid: 'u', generation: 1, ...('deletionTimestamp' in given ? {} : { deletionTimestamp }) },
    }
    const controller = namespaceController({ resources, catalog: { listStored: async () => kinds } } as never)
    const outcome = await controller.cleanup?.(
      going as never,
      { now: () => ('deletionTimestamp' in given ? 0 : deletedMs) + sinceMs } as Context,
    )
    const text = outcome?.kind === 'again' ? `again ${String(outcome.afterMs)}` : outcome?.kind
    return { did, lists, text }
  }

  const one = [{ kind: 'Widget', metadata: { name: 'w' } }]
  const account = [{ kind: 'ServiceAccount', metadata: { name: 'default' } }]
  const builder = [{ kind: 'ServiceAccount', metadata: { name: 'builder' } }]

  it.each<[string, Content, string, readonly string[]]>([
    ['that is empty', {}, 'done', []],
    ['that has something', { items: { Widget: one } }, 'again 5000', []],
    ['that has something, at the end of its grace', { items: { Widget: one }, sinceMs: 4_999 }, 'again 1', []],
    ['that has something, after its grace', { items: { Widget: one }, sinceMs: 5_000 }, 'done', ['delete Widget w']],
    ['whose deletion has no time', { items: { Widget: one }, deletionTimestamp: undefined }, 'again 5000', []],
    ['that has what cannot be read', { damaged: { Widget: 1 } }, 'again 5000', []],
    ['that has none that cannot be read', { damaged: { Widget: 0 } }, 'done', []],
    ['that has its account', { items: { Widget: account } }, 'done', ['delete Widget default']],
    ['that has another account', { items: { Widget: builder } }, 'again 5000', []],
    ['that has another account, too', { items: { Widget: [...account, ...builder] } }, 'again 5000', []],
    [
      'that has what belongs to none',
      { kinds: [kindOf('Wide', { namespaced: false })], items: { Wide: one } },
      'done',
      [],
    ],
    ['that is gone by now', { items: { Widget: one }, sinceMs: 5_000, uidNow: '' }, 'done', []],
    ['whose name another one has by now', { items: { Widget: one }, sinceMs: 5_000, uidNow: 'v' }, 'done', []],
    [
      'that something stays in',
      { items: { Widget: one }, staying: ['Widget'], sinceMs: 5_000 },
      'again 1000',
      ['delete Widget w', 'tell n namespace-controller status'],
    ],
    [
      'that has custom objects and others',
      {
        kinds: [kindOf('Secret', { builtIn: true }), kindOf('Widget')],
        items: { Widget: one, Secret: one },
        sinceMs: 5_000,
      },
      'done',
      ['delete Widget w', 'delete Secret w'],
    ],
    [
      'whose custom objects stay',
      {
        kinds: [kindOf('Secret', { builtIn: true }), kindOf('Widget')],
        items: { Widget: one, Secret: one },
        staying: ['Widget'],
        sinceMs: 5_000,
      },
      'again 1000',
      ['delete Widget w', 'tell n namespace-controller status'],
    ],
  ])('%s', async (_what, content, text, did) => {
    expect(await cleanUpOf(content)).toMatchObject({ text, did })
  })

  it('looks at two objects of each kind to see whether it is empty', async () => {
    expect((await cleanUpOf({})).lists[0]).toEqual({ kind: 'Widget', namespace: 'n', limit: 2 })
  })
})
