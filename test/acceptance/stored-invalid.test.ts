import * as z from 'zod'
import { describe, expect, it } from 'vitest'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  mapped,
  reference,
  type Context,
  type Controller,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'

/** A kind whose schema moves on while its objects stay as they were written. */
const names = { group: 'test.setpoint.dev', version: 'v1', kind: 'Article' } as const
const Titled = defineKind({ ...names, spec: z.object({ title: z.string(), draft: z.boolean().optional() }) })
const Headed = defineKind({
  ...names,
  spec: z.object({ heading: z.string(), draft: z.boolean().optional() }),
  status: z.object({ html: z.string() }).partial(),
})
const Short = defineKind({
  ...names,
  spec: z.object({ title: z.string().max(5), lang: z.string().default('en'), draft: z.boolean().optional() }),
})

interface Site {
  readonly written: string[]
  readonly removed: string[]
}

const writing = ({ written }: Pick<Site, 'written'>): Controller =>
  defineReconciler(Titled, {
    reconcile: async ({ spec }) => {
      written.push(spec.title)
      return done()
    },
  })

const publishing = ({ written, removed }: Site): Controller =>
  defineReconciler(Headed, {
    name: 'article',
    reconcile: async ({ spec }) => {
      written.push(`<h1>${spec.heading}</h1>`)
      return done({ status: { html: `<h1>${spec.heading}</h1>` } })
    },
    cleanup: async ({ spec }) => {
      removed.push(`<h1>${spec.heading}</h1>`)
      return done()
    },
  })

/** One article that was written under `title`, of whose reconciler the next release knows `heading`. */
async function renamed(site: Site): Promise<TestEnv> {
  const env = await createTestEnv({ tickMs: 60_000, reconcilers: [writing(site)] })
  await env.apply(Titled, { metadata: { name: 'a' }, spec: { title: 'Hello' } })
  await env.settle()
  site.written.length = 0
  await env.crash([publishing(site)])
  return env
}

const newSite = (): Site => ({ written: [], removed: [] })

const stopped = {
  status: {
    conditions: [
      { type: 'Ready', status: 'False', reason: 'SpecInvalid', message: 'spec.heading: Required value' },
      { type: 'Stalled', status: 'True', reason: 'SpecInvalid', message: 'spec.heading: Required value' },
    ],
    reconcile: { waiting: 'Stopped', lastError: 'spec.heading: Required value' },
  },
}

it('what is stored and does not fit its kind any more stops with the path, and its reconciler is not called', async () => {
  const site = newSite()
  await using env = await renamed(site)
  await env.advance('11h')
  expect(site.written).toEqual([])
  expect(await env.get(Headed, 'a')).toMatchObject(stopped)
  const events = await env.api(getting('/api/v1/namespaces/default/events'))
  expect(String(events.body)).toContain('SpecInvalid')

  await env.patch(Headed, 'a', { spec: { heading: 'Hello' } })
  await env.settle()
  expect(site.written).toEqual(['<h1>Hello</h1>'])
  expect(await env.get(Headed, 'a')).toMatchObject({ status: { conditions: [{ type: 'Ready', status: 'True' }] } })
})

it('runs again by itself soon after the definition was taken back', async () => {
  const site = newSite()
  await using env = await renamed(site)
  await env.advance('11h')
  await env.crash([writing(site)])
  await env.advance('20m')
  expect(site.written).toEqual(['Hello'])
  expect(await env.get(Titled, 'a')).toMatchObject({ status: { conditions: [{ type: 'Ready', status: 'True' }] } })
})

it('takes a pause, an annotation, a label, a status and a deletion, and loses nothing by them', async () => {
  const site = newSite()
  await using env = await renamed(site)
  await env.advance('11h')
  const before = await env.get(Headed, 'a')

  await env.patch(Headed, 'a', { metadata: { annotations: { 'setpoint.dev/paused': 'true' } } })
  await env.patch(Headed, 'a', { metadata: { labels: { team: 'docs' } } })
  await env.patch(Headed, 'a', { status: { html: 'none' } }, { subresource: 'status' })
  const article = '/apis/test.setpoint.dev/v1/namespaces/default/articles/a'
  const note = { apiVersion: 'test.setpoint.dev/v1', kind: 'Article', metadata: { annotations: { note: 'applied' } } }
  const applied = await env.api({
    ...getting(article),
    method: 'PATCH',
    query: new URLSearchParams({ fieldManager: 'somebody' }),
    header: (name) => (name === 'content-type' ? 'application/apply-patch+yaml' : undefined),
    fieldsUnder: () => [],
    body: async () => new TextEncoder().encode(JSON.stringify(note)),
  })
  expect(applied.status).toBe(200)
  const paused = await env.get(Headed, 'a')
  expect(paused).toMatchObject({
    metadata: {
      generation: before?.metadata.generation,
      annotations: { 'setpoint.dev/paused': 'true', note: 'applied' },
      labels: { team: 'docs' },
    },
    spec: { title: 'Hello' },
    status: { html: 'none' },
  })
  await expect(env.patch(Headed, 'a', { spec: { draft: true } })).rejects.toThrow('spec.heading: Required value')

  await env.crash([writing(site)])
  await env.patch(Titled, 'a', { metadata: { annotations: { 'setpoint.dev/paused': null } } })
  await env.settle()
  expect(site.written).toEqual(['Hello'])
})

it('is not cleaned up by a function that expects another spec: it says so, and goes once it is corrected', async () => {
  const site = newSite()
  await using env = await createTestEnv({ tickMs: 60_000, reconcilers: [publishing(site)] })
  await env.apply(Headed, { metadata: { name: 'a' }, spec: { heading: 'Hello' } })
  await env.settle()
  const Subtitled = defineKind({ ...names, spec: z.object({ heading: z.string(), subtitle: z.string() }) })
  const strict = defineReconciler(Subtitled, {
    name: 'article',
    reconcile: async () => done(),
    cleanup: async ({ spec }) => {
      site.removed.push(`${spec.heading}, ${spec.subtitle}`)
      return done()
    },
  })
  await env.crash([strict])
  await env.delete(Subtitled, 'a')
  await env.settle()
  expect(site.removed).toEqual([])
  expect(await env.get(Subtitled, 'a')).toMatchObject({
    status: { conditions: [{ type: 'Ready', reason: 'SpecInvalid' }, { type: 'Stalled' }] },
  })
  await env.patch(Subtitled, 'a', { spec: { subtitle: 'again' } })
  await env.settle()
  expect(site.removed).toEqual(['Hello, again'])
  expect(await env.get(Subtitled, 'a')).toBeUndefined()
})

it('is let go of as it is where its policy says so', async () => {
  const site = newSite()
  await using env = await createTestEnv({ tickMs: 60_000, reconcilers: [publishing(site)] })
  await env.apply(Headed, { metadata: { name: 'a' }, spec: { heading: 'Hello' } })
  await env.settle()
  const Subtitled = defineKind({ ...names, spec: z.object({ heading: z.string(), subtitle: z.string() }) })
  const strict = defineReconciler(Subtitled, {
    name: 'article',
    reconcile: async () => done(),
    cleanup: async () => {
      throw new Error('not called')
    },
  })
  await env.crash([strict])
  await env.delete(Subtitled, 'a')
  await env.settle()
  await env.patch(Subtitled, 'a', { metadata: { annotations: { 'setpoint.dev/deletion-policy': 'Retain' } } })
  await env.settle()
  expect(await env.get(Subtitled, 'a')).toBeUndefined()
})

it('says no value of what is invalid, which may be a secret', async () => {
  const written: string[] = []
  await using env = await createTestEnv({ tickMs: 60_000, reconcilers: [writing({ written })] })
  await env.apply(Titled, { metadata: { name: 'a' }, spec: { title: 'Hello, world' } })
  await env.settle()
  const seen: string[] = []
  const short = defineReconciler(Short, {
    name: 'article',
    reconcile: async ({ spec }) => {
      seen.push(`${spec.title} ${spec.lang}`)
      return done()
    },
  })
  await env.crash([short])
  await env.advance('11h')
  expect(await env.get(Short, 'a')).toMatchObject({
    status: { conditions: [{ type: 'Ready', reason: 'SpecInvalid', message: 'spec.title: Too long' }, {}] },
  })
  await env.patch(Short, 'a', { spec: { title: 'Hello' } })
  await env.settle()
  expect(seen).toEqual(['Hello en'])
})

it('a removed object is not shown to a reconciler that expects another spec', async () => {
  const seen: string[] = []
  const seeing = (kind: typeof Titled | typeof Headed): Controller =>
    defineReconciler(kind as typeof Titled, {
      name: 'article',
      onRemoved: 'reconcile',
      reconcile: async ({ spec }, ctx) => {
        seen.push(`${JSON.stringify(spec)}${ctx.removed ? ' removed' : ''}`)
        return done()
      },
    })
  await using env = await createTestEnv({ tickMs: 60_000, reconcilers: [seeing(Titled)] })
  await env.apply(Titled, { metadata: { name: 'a' }, spec: { title: 'Hello' } })
  await env.settle()
  await env.crash([seeing(Headed)])
  await env.delete(Headed, 'a')
  await env.settle()
  expect(seen).toEqual(['{"title":"Hello"}'])
  await env.crash([seeing(Titled)])
  await env.advance('20m')
  expect(seen).toEqual(['{"title":"Hello"}', '{"title":"Hello"} removed'])
})

it('a removed object of an older version is shown to its reconciler as it is converted', async () => {
  const seen: string[] = []
  const note = { group: 'example.dev', kind: 'Note' } as const
  const First = defineKind({ ...note, version: 'v1', spec: z.object({ message: z.string() }) })
  const Second = defineKind({
    ...note,
    version: 'v2',
    spec: z.object({ text: z.string() }),
    olderVersions: (older) => [
      older('v1', {
        spec: z.object({ message: z.string() }),
        upgrade: ({ spec }) => ({ spec: { text: spec.message } }),
        downgrade: ({ spec }) => ({ spec: { message: spec.text } }),
      }),
    ],
  })
  const seeing = (kind: typeof First | typeof Second, isOver: boolean): Controller =>
    defineReconciler(kind as typeof First, {
      onRemoved: 'reconcile',
      reconcile: async ({ apiVersion, spec }, ctx) => {
        seen.push(`${kind.version} gets ${apiVersion} ${JSON.stringify(spec)}${ctx.removed ? ' removed' : ''}`)
        return ctx.removed && !isOver ? again('1m') : done()
      },
    })
  await using env = await createTestEnv({ tickMs: 60_000, reconcilers: [seeing(First, false)] })
  await env.apply(First, { metadata: { name: 'a' }, spec: { message: 'Hello' } })
  await env.settle()
  await env.delete(First, 'a')
  await env.settle()
  expect(seen.at(-1)).toBe('v1 gets example.dev/v1 {"message":"Hello"} removed')
  await env.crash([seeing(Second, true)])
  await env.advance('20m')
  expect(seen.at(-1)).toBe('v2 gets example.dev/v2 {"text":"Hello"} removed')
})

function getting(path: string): Parameters<TestEnv['api']>[0] {
  return {
    method: 'GET',
    path,
    query: new URLSearchParams(),
    header: () => {},
    fieldsUnder: () => [],
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
  }
}

const Page = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Page',
  spec: z.object({ article: z.string() }),
  status: z.object({ html: z.string() }).partial(),
})

it.each([
  ['get', async (ctx: Context) => (await ctx.get(Headed, 'a'))?.spec.heading],
  ['list', async (ctx: Context) => (await ctx.list(Headed)).map(({ spec }) => spec.heading).join()],
])(
  'a run that reads an unfit object by %s fails with the path, and ends well once the object is corrected',
  async (_, read) => {
    const site = newSite()
    const pages = defineReconciler(Page, {
      watches: [reference(Headed, ({ spec }) => ({ name: spec.article }))],
      reconcile: async (_page, ctx) => done({ status: { html: `<h1>${await read(ctx)}</h1>` } }),
    })
    await using env = await renamed(site)
    await env.crash([publishing(site), pages])
    await env.apply(Page, { metadata: { name: 'p' }, spec: { article: 'a' } })
    await env.advance('1h')
    const message = 'test.setpoint.dev/Article/default/a does not fit its kind: spec.heading: Required value'
    const ready = { type: 'Ready', status: 'False', reason: 'UnfitObject', message }
    expect(await env.get(Page, 'p')).toMatchObject({ status: { conditions: [ready] } })
    await env.patch(Headed, 'a', { spec: { heading: 'Hello' } })
    await env.settle()
    expect(await env.get(Page, 'p')).toMatchObject({ status: { html: '<h1>Hello</h1>' } })
  },
)

it('a child that does not fit its kind is given to its owner as it is stored, who puts it right', async () => {
  const Album = defineKind({ group: 'test.setpoint.dev', version: 'v1', kind: 'Album', spec: z.object({}) })
  const seen: unknown[] = []
  const before = defineReconciler(Album, {
    owns: [Titled],
    reconcile: async ({ metadata: { name } }, ctx) => {
      await ctx.apply(Titled, { metadata: { name }, spec: { title: 'Hello' } })
      return done()
    },
  })
  const after = defineReconciler(Album, {
    owns: [Headed],
    reconcile: async ({ metadata: { name } }, ctx) => {
      for (const { spec } of await ctx.children(Headed)) seen.push(spec)
      seen.push((await ctx.get(Headed, name))?.spec)
      await ctx.apply(Headed, { metadata: { name }, spec: { heading: 'Hello' } })
      return done()
    },
  })
  await using env = await createTestEnv({ tickMs: 60_000, reconcilers: [before] })
  await env.apply(Album, { metadata: { name: 'a' }, spec: {} })
  await env.settle()
  await env.crash([after])
  await env.advance('11h')
  expect(seen.slice(0, 2)).toEqual([{ title: 'Hello' }, { title: 'Hello' }])
  expect(await env.get(Headed, 'a')).toMatchObject({ spec: { heading: 'Hello' } })
})

it('watches and predicates are given the defaults of today, though the object be older', async () => {
  const Old = defineKind({ ...names, spec: z.object({ title: z.string() }) })
  const New = defineKind({
    ...names,
    spec: z.object({ title: z.string(), look: z.string().default('look'), page: z.string().default('p') }),
    status: z.object({ runs: z.number() }).partial(),
  })
  const runs: string[] = []
  const asked: unknown[] = []
  await using env = await createTestEnv({
    tickMs: 60_000,
    reconcilers: [
      defineReconciler(Old, { name: 'article', reconcile: async () => done() }),
      defineReconciler(Page, { reconcile: async () => done() }),
    ],
  })
  await env.apply(Old, { metadata: { name: 'a' }, spec: { title: 'Hello' } })
  await env.apply(Page, { metadata: { name: 'p' }, spec: { article: 'a' } })
  await env.settle()
  const articles = defineReconciler(New, {
    name: 'article',
    resync: false,
    watches: [reference(ConfigMap, ({ spec }) => ({ name: spec.look }))],
    reconcile: async ({ metadata: { name } }) => {
      runs.push(name)
      return done({ status: { runs: runs.length } })
    },
  })
  const isAsked = ({ object }: { readonly object: { readonly spec: unknown } }): boolean => asked.push(object.spec) > 0
  const pages = defineReconciler(Page, {
    resync: false,
    watches: [mapped(New, ({ spec }) => ({ name: spec.page }), { when: isAsked })],
    reconcile: async ({ metadata: { name } }) => {
      runs.push(name)
      return done()
    },
  })
  await env.crash([articles, pages])
  await env.advance('1h')
  const before = runs.length
  await env.apply(ConfigMap, { metadata: { name: 'look' }, data: {} })
  await env.settle()
  // Its status is all that has changed: the object is stored as it was.
  expect(runs.slice(before)).toEqual(['a', 'p'])
  expect(asked.at(-1)).toEqual({ title: 'Hello', look: 'look', page: 'p' })
})

const Ruled = defineKind({
  ...names,
  spec: z.object({ title: z.string() }),
  status: z.object({ html: z.string() }).partial(),
  rules: [{ rule: 'self.spec.title.size() > 30', message: 'too short' }],
})
const asked: unknown[] = []
const Hooked = defineKind({
  ...names,
  spec: z.object({ heading: z.string() }),
  status: z.object({ html: z.string() }).partial(),
  default: ({ spec }) => ({ labels: { length: String(spec.heading.length) } }),
  validate: ({ spec }, { old }) => {
    asked.push([spec, old?.spec])
    return spec.heading.length < 3 ? ['short'] : []
  },
})

const touches: readonly (readonly [string, object, { readonly subresource?: 'status' }])[] = [
  ['a pause', { metadata: { annotations: { 'setpoint.dev/paused': 'true' } } }, {}],
  ['an annotation', { metadata: { annotations: { note: 'x' } } }, {}],
  ['a label', { metadata: { labels: { note: 'x' } } }, {}],
  ['a finalizer', { metadata: { finalizers: ['test.dev/x'] } }, {}],
  ['a status', { status: { html: 'x' } }, { subresource: 'status' }],
]

describe.each([
  ['a rule that came later', Ruled],
  ['hooks', Hooked],
] as const)('of a kind with %s', (_, Kind) => {
  const change = (env: TestEnv, body: object, path = {}) => env.patch(Kind as typeof Titled, 'a', body as never, path)

  async function misfit(): Promise<TestEnv> {
    const env = await createTestEnv({ tickMs: 60_000, reconcilers: [writing(newSite())] })
    await env.apply(Titled, { metadata: { name: 'a' }, spec: { title: 'Hello' } })
    await env.settle()
    await env.crash([defineReconciler(Kind as typeof Titled, { name: 'article', reconcile: async () => done() })])
    asked.length = 0
    return env
  }

  it.each(touches)('what does not fit takes %s, and no hook is given it', async (_what, body, path) => {
    await using env = await misfit()
    await change(env, body, path)
    expect(await env.get(Titled, 'a')).toMatchObject(body)
    expect(asked).toEqual([])
  })

  it('what does not fit can be deleted', async () => {
    await using env = await misfit()
    await env.delete(Titled, 'a')
    await env.settle()
    expect([await env.get(Titled, 'a'), asked]).toEqual([undefined, []])
  })

  it('what is written into its spec is held against it', async () => {
    await using env = await misfit()
    const wrong = Kind === Ruled ? { title: 'Hi' } : { heading: 'Hi' }
    await expect(change(env, { spec: wrong, metadata: { labels: { note: 'x' } } })).rejects.toThrow(/short/)
    const right = Kind === Ruled ? { title: 'x'.repeat(31) } : { heading: 'Hello' }
    await change(env, { spec: right })
    expect(await env.get(Titled, 'a')).toMatchObject({ spec: right })
    if (Kind === Hooked) expect(asked.at(-1)).toEqual([{ heading: 'Hello' }, undefined])
  })
})
