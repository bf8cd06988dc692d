import { afterEach, describe, expect, it } from 'vitest'
import { ConfigMap, done, hasCode } from '../../shared/index.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget, widgets, widgetOf, type RunRecord } from './support/widgets.ts'

/** What a run does to others: side effects once, children made to converge, and what it is told of both. */

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

const create = (name = 'w'): Promise<unknown> => env.apply(Widget, { metadata: { name }, spec: {} })
const rerun = async (): Promise<void> => {
  await env.patch(Widget, 'w', {
    metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': String(runs.length) } },
  })
  await env.settle()
}

describe('once', () => {
  it('A29 runs an effect once per key and digest, across runs, retries and restarts, and gives its result each time', async () => {
    const sent: number[] = []
    const results: number[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (widget, ctx) => {
          const id = await ctx.once('notify', async () => sent.push(widget.spec.size), { of: widget.spec.size })
          results.push(id)
          if (runs.length === 1) throw new Error('after the effect')
          return done()
        }),
      ],
    })
    await create()
    await env.advance('2s')
    await rerun()
    await env.crash()
    await rerun()
    expect(sent).toEqual([1])
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    await rerun()
    expect(sent).toEqual([1, 2])
    expect(new Set(results)).toEqual(new Set([1, 2]))
    expect((await widgetOf(env)).status).not.toHaveProperty('once')
  })

  it('A29 remembers the last digest of a key and no earlier one', async () => {
    const sent: string[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async ({ spec: { size } }, ctx) => {
          await ctx.once(
            'notify',
            async ({ token, mayHaveHappened }) => void sent.push(`${token} ${mayHaveHappened}`),
            {
              of: size,
            },
          )
          return done()
        }),
      ],
    })
    await create()
    for (const size of [2, 1]) {
      await env.patch(Widget, 'w', { spec: { size } })
      await env.settle()
      await rerun()
    }
    expect([sent.length, new Set(sent).size]).toEqual([3, 2])
    expect(sent[2]).toBe(sent[0])
  })

  it('A29 after a crash in between runs it again with the same token, and says so', async () => {
    const attempts: { readonly token: string; readonly mayHaveHappened: boolean }[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (_, ctx) => {
          await ctx.once('pay', async (effect) => void attempts.push(effect))
          return done()
        }),
      ],
    })
    const isEnd = ([stored]: readonly unknown[]): boolean =>
      (stored as StoredObject).engine.memory?.once?.['pay']?.state === 'done'
    env.faults.once('store.replace', { kind: 'crash' }, isEnd)
    await create()
    await env.advance('10m')
    await rerun()
    expect(attempts.map(({ mayHaveHappened }) => mayHaveHappened)).toEqual([false, true])
    expect(new Set(attempts.map(({ token }) => token)).size).toBe(1)
  })

  it('A29 an effect that threw is run again', async () => {
    const attempts: boolean[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (_, ctx) => {
          await ctx.once('pay', async ({ mayHaveHappened }) => {
            attempts.push(mayHaveHappened)
            if (attempts.length === 1) throw new Error('timeout')
          })
          return done()
        }),
      ],
    })
    await create()
    await env.advance('5s')
    expect(attempts).toEqual([false, true])
  })

  it('A29 equal events are one, with a count', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (_, ctx) => {
          await ctx.event('Normal', 'Told', 'something happened')
          return done()
        }),
      ],
    })
    await create()
    await env.settle()
    await rerun()
    await rerun()
    const { items } = (await listEvents()) as {
      readonly items: readonly { readonly count: number; readonly reason: string }[]
    }
    expect(items.filter(({ reason }) => reason === 'Told')).toMatchObject([{ count: 3 }])
  })

  it('refuses to remember without end', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (_, ctx) => {
          for (let i = 0; i < 40; i++) await ctx.once(`key-${i}`, async () => {})
          return done()
        }),
      ],
    })
    await create()
    await env.settle()
    expect((await widgetOf(env)).status).toMatchObject({ reconcile: { lastError: expect.stringContaining('32 keys') } })
  })
})

async function listEvents(): Promise<unknown> {
  const response = await env.api({
    method: 'GET',
    path: '/api/v1/namespaces/default/events',
    query: new URLSearchParams(),
    header: (name) => (name === 'authorization' ? 'Bearer any' : undefined),
    fieldsUnder: () => [],
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
  })
  return JSON.parse(String(response.body)) as unknown
}

describe('making children converge', () => {
  it('A33 tells what became of an applied object, and leaves fields of others alone', async () => {
    const outcomes: (string | undefined)[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (widget, ctx) => {
          const child = await ctx.apply(ConfigMap, {
            metadata: { name: 'child' },
            data: { size: String(widget.spec.size) },
          })
          outcomes.push(ctx.outcomeOf(child))
          return done()
        }),
      ],
    })
    await create()
    await env.settle()
    await env.patch(ConfigMap, 'child', { data: { theirs: 'kept' } }, { manager: 'somebody' })
    await rerun()
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    expect(outcomes).toEqual(['created', 'unchanged', 'updated'])
    expect(await env.get(ConfigMap, 'child')).toMatchObject({ data: { size: '2', theirs: 'kept' } })
  })

  it('B12 D22 a naive create the second time is a typed error, and apply converges', async () => {
    const seen: boolean[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (_, ctx) => {
          try {
            await ctx.create(ConfigMap, { metadata: { name: 'child' }, data: { a: '1' } })
          } catch (error) {
            seen.push(hasCode(error, 'ALREADY_EXISTS'))
            await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { a: '1' } })
          }
          return done()
        }),
      ],
    })
    await create()
    await env.settle()
    await rerun()
    expect(seen).toEqual([true])
    expect((await env.get(ConfigMap, 'child'))?.metadata.ownerReferences).toHaveLength(1)
  })

  it('D22 an ALREADY_EXISTS that nobody catches is shown as what it is', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (_, ctx) => {
          await ctx.create(ConfigMap, { metadata: { name: 'child' }, data: {} })
          await ctx.create(ConfigMap, { metadata: { name: 'child' }, data: {} })
          return done()
        }),
      ],
    })
    await create()
    await env.settle()
    expect((await widgetOf(env)).status).toMatchObject({
      reconcile: { waiting: 'Backoff', lastError: expect.stringContaining('already exists') },
    })
  })
})

describe('reading', () => {
  it('B6 D15 D23 a read after a write of the same run, and of the next, sees the write', async () => {
    const seen: (string | undefined)[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (_, ctx) => {
          seen.push((await ctx.get(ConfigMap, 'child'))?.data?.['run'])
          await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { run: String(runs.length) } })
          seen.push((await ctx.get(ConfigMap, 'child'))?.data?.['run'])
          return done()
        }),
      ],
    })
    await create()
    await env.settle()
    await rerun()
    expect(seen).toEqual([undefined, '1', '1', '2'])
  })

  it('D14 reads are strong unless a call asks for what the run knows already', async () => {
    const seen: (string | undefined)[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (_, ctx) => {
          const read = async (cached: boolean) =>
            seen.push((await ctx.get(ConfigMap, 'other', { cached }))?.data?.['a'])
          await read(false)
          await env.patch(ConfigMap, 'other', { data: { a: '2' } })
          await read(true)
          await read(false)
          await read(true)
          return done()
        }),
      ],
    })
    await env.apply(ConfigMap, { metadata: { name: 'other' }, data: { a: '1' } })
    await create()
    await env.settle()
    expect(seen).toEqual(['1', '1', '2', '2'])
  })

  it('B19 what a run has read is counted and told, and what was not there is no error', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (_, ctx) => {
          await ctx.get(ConfigMap, 'absent')
          await ctx.get(ConfigMap, 'absent-too')
          await ctx.list(ConfigMap)
          return done()
        }),
      ],
    })
    await create()
    await env.settle()
    const told = env.logs.find(({ message, fields }) => message === 'reconciled' && fields['controller'] === 'widget')
    expect(told?.fields).toMatchObject({ reads: 3, outcome: 'done' })
    const metrics = await env.page('/metrics')
    expect(metrics).toContain('setpoint_reads_total{controller="widget"} 3\n')
    expect(metrics).toContain('controller_runtime_reconcile_errors_total{controller="widget"} 0\n')
  })

  it('B19 a controller has no fields that a run could change', () => {
    const controller = widgets([]) as { concurrency: number; state?: number }
    expect(() => (controller.concurrency = 1)).toThrow(TypeError)
    expect(() => (controller.state = 1)).toThrow(TypeError)
  })

  it('B19 the object that a run is given cannot be changed in place', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), (widget) => {
          ;(widget.spec as { size: number }).size = 99
          return done()
        }),
      ],
    })
    await create()
    await env.settle()
    expect(await widgetOf(env)).toMatchObject({
      spec: { size: 1 },
      status: { reconcile: { lastError: expect.stringContaining('read only') } },
    })
  })
})
