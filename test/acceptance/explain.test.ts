import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  Namespace,
  reference,
  retryAfter,
  Secret,
  stop,
  waiting,
  type Controller,
  type Outcome,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import * as z from 'zod'

const Widget = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number().int().default(1), settings: z.string().optional() }),
  status: z.object({ size: z.number().int().optional() }),
})

const Gadget = defineKind({ group: 'test.setpoint.dev', version: 'v1', kind: 'Gadget', spec: z.object({}) })

let env: TestEnv
/** How the next runs end. */
let outcome: () => Outcome
let cleanup: () => Outcome

function widgets(): Controller {
  return defineReconciler(Widget, {
    owns: [ConfigMap],
    watches: [reference(Secret, ({ spec: { settings } }) => (settings === undefined ? undefined : { name: settings }))],
    resync: '1h',
    async reconcile(widget, ctx) {
      await ctx.apply(ConfigMap, { metadata: { name: `${widget.metadata.name}-parts` }, data: {} })
      return outcome()
    },
    cleanup: async () => cleanup(),
  })
}

beforeEach(async () => {
  outcome = () => done({ status: { size: 1 } })
  cleanup = () => done()
  env = await createTestEnv({ reconcilers: [widgets()], kinds: [Gadget] })
})
afterEach(() => env.close())

async function makeWidget(spec: { size?: number; settings?: string } = {}): Promise<void> {
  await env.apply(Widget, { metadata: { name: 'w' }, spec })
  await env.settle()
}

async function explained(): Promise<{ readonly summary: string; readonly answers: Readonly<Record<string, string>> }> {
  const [summary = '', ...sections] = (await env.explain(Widget, 'w')).split(/\n\d\. /)
  return { summary, answers: Object.fromEntries(sections.map((text) => [/^[A-Z]+/.exec(text)?.[0] ?? '', text])) }
}

function failing(message: string): () => Outcome {
  return () => {
    throw new Error(message)
  }
}

describe('explain', () => {
  it('says to a terminal what others wrote, and does not do it', async () => {
    outcome = failing('\u001b[2J\u001b]0;mine\u0007 café\u009b31m')
    await makeWidget()
    const text = await env.explain(Widget, 'w')
    expect(text).not.toMatch(/[^\P{Cc}\n]/u)
    expect(text).toContain(String.raw`\x1b[2J\x1b]0;mine\x07 café\x9b31m`)
  })

  it('D31 answers the six questions, in their order', async () => {
    await makeWidget()
    expect((await env.explain(Widget, 'w')).match(/^\d\. [A-Z]+/gm)).toEqual([
      '1. DESIRED',
      '2. OBSERVED',
      '3. DIFFERENCE',
      '4. ACTION',
      '5. REQUEUE',
      '6. STATUS',
    ])
  })

  it('D31 desired: what is declared, who changed what last, and what it refers to', async () => {
    await makeWidget({ size: 1 })
    outcome = failing('no luck')
    await env.patch(Widget, 'w', { spec: { size: 4, settings: 'keys' } }, { manager: 'kubectl-edit' })
    await env.advance('30s')
    const { answers } = await explained()
    expect(answers['DESIRED']).toContain(
      'Generation 2, changed by kubectl-edit (spec.size, spec.settings) 30s ago.\n  spec:\n    size: 4\n    settings: keys\n',
    )
    expect(answers['DESIRED']).toMatch(/It refers to:\n +Secret default\/keys {2}does not exist/)
  })

  it('D31 observed: the generation, the status, and the children as they are', async () => {
    await makeWidget()
    const { answers } = await explained()
    expect(answers['OBSERVED']).toContain(
      'Generation 1 is the newest that a run has observed.\n  status:\n    size: 1\n',
    )
    expect(answers['OBSERVED']).toMatch(/Its children:\n +ConfigMap default\/w-parts {2}exists/)
  })

  it('D31 difference: a generation not observed, fields that disagree, references that do not exist', async () => {
    await makeWidget()
    expect((await explained()).answers['DIFFERENCE']).toContain('None that the control plane can see.')
    outcome = failing('no luck')
    await env.patch(Widget, 'w', { spec: { size: 4, settings: 'keys' } })
    await env.settle()
    const { answers } = await explained()
    expect(answers['DIFFERENCE']).toContain('Generation 2 is not observed')
    expect(answers['DIFFERENCE']).toContain('size: 4 in spec, 1 in status.')
    expect(answers['DIFFERENCE']).toContain('Secret default/keys: is referred to and does not exist.')
  })

  it('D31 action and requeue: what is done, when next and why, and the resync whatever happens', async () => {
    outcome = failing('no luck')
    await makeWidget()
    await env.advance('10s')
    const { answers } = await explained()
    expect(answers['ACTION']).toContain('widget runs its reconcile function: one run at a time, none longer than 60s.')
    expect(answers['REQUEUE']).toMatch(/In \d+s, after failure \d: the wait doubles from 1 s to 1000 s\./)
    expect(answers['REQUEUE']).toMatch(/The resync runs it every 60m: next in \d+[ms]/)
  })

  it.each([
    {
      paused: 'yes',
      says: /widget runs its reconcile function[^]*paused is "yes", not "true", .*: the object is not paused/,
    },
    { paused: '', says: /paused is "", not "true"/ },
    { paused: 'false', says: /^(?![^]*paused)/ },
    { paused: 'true', says: /None while the object is paused\.\n$/ },
  ])('D31 action: a pause that is understood, or not, $paused', async ({ paused, says }) => {
    await makeWidget()
    await env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/paused': paused } } })
    await env.settle()
    expect((await explained()).answers['ACTION']).toMatch(says)
  })

  it.each([
    { resync: '5m', says: /The resync runs it every 5m, by its own annotation setpoint.dev\/resync: next in \d+[ms]/ },
    { resync: '0', says: /There is no resync: by its own annotation/ },
    { resync: 'often', says: /every 60m: next in [^]*resync is "often", which is not a duration such as 5m/ },
  ])('D31 requeue: the period of its own, $resync', async ({ resync, says }) => {
    await makeWidget()
    await env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/resync': resync } } })
    await env.settle()
    expect((await explained()).answers['REQUEUE']).toMatch(says)
  })

  it('D31 requeue: a period of its own begins again once a failure has been waited out', async () => {
    outcome = failing('no luck')
    await makeWidget()
    await env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/resync': '5m' } } })
    await env.advance('10s')
    expect((await explained()).answers['REQUEUE']).toContain(
      'Once that wait is over, the resync runs it every 5m, by its own annotation setpoint.dev/resync.',
    )
  })

  it('D31 requeue: what the next run is for, when no run has asked for it', async () => {
    await makeWidget()
    await env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/resync': '5m' } } })
    await env.settle()
    expect((await explained()).answers['REQUEUE']).toMatch(/^ +In \d+[ms].* at the latest, for the resync\.$/m)
    outcome = () => again(0)
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    expect((await explained()).answers['REQUEUE']).toMatch(/^ +In \d+s: it runs in a loop and is slowed down\.$/m)
  })

  it('D31 status: conditions with their ages, and the events', async () => {
    outcome = failing('no luck')
    await makeWidget()
    await env.advance('10s')
    const { answers } = await explained()
    expect(answers['STATUS']).toContain('Ready=False, since 10s ago  ReconcileFailed: no luck')
    expect(answers['STATUS']).toMatch(/Warning ReconcileFailed \(\d times\): no luck/)
  })
})

describe('the matter in one sentence', () => {
  it.each([
    { matter: 'as desired', outcome: () => done(), says: /^The object is as desired, since 0s ago\.$/m },
    {
      matter: 'not ready',
      outcome: () => done({ ready: waiting('PartsMissing', 'two parts are not there yet') }),
      says: /not ready:\n {2}PartsMissing: two parts are not there yet$/m,
    },
    {
      matter: 'failing',
      outcome: failing('no luck'),
      says: /^The object has failed once; the next try is in 1s:\n {2}no luck$/m,
    },
    {
      matter: 'stopped',
      outcome: () => {
        throw stop('NameTaken', 'it belongs to somebody else')
      },
      says: /^The object has stopped.*:\n {2}it belongs to somebody else$/m,
    },
    {
      matter: 'told to wait',
      outcome: () => {
        throw retryAfter('15s', new Error('429'))
      },
      says: /^The remote API asked to wait; the next try is in 15s:\n {2}429$/m,
    },
    { matter: 'looked at again', outcome: () => again('40s', { ready: true }), says: /^The object is as desired/m },
  ])('D31 tells an object that is $matter', async ({ outcome: how, says }) => {
    outcome = how
    await makeWidget()
    expect((await explained()).summary).toMatch(says)
  })

  it('D31 tells a change that waits for its run', async () => {
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    expect((await explained()).summary).toContain('A change waits for its run by widget.')
  })

  it('D31 tells no difference of an object that is as desired, though spec and status have a field of one name', async () => {
    outcome = () => done({ status: { size: 7 } })
    await makeWidget()
    const { summary, answers } = await explained()
    expect(summary).toContain('The object is as desired')
    expect(answers['DIFFERENCE']).toContain('None that the control plane can see.')
    outcome = () => done({ status: { size: 7 }, ready: waiting('Growing', 'it grows') })
    await env.patch(Widget, 'w', { spec: { size: 8 } })
    await env.settle()
    expect((await explained()).answers['DIFFERENCE']).toContain('size: 8 in spec, 7 in status.')
  })

  it('D31 names what an object waits for that it refers to and does not exist', async () => {
    outcome = () => done({ ready: waiting('SettingsMissing', 'there are no settings yet') })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { settings: 'later' } })
    await env.settle()
    const { summary } = await explained()
    expect(summary).toContain('waits for what it refers to and does not exist: Secret default/later.')
    expect(summary).toContain('SettingsMissing: there are no settings yet')
  })

  it('D31 says of an object that is being deleted that it is, whatever else is the matter, and of a pause that no edit runs it', async () => {
    await makeWidget()
    await env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/paused': 'true' } } })
    await env.delete(Widget, 'w')
    await env.settle()
    const { summary, answers } = await explained()
    expect(summary).toContain('The object is being deleted, and its clean-up is not over.')
    expect(summary).toContain('The object is paused')
    expect(answers['REQUEUE']).toContain('No change runs it before the pause ends.')
    expect(answers['REQUEUE']).not.toContain('runs it at once')
  })

  it('D31 tells a pause, and how to end it', async () => {
    await makeWidget()
    await env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/paused': 'true' } } })
    await env.settle()
    const { summary, answers } = await explained()
    expect(summary).toContain('The object is paused')
    expect(summary).toContain('kubectl annotate widgets.test.setpoint.dev w -n default setpoint.dev/paused-')
    expect(answers['ACTION']).toContain('None while the object is paused.')
  })

  it('D31 tells whether a deletion waits for the clean-up, or for the finalizers of others', async () => {
    cleanup = () => again('10s')
    await makeWidget()
    await env.patch(Widget, 'w', { metadata: { finalizers: ['test.setpoint.dev/widget', 'example.com/backup'] } })
    await env.delete(Widget, 'w', { manager: 'alice' })
    await env.settle()
    const { summary, answers } = await explained()
    expect(summary).toContain('The object is being deleted: widget cleans up, and runs again in 10s.')
    expect(answers['DESIRED']).toContain('deleted by alice')
    cleanup = () => done()
    await env.advance('10s')
    expect((await explained()).summary).toContain('waits for the finalizers of others: example.com/backup.')
  })

  it('D31 says so when nobody reconciles the kind', async () => {
    await env.apply(Gadget, { metadata: { name: 'g' }, spec: {} })
    expect(await env.explain(Gadget, 'g')).toContain('No reconciler handles Gadget')
  })

  it('D31 points at an error that repeats: it may only mean "not ready yet"', async () => {
    outcome = failing('no luck')
    await makeWidget()
    expect((await explained()).summary).not.toContain('said the same')
    await env.advance('5m')
    expect((await explained()).summary).toMatch(/The last \d+ failures said the same.*waiting\(…\)/)
  })
})

it('D31 explains built-in kinds, and shows nothing of what is in a secret', async () => {
  await env.apply(Secret, { metadata: { name: 'keys' }, stringData: { password: 'hunter2' } })
  await makeWidget({ settings: 'keys' })
  const text = await env.explain(Secret, 'keys')
  expect(text).toContain('data: password (values are not shown)')
  expect(text).not.toContain('aHVudGVyMg')
  expect(text).toMatch(/It is referred to by:\n +Widget default\/w {2}ready/)
  expect(await env.explain(Namespace, 'default')).toContain('The object is as desired')
  expect(await env.explain(ConfigMap, 'w-parts')).toMatch(/It belongs to:\n +Widget default\/w {2}ready/)
})
