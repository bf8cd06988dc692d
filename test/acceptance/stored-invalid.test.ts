import * as z from 'zod'
import { expect, it } from 'vitest'
import { defineKind, defineReconciler, done, type Controller } from '../../shared/index.ts'
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
