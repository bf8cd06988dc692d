import { describe, expect, it } from 'vitest'
import {
  HttpError,
  mayRequire,
  requires,
  type ApiObject,
  type FailureReport,
  type Json,
} from '../../../../shared/index.ts'
import { declarationDigest } from '../../../../shared/reconciler/external/declaration.ts'
import { watchesOf, type Requirements } from '../../../../shared/reconciler/external/requirements.ts'
import { nowMs, runOnce, thingKind, thingOf, type Given } from './one-run.ts'

/** What an entity outside refers to, and what it is inside of. */

const account = { ...thingKind, kind: 'Account', definition: {} as never }
const secret = { group: '', version: 'v1', kind: 'Secret', namespaced: true }
const long = nowMs - 3_600_000

function accountOf(ready: string | undefined, more: object = {}): ApiObject {
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: ready }]
  const metadata = { name: 'a', namespace: 'ns', uid: 'ua', resourceVersion: '7', ...more }
  return { metadata, status: { id: 'acc-1', conditions } } as unknown as ApiObject
}

const at = (name: string, namespace?: string) => () => ({ name, ...(namespace !== undefined && { namespace }) })

function refersTo(requirements: Readonly<Record<string, unknown>>): Given['own'] & {} {
  return { requirements: requirements as Requirements<ApiObject> }
}

const own = refersTo({ Account: requires(account, at('a')) })
const inside = refersTo({ Account: requires(account, at('a'), { contains: true }) })

describe('a reference', () => {
  const says = (text: string) => `Account a ${text}`
  it.each([
    ['is ready', accountOf('True'), undefined, undefined],
    ['is not there', undefined, 'NotFound', says('does not exist')],
    ['is being deleted', accountOf('True', { deletionTimestamp: 'x' }), 'BeingDeleted', says('is being deleted')],
    ['is not ready', accountOf('False'), 'NotReady', says('is not ready')],
    ['has not said yet whether it is ready', accountOf(''), 'NotReady', says('is not ready')],
  ])('that %s', async (_what, target, reason, text) => {
    const objects = target === undefined ? {} : { 'ns/a': target }
    const { outcome, calls } = await runOnce({ own, objects })
    if (reason === undefined) {
      expect(calls).toEqual(['create'])
      expect(outcome?.conditions).toMatchObject({ AccountValid: { status: 'True', reason: 'Valid' } })
      return
    }
    const invalid = { status: 'False', reason, message: text }
    expect(calls).toEqual([])
    expect(outcome).toEqual({
      kind: 'done',
      ready: { reason, message: text },
      conditions: { AccountValid: invalid, Synced: invalid },
      resyncAfterMs: 60_000,
    })
  })

  it('may name a namespace that is undefined, as an optional field of a spec does', async () => {
    const undefinedOwn = refersTo({ Account: requires(account, () => ({ name: 'a', namespace: undefined }) as never) })
    const { outcome } = await runOnce({ own: undefinedOwn, objects: { 'ns/a': accountOf('True') } })
    expect(outcome?.conditions).toMatchObject({ AccountValid: { status: 'True', reason: 'Valid' } })
  })

  it('without a period is looked at again when it changes', async () => {
    const { outcome } = await runOnce({ own, annotations: { 'setpoint.dev/resync': '0' } })
    expect(outcome).not.toHaveProperty('resyncAfterMs')
  })

  it.each([
    ['of its own namespace', 'ns', 'a does not exist'],
    ['of none that is said', undefined, 'a does not exist'],
    ['of another one', 'other', 'other/a does not exist'],
  ])('is named with its namespace only if that is another one: %s', async (_what, namespace, text) => {
    const { outcome } = await runOnce({ own: refersTo({ Account: requires(account, at('a', namespace)) }) })
    expect(outcome).toMatchObject({ ready: { message: `Account ${text}` } })
  })

  it('that is one of several says so with the others', async () => {
    const requirements = { One: requires(account, at('a')), Two: requires(account, at('b')) }
    const { outcome } = await runOnce({ own: refersTo(requirements) })
    const message = 'Account a does not exist; Account b does not exist'
    expect(outcome).toMatchObject({
      ready: { reason: 'NotFound', message },
      conditions: { OneValid: {}, TwoValid: {} },
    })
  })

  it('need not be there if the object names none, nor be ready if it has no status', async () => {
    const requirements = { None: mayRequire(account, () => {}), Secret: mayRequire(secret, at('s')) }
    const objects = { 'ns/s': { metadata: { uid: 'us', resourceVersion: '3' } } as unknown as ApiObject }
    const { outcome, memory } = await runOnce({ own: refersTo(requirements), objects })
    expect(memory).not.toHaveProperty('inside')
    expect(Object.keys(outcome?.conditions ?? {}).toSorted()).toEqual([
      'Adopted',
      'ImmutableFields',
      'SecretValid',
      'Synced',
    ])
  })

  it.each<[string, ApiObject, Json]>([
    ['with a status by its entity', accountOf('True'), ['ua', 'acc-1']],
    [
      'with a status and no entity',
      { ...accountOf('True'), status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      ['ua', null],
    ],
    ['without a status by each change', { metadata: { uid: 'ua', resourceVersion: '7' } } as never, ['ua', '7']],
    ['that nobody has numbered', { metadata: { uid: 'ua' } } as never, ['ua', null]],
  ])('makes it another declaration: one %s', async (_what, target, identity) => {
    const requirements = {
      Ref: requires({ ...account, ...(target.status ? {} : { definition: undefined }) } as never, at('a')),
    }
    const objects = { 'ns/a': target }
    // As versions before this one noted it.
    const callsAfter = async (references: Json): Promise<readonly string[]> => {
      const memory = { id: 'e1', syncedAtMs: nowMs, digest: declarationDigest(thingOf({}), references) }
      const entities = { e1: { id: 'e1', owner: 'u' } }
      return (await runOnce({ own: refersTo(requirements), objects, memory, entities })).calls
    }
    expect(await callsAfter({ Ref: identity })).toEqual([])
    expect((await callsAfter({ Ref: ['u0', null] }))[0]).toBe('get e1')
  })

  it.each([
    ['in each period', {}],
    ['only when it changes', { 'setpoint.dev/resync': '0' }],
  ])(
    'of which something is declared sends a change of that at once, where it is asserted %s',
    async (_what, annotations) => {
      const inZone = (zone: string) => ({ 'ns/a': { ...accountOf('True'), spec: { zone } } })
      const declared: NonNullable<Given['far']>['declared'] = (_, { refs }) => ({
        owner: 'u',
        ...(refs['Account'] as ApiObject).spec,
      })
      const given = { own, annotations, far: { declared } }
      const { memory, entities } = await runOnce({ ...given, objects: inZone('a') })
      const after = { ...given, memory: memory as NonNullable<Given['memory']>, entities }
      expect((await runOnce({ ...after, objects: inZone('a') })).calls).toEqual([])
      expect((await runOnce({ ...after, objects: inZone('b') })).entities).toMatchObject({ e1: { zone: 'b' } })
    },
  )

  it('is not declared of while the object is being deleted: it may be half gone', async () => {
    const declared = () => expect.fail('nothing is declared')
    const memory = { id: 'e1', syncedAtMs: nowMs, digest: 'd' }
    const given = { own, memory, far: { declared }, isDeleting: true, objects: { 'ns/a': accountOf('False') } }
    expect((await runOnce({ ...given, entities: { e1: { id: 'e1', owner: 'u' } } })).calls).toContain('delete e1')
  })

  it('wakes the object', () => {
    const [watch, ...others] = watchesOf({ Account: requires(account, at('a')) })
    expect(watch?.references(thingOf({}))).toEqual({ name: 'a' })
    expect([watch?.watched.kind, others]).toEqual([account, []])
  })
})

describe('a declaration', () => {
  const base = declarationDigest(thingOf({}), {})
  it.each<[string, Given, Json, boolean]>([
    ['the spec', { spec: { size: 2 } }, {}, true],
    ['a label', { labels: { a: 'b' } }, {}, true],
    ['an annotation', { annotations: { a: 'b' } }, {}, true],
    ['what it refers to', {}, { Account: ['u', '1'] }, true],
    ['an annotation that speaks of time', { annotations: { 'setpoint.dev/resync': '1m' } }, {}, false],
    ['that it is being deleted', { isDeleting: true }, {}, false],
  ])('is another one by %s: %#', (_what, given, references, is) => {
    expect(declarationDigest(thingOf(given), references) !== base).toBe(is)
  })

  it('of an object without a spec is one, too', () => {
    const { spec: _, ...bare } = thingOf({}) as ApiObject & { readonly spec?: unknown }
    expect(declarationDigest(bare as ApiObject, {})).not.toBe(base)
  })
})

describe('what an entity is inside of', () => {
  const made = { id: 'x', createdAtMs: long, syncedAtMs: nowMs, inside: { Account: 'ns/b' }, place: 'p', digest: 'd' }
  const objects = { 'ns/a': accountOf('True') }

  it('is noted when it is made; what it only refers to is not', async () => {
    expect((await runOnce({ own: inside, objects })).memory).toMatchObject({ inside: { Account: 'ns/a' } })
    expect((await runOnce({ own, objects })).memory).not.toHaveProperty('inside')
    const other = refersTo({ Account: requires(account, at('a', 'other'), { contains: true }) })
    const there = await runOnce({ own: other, objects: { 'other/a': accountOf('True') } })
    expect(there.memory).toMatchObject({ inside: { Account: 'other/a' } })
  })

  it('cannot be another one while it is there', async () => {
    const given = { own: inside, objects: { ...objects, 'ns/b': accountOf('True') }, memory: made }
    const { error, report, calls, memory } = await runOnce(given)
    expect(error).toMatchObject({ reason: 'CannotMove', message: expect.stringContaining('it is in ns/b and stays') })
    expect([report, calls, memory]).toEqual([{ retryWithin: 60_000 }, [], { round: 0, ...made }])
    const still = await runOnce({ ...given, annotations: { 'setpoint.dev/resync': '0' } })
    expect(still.report).toEqual({})
  })

  it.each<[string, Given, string]>([
    ['was refused', { failing: { create: new HttpError(400, 'no') } }, 'CreateRefused'],
    [
      'made nothing, as a look shows',
      {
        memory: { intent: { atMs: long }, inside: { Account: 'ns/a' } },
        annotations: { 'setpoint.dev/external-id': 'y' },
        api: { find: async () => {} },
      },
      'NothingToAdopt',
    ],
  ])('may be another one if the create %s: nothing is there', async (_what, given, reason) => {
    const both = { ...objects, 'ns/b': accountOf('True', { name: 'b', uid: 'ub' }) }
    const { error, memory } = await runOnce({ ...given, own: inside, objects: both })
    expect(error?.reason).toBe(reason)
    const moved = refersTo({ Account: requires(account, at('b'), { contains: true }) })
    const next = await runOnce({ own: moved, objects: both, memory: { ...memory } })
    expect([next.calls, next.memory?.inside]).toEqual([['create'], { Account: 'ns/b' }])
  })

  it('and is gone takes the entity with it: another one is made where the object says', async () => {
    const { memory, calls } = await runOnce({ own: inside, objects, memory: { ...made, request: 'r' } })
    expect(calls).toEqual(['create'])
    expect(memory).toMatchObject({ round: 1, id: 'e1', inside: { Account: 'ns/a' }, request: 'r' })
    expect(memory).not.toHaveProperty('place')
  })

  it('and is gone takes an adopted entity with it, too: that is not looked for elsewhere', async () => {
    const memory = { ...made, adopted: 'match', adoptedAs: 'x', shown: { a: 1 } } as const
    const annotations = { 'setpoint.dev/external-id': 'x' }
    const told = await runOnce({ own: inside, objects, memory, annotations })
    expect(told.calls).toEqual(['create'])
    expect(told.outcome).toMatchObject({ status: { id: 'e1' }, conditions: { Adopted: null } })
    expect(told.outcome?.status).not.toHaveProperty('a')
  })

  it('is no other one where the object says the same', async () => {
    const memory = { ...made, inside: { Account: 'ns/a' } }
    const entities = { x: { id: 'x', owner: 'u', size: 1 } }
    expect((await runOnce({ own: inside, objects, memory, entities })).calls).toEqual(['get x', 'update x {"size":1}'])
  })
})

describe('a clean-up', () => {
  const memory = { id: 'x', createdAtMs: long, inside: { Account: 'ns/a' } }
  const gone = { isDeleting: true, memory } as const

  it('leaves an entity to what has become of what it was inside of', async () => {
    const { outcome, events, calls } = await runOnce({ ...gone, own: inside })
    expect([outcome, calls]).toEqual([{ kind: 'done' }, []])
    expect(events).toEqual(['Normal GoneWithItsContainer: x is left to what has become of what it was a part of'])
    const begun = await runOnce({ isDeleting: true, memory: { intent: { atMs: long } }, own: inside })
    expect(begun.events[0]).toContain('what was being created is left to')
  })

  it('of what never was asks nobody', async () => {
    const connect = () => Promise.reject(new Error('nobody is there'))
    expect((await runOnce({ isDeleting: true, own, far: { connect } })).outcome).toEqual({ kind: 'done' })
    const begun = await runOnce({ isDeleting: true, memory: { intent: { atMs: long } }, own })
    expect(begun.outcome).toMatchObject({ kind: 'again', ready: { reason: 'NotFound' } })
  })

  it.each([
    ['observe', {}],
    ['create,update', {}],
    ['observe', { 'ns/a': accountOf('True') }],
    ['create,update', { 'ns/a': accountOf('False') }],
  ])('that takes nothing away needs neither credentials nor what is gone: %s, with %j', async (manage, objects) => {
    const connect = () => Promise.reject(new Error('nobody is there'))
    const annotations = { 'setpoint.dev/manage': manage }
    const known = { id: 'x', createdAtMs: long }
    for (const remembered of [known, { ...known, mirrored: true as const }, { intent: { atMs: long } }]) {
      const given = { isDeleting: true, memory: remembered, own, objects, annotations, far: { connect } }
      const { outcome, events } = await runOnce(given)
      expect([outcome, events]).toEqual([{ kind: 'done' }, ['Normal Kept: the entity outside is kept']])
    }
  })

  it('of an object whose policy says nothing stops, and is told like a sync that failed', async () => {
    const annotations = { 'setpoint.dev/manage': 'nothing' }
    const { error, report, calls } = await runOnce({
      ...gone,
      own,
      objects: { 'ns/a': accountOf('True') },
      annotations,
    })
    expect([error?.reason, calls]).toEqual(['PolicyInvalid', []])
    expect(report?.conditions).toMatchObject({ AccountValid: { reason: 'Valid' }, Synced: { reason: 'PolicyInvalid' } })
  })

  it('goes on with what is being deleted, too, and with what the entity is inside of now', async () => {
    const objects = { 'ns/a': accountOf('False', { deletionTimestamp: 'x' }) }
    const { outcome, calls } = await runOnce({ ...gone, own: inside, objects })
    expect([outcome, calls]).toEqual([{ kind: 'done' }, ['get x']])
    const moved = refersTo({ Account: requires(account, at('b'), { contains: true }) })
    expect((await runOnce({ ...gone, own: moved, objects })).calls).toEqual(['get x'])
  })

  it.each([
    [{}, 60_000],
    [{ 'setpoint.dev/resync': '5m' }, 300_000],
    [{ 'setpoint.dev/resync': '0' }, 60_000],
  ])('waits for what it refers to, with %j', async (annotations, afterMs) => {
    const { outcome, calls } = await runOnce({ ...gone, own, annotations })
    const reason = 'NotFound'
    expect(outcome).toMatchObject({ kind: 'again', afterMs, ready: { reason }, conditions: { Synced: { reason } } })
    expect(calls).toEqual([])
  })
})

describe('what a connection needs', () => {
  it('and is not there stops the object, and is told like a sync that failed', async () => {
    const { stop } = await import('../../../../shared/index.ts')
    const connect = () => Promise.reject(stop('NoCredentials', 'there are none'))
    const { error, report } = await runOnce({ far: { connect }, own, objects: { 'ns/a': accountOf('True') } })
    expect(error?.reason).toBe('NoCredentials')
    expect(report).toEqual({
      conditions: {
        AccountValid: { status: 'True', reason: 'Valid' },
        Synced: { status: 'False', reason: 'NoCredentials', message: 'there are none' },
      },
    })
    const broken = await runOnce({ far: { connect: () => Promise.reject(new TypeError('a bug')) } })
    expect([broken.error?.message, broken.report]).toEqual(['a bug', undefined])
  })

  it('and is not there is told of each object by itself, though one error stops them all', async () => {
    const { stop } = await import('../../../../shared/index.ts')
    const thrown = stop('NoCredentials', 'there are none')
    const connect = () => Promise.reject(thrown)
    await runOnce({ far: { connect }, own, objects: { 'ns/a': accountOf('True') } })
    const { error, report } = await runOnce({ far: { connect } })
    expect(error).toMatchObject({ name: 'StopError', reason: 'NoCredentials', message: 'there are none' })
    expect(Object.keys(report?.conditions ?? {})).toEqual(['Synced'])
  })

  it('and is not there is told with what the author reports of it, whose word counts', async () => {
    const { stop, withReport } = await import('../../../../shared/index.ts')
    const Synced = { status: 'Unknown', reason: 'NoToken' } as const
    const Token = { status: 'False', reason: 'Missing' } as const
    const told = { retryWithin: '1m', status: { tokens: 0 } } as const
    const connectWith = async (conditions: FailureReport['conditions'] = {}) => {
      const connect = () => Promise.reject(withReport(stop('NoToken', 'none yet'), { ...told, conditions }))
      return (await runOnce({ far: { connect }, own, objects: { 'ns/a': accountOf('True') } })).report
    }
    const found = { AccountValid: { status: 'True', reason: 'Valid' } }
    const noToken = { status: 'False', reason: 'NoToken', message: 'none yet' }
    expect(await connectWith({ Token })).toEqual({ ...told, conditions: { ...found, Token, Synced: noToken } })
    expect(await connectWith({ Synced })).toEqual({ ...told, conditions: { ...found, Synced } })
  })
})
