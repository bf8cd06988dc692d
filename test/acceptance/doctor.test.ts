import { afterEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  type Controller,
  type Outcome,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'

const Widget = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({}),
  status: z.object({ size: z.number().int().optional() }),
})

let env: TestEnv
afterEach(() => env.close())

const careful = defineReconciler(Widget, {
  owns: [ConfigMap],
  resync: '1h',
  async reconcile(widget, ctx) {
    await ctx.apply(ConfigMap, { metadata: { name: widget.metadata.name }, data: {} })
    return done()
  },
  cleanup: async () => done(),
})

function careless(reconcile: () => Outcome): Controller {
  return defineReconciler(Widget, { resync: false, timeout: '5s', reconcile: async () => reconcile() })
}

async function start(controller: Controller): Promise<void> {
  env = await createTestEnv({ tickMs: 60_000, reconcilers: [controller] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
}

/** The verdict and the answer to one question. */
async function answer(question: string): Promise<readonly [string, string]> {
  const line = (await env.page('/doctor')).split('\n').find((one) => one.includes(` ${question} `))
  const [, verdict = '', text = ''] = /^ +(ok|look|unknown) +.*?\? +(.*)$/.exec(line ?? '') ?? []
  return [verdict, text]
}

describe('doctor', () => {
  it('D33 asks every question of the checklist, for every controller', async () => {
    await start(careful)
    const text = await env.page('/doctor')
    expect(text).toContain('\nwidget, for Widget\n')
    const section = text.slice(text.indexOf('\nwidget, for Widget\n'))
    expect(section.match(/^ {2}(?:ok|look|unknown) .*?\?/gm)?.map((line) => line.replace(/^ +\w+ +/, ''))).toEqual([
      'idempotent?',
      'owners?',
      'finalizer?',
      'status path?',
      'self-trigger filter?',
      'error or not yet?',
      'quiet at rest?',
      'reads?',
      'metrics and logs?',
      'exclusive?',
      'timeouts and retries?',
      'drift?',
      'least privilege?',
    ])
  })

  it('D33 finds a careful reconciler in order, once it has seen it', async () => {
    await start(careful)
    expect((await answer('idempotent?'))[0]).toBe('unknown')
    await env.advance('3h')
    expect(await answer('idempotent?')).toEqual(['ok', '0 of 3 runs of converged objects wrote something'])
    for (const question of ['owners?', 'finalizer?', 'status path?', 'quiet at rest?', 'error or not yet?', 'drift?'])
      expect((await answer(question))[0]).toBe('ok')
  })

  it('D33 says what it may do, and what it cannot know', async () => {
    await start(careful)
    expect(await answer('least privilege?')).toEqual([
      'ok',
      'its runs may write test.setpoint.dev/Widget, write ConfigMap; check which accounts outside the process has',
    ])
    await env.close()
    await start(careless(() => done()))
    expect((await answer('finalizer?'))[0]).toBe('unknown')
    expect((await answer('owners?'))[0]).toBe('unknown')
  })

  it('D33 points at requeues in steady state, and at a missing resync', async () => {
    await start(careless(() => again('10s', { ready: true })))
    await env.advance('1m')
    expect(await answer('quiet at rest?')).toEqual(['look', expect.stringContaining('6 runs asked for another')])
    expect(await answer('drift?')).toEqual(['look', expect.stringContaining('no resync')])
  })

  it('D33 points at errors that repeat', async () => {
    await start(
      careless(() => {
        throw new Error('the cluster is not ready yet')
      }),
    )
    await env.advance('5m')
    expect(await answer('error or not yet?')).toEqual(['look', expect.stringContaining('waiting(…)')])
  })

  it('D33 points at runs that take too long', async () => {
    const slow = defineReconciler(Widget, {
      timeout: '5s',
      async reconcile(_, ctx) {
        await ctx.sleep('1m')
        return done()
      },
    })
    await start(slow)
    await env.advance('5s')
    expect(await answer('timeouts and retries?')).toEqual(['look', expect.stringContaining('(1 were too long')])
  })

  it('D33 points at a reconciler that writes whenever it runs', async () => {
    let runs = 0
    const restless = defineReconciler(Widget, {
      grants: [{ kind: ConfigMap, access: 'write' }],
      resync: '1h',
      async reconcile(_, ctx) {
        await ctx.apply(ConfigMap, { metadata: { name: 'parts' }, data: { runs: String(++runs) } })
        return done()
      },
    })
    await start(restless)
    await env.advance('3h')
    expect(await answer('idempotent?')).toEqual(['look', expect.stringContaining('3 of 3')])
  })
})
