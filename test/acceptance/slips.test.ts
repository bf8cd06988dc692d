import { afterEach, describe, expect, it } from 'vitest'
import {
  again,
  ConfigMap,
  defineReconciler,
  done,
  waiting,
  withReport,
  type Context,
  type Controller,
  type Outcome,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { conditionOfWidget, failing, Widget, widgetOf, widgets } from './support/widgets.ts'

/** What authors of reconcilers get wrong most often, and what tells them at three in the morning. */

let env: TestEnv
afterEach(() => env.close())

async function runOnce(controller: Controller): Promise<void> {
  env = await createTestEnv({ reconcilers: [controller] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
}

const failures = () => env.logs.filter(({ message }) => message === 'reconcile did not succeed')
const throwing = (thrown: unknown) =>
  widgets([], () => {
    throw thrown
  })

describe('a forgotten await', () => {
  const config = { metadata: { name: 'config' }, data: {} }
  const forgetting = (child: typeof config, outcome: Outcome<never>) => (_: unknown, ctx: Context) => {
    void ctx.apply(ConfigMap, child)
    return outcome
  }

  it('of a call of the context fails the run, and says so', async () => {
    await runOnce(widgets([], forgetting(config, done())))
    const message = 'the run ended while ctx.apply was under way: an await is missing'
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'False', message })
  })

  it('of a side effect fails the run, and ends no process if the effect fails later', async () => {
    const late = () => new Promise<void>((_, reject) => setTimeout(() => reject(new Error('not sent')), 5))
    const reconcile = async (_: unknown, ctx: Context) => {
      void ctx.once('mail', late)
      return again('1h')
    }
    await runOnce(defineReconciler(Widget, { reconcile }))
    const message = 'the run ended while ctx.once was under way: an await is missing'
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'False', message })
  })

  const entry = { parameter: { name: 'shop/x' } }
  const roleArn = 'arn:aws:iam::123456789012:role/Tenant'
  it.each([
    ['outside.keepSecret', (ctx: Context) => ctx.outside.keepSecret(entry, { a: 'b' })],
    ['outside.readSecret', (ctx: Context) => ctx.outside.readSecret(entry)],
    ['outside.removeSecret', (ctx: Context) => ctx.outside.removeSecret(entry)],
    ['outside.assumeRole', (ctx: Context) => ctx.outside.assumeRole({ roleArn })],
    ['notes.keep', (ctx: Context) => ctx.notes.keep()],
  ] as const)('of %s fails the run, too', async (verb, call) => {
    const never = () => new Promise<never>(() => {})
    const grants = [{ parameter: 'shop/' }]
    const controller = defineReconciler(Widget, {
      vault: { reads: grants, writes: grants },
      reconcile: async (_: unknown, ctx: Context) => {
        void call(ctx)
        return done()
      },
    })
    env = await createTestEnv({
      reconcilers: [controller],
      vault: { read: never, write: never, remove: never },
      roles: { assume: never },
    })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    const message = `the run ended while ctx.${verb} was under way: an await is missing`
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'False', message })
  })

  it('of a call that is refused ends no process', async () => {
    const bad = { metadata: { name: 'No Name' }, data: {} }
    await runOnce(widgets([], forgetting(bad, again('1h'))))
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({
      message: expect.stringContaining('await is missing'),
    })
  })

  it('is not suspected of calls that are over, nor when a run has failed beside them', async () => {
    const alongside = async (_: unknown, ctx: Context) => {
      const waits = [ctx.apply(ConfigMap, config), ctx.get(ConfigMap, 'config')]
      await Promise.all([...waits, Promise.reject(new Error('broken'))])
      return done()
    }
    await runOnce(defineReconciler(Widget, { owns: [ConfigMap], reconcile: alongside }))
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'False', message: 'broken' })
  })

  it('of work that goes on after the run: what it calls then says whose it was', async () => {
    let late: Promise<unknown> = Promise.resolve()
    const reconcile = async (_: unknown, ctx: Context) => {
      late = new Promise((resolve) => setTimeout(resolve, 5)).then(() => ctx.apply(ConfigMap, config)).catch(String)
      return done()
    }
    await runOnce(defineReconciler(Widget, { reconcile }))
    expect(await late).toBe(
      'OperatingError: the run of Widget default/w is over, and this call of its context comes too late: an await is missing, or the run took too long',
    )
  })
})

describe('a clean-up', () => {
  it('that says done() while it waits fails: nothing that is still outside is forgotten', async () => {
    await runOnce(
      defineReconciler(Widget, {
        reconcile: async () => done(),
        cleanup: async () => done({ ready: waiting('StillThere', 'a bucket is not empty') }),
      }),
    )
    await env.delete(Widget, 'w')
    await env.settle()
    expect(await widgetOf(env)).toMatchObject({ metadata: { finalizers: [expect.any(String)] } })
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({
      message:
        'a clean-up that waits (StillThere: a bucket is not empty) returns again(…); done() means that nothing is left',
    })
  })
})

describe('what is thrown', () => {
  it.each([
    ['it broke', 'it broke'],
    [{ code: 'E1', detail: 'no such bucket' }, '{"code":"E1","detail":"no such bucket"}'],
    [{ message: 'of another realm' }, 'of another realm'],
    [new Error(), 'Error'],
    [undefined, 'undefined was thrown'],
  ])('is told as well as can be: %j', async (thrown, message) => {
    await runOnce(throwing(thrown))
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ message })
  })

  it.each([NaN, Infinity, -1, 'soon'])('is told though it is to be retried within %j', async (retryWithin) => {
    await runOnce(
      widgets([], () => {
        throw withReport(new Error('it broke'), { retryWithin })
      }),
    )
    const message = `it broke; retryWithin is no duration: ${retryWithin}`
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'False', message })
  })

  it('has its stack in the log if it is a slip of the program, and not if it is told on purpose', async () => {
    await runOnce(throwing(new TypeError("Cannot read properties of undefined (reading 'id')")))
    expect(failures()[0]?.fields).toMatchObject({ stack: expect.stringContaining('slips.test.ts') })
    await env.close()
    await runOnce(widgets([], failing(1)))
    expect(failures()[0]?.fields).not.toHaveProperty('stack')
  })
})
