import { describe, expect, it } from 'vitest'
import { createRateBudget, stop, withReport, type ConditionPatch, type RateBudget } from '../../../../shared/index.ts'
import { CallFailed } from '../../../../shared/reconciler/external/calls.ts'
import { declarationDigest } from '../../../../shared/reconciler/external/declaration.ts'
import { HttpError } from '../../../../shared/reconciler/external/http-error.ts'
import { nowMs, runOnce, thingOf, type Given } from './one-run.ts'

const digest = declarationDigest(thingOf({}), {})
const long = nowMs - 3_600_000
/** An entity that was made long ago, and is due for a look. */
const made = { id: 'x', createdAtMs: long, digest, syncedAtMs: long }
const entity = { id: 'x', owner: 'u', size: 1 }
const drifted = { ...entity, size: 9 }
const observe = { 'setpoint.dev/manage': 'observe' }
const adopt = { 'setpoint.dev/external-id': 'a' }
const lost = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } })
const limited = new HttpError(429, 'slow down', { retryAfterMs: 5_000 })
const refused = new HttpError(400, 'no such size')
const taken = new HttpError(409, 'it is there')

const asMade = { status: { id: 'x', syncPeriod: '60s' } }
const synced = { Synced: { status: 'True', reason: 'Synced' }, Adopted: null, ImmutableFields: null }

function finding(found?: object): Given['api'] & {} {
  return { find: async () => found as never }
}

describe('an entity', () => {
  it('that never was is made, and is known before and behind the call', async () => {
    const { outcome, calls, created, memory, keeps, recorded, events, drift } = await runOnce()
    expect(outcome).toEqual({
      kind: 'done',
      status: { id: 'e1', syncPeriod: '60s' },
      conditions: synced,
      resyncAfterMs: 60_000,
      syncedAtMs: nowMs,
    })
    const owner = { uid: 'u', kind: 'Thing', namespace: 'ns', name: 'thing', token: 'u.0' }
    expect([calls, created]).toEqual([['create'], [[{ size: 1 }, owner]]])
    expect(memory).toEqual({ round: 0, id: 'e1', createdAtMs: nowMs, digest, syncedAtMs: nowMs })
    expect([keeps, recorded, events, drift]).toEqual([2, ['create success'], [], []])
  })

  it('that was asserted is left alone until its period is over', async () => {
    const { outcome, calls, memory } = await runOnce({ memory: { ...made, syncedAtMs: nowMs - 20_000 } })
    expect(outcome).toEqual({
      kind: 'done',
      ...asMade,
      conditions: synced,
      resyncAfterMs: 40_000,
      syncedAtMs: nowMs - 20_000,
    })
    expect([calls, memory]).toEqual([[], { round: 0, ...made, syncedAtMs: nowMs - 20_000 }])
  })

  it('without a period is asserted when it changes, and never else', async () => {
    const annotations = { 'setpoint.dev/resync': '0' }
    const rest = await runOnce({ annotations, memory: made })
    expect(rest.outcome).toEqual({ kind: 'done', status: { id: 'x' }, conditions: synced, syncedAtMs: long })
    const entities = { x: drifted }
    const changed = await runOnce({ annotations, memory: { ...made, digest: 'old' }, entities })
    expect(changed.calls).toEqual(['get x', 'update x {"size":1}'])
    expect(changed.outcome).not.toHaveProperty('resyncAfterMs')
  })

  it.each<[string, Given, readonly string[], readonly string[]]>([
    ['is as declared', { memory: made, entities: { x: entity } }, ['get x'], []],
    [
      'was changed outside',
      { memory: made, entities: { x: drifted } },
      ['get x', 'update x {"size":1}'],
      ['size changed outside; put back'],
    ],
    [
      'is to be another one',
      { memory: { ...made, digest: 'old' }, entities: { x: drifted } },
      ['get x', 'update x {"size":1}'],
      [],
    ],
    [
      'is asserted each time',
      { memory: made, entities: { x: entity }, own: { assertsAlways: true } },
      ['get x', 'update x {"size":1}'],
      [],
    ],
    [
      'was asked for',
      {
        memory: { ...made, syncedAtMs: nowMs },
        entities: { x: entity },
        annotations: { 'setpoint.dev/reconcile-requested-at': '1' },
      },
      ['get x', 'update x {"size":1}'],
      [],
    ],
    [
      'was asked for, and answered',
      {
        memory: { ...made, syncedAtMs: nowMs, request: '1' },
        annotations: { 'setpoint.dev/reconcile-requested-at': '1' },
      },
      [],
      [],
    ],
    ['was deleted outside', { memory: made }, ['get x', 'create'], ['x was deleted outside; another one is made']],
    [
      'is said not to be there',
      { memory: made, failing: { get: new HttpError(404, 'none') } },
      ['get x', 'create'],
      ['x was deleted outside; another one is made'],
    ],
    [
      'goes while it is changed',
      { memory: made, entities: { x: drifted }, failing: { update: new HttpError(404, 'none') } },
      ['get x', 'update x {"size":1}', 'create'],
      ['x was deleted outside; another one is made'],
    ],
  ])('that %s', async (_what, given, calls, drift) => {
    const told = await runOnce(given)
    expect([told.calls, told.drift, told.outcome?.kind]).toEqual([calls, drift, 'done'])
    expect(told.memory).toMatchObject({ digest, syncedAtMs: nowMs })
  })

  it('that is not there was asked for well', async () => {
    const { recorded } = await runOnce({ memory: made, failing: { get: new HttpError(404, 'none') } })
    expect(recorded).toEqual(['get success', 'create success'])
  })

  it('that is asked for remembers the request that was answered', async () => {
    const annotations = { 'setpoint.dev/reconcile-requested-at': '2' }
    const { memory } = await runOnce({ memory: { ...made, request: '1' }, entities: { x: entity }, annotations })
    expect(memory?.request).toBe('2')
  })

  it('that is asked for by a long text remembers the digest of the request', async () => {
    const annotations = { 'setpoint.dev/reconcile-requested-at': 'now '.repeat(2_000) }
    const { memory, calls } = await runOnce({ memory: made, entities: { x: entity }, annotations })
    expect([memory?.request?.length, calls]).toEqual([digest.length, ['get x', 'update x {"size":1}']])
    expect((await runOnce({ memory: { ...memory }, entities: { x: entity }, annotations })).calls).toEqual([])
  })

  it.each([
    [100, 100],
    [101, digest.length],
  ])('that is asked for by a text of %d characters remembers %d', async (length, remembered) => {
    const annotations = { 'setpoint.dev/reconcile-requested-at': 'x'.repeat(length) }
    const { memory } = await runOnce({ memory: made, entities: { x: entity }, annotations })
    expect(memory?.request).toHaveLength(remembered)
  })

  it('that tells nothing new by an update is not made durable within the run', async () => {
    const { calls, keeps } = await runOnce({ memory: made, entities: { x: drifted } })
    expect([calls, keeps]).toEqual([['get x', 'update x {"size":1}'], 0])
  })

  it.each([null, 'text', ['a']])('that a look does not tell, but %j, is not taken for gone', async (answer) => {
    const rule = 'an API that looks for an entity returns it, or undefined if it is not there'
    const got = await runOnce({ memory: made, failing: { get: answer } })
    expect([got.error?.message, got.calls]).toEqual([rule, ['get x']])
    const found = await runOnce({ memory: { intent: { atMs: long } }, api: { find: async () => answer as never } })
    expect([found.error?.message, found.calls]).toEqual([rule, []])
  })

  it.each([
    [{ size: NaN }, 'size is NaN'],
    [{ at: new Date(0) }, 'at is of class Date'],
  ])('that is declared as what JSON cannot say is not made', async (declared, why) => {
    const { error, calls } = await runOnce({ far: { declared: () => declared as never } })
    expect([error?.message, calls]).toEqual([
      expect.stringContaining(`what is declared of Thing thing cannot be compared: ${why}`),
      [],
    ])
  })

  it('that is made again leaves nothing of the one before it but what is the object’s', async () => {
    const outputsAt = { parameter: { name: 'p' } }
    const { memory, created } = await runOnce({
      memory: { ...made, round: 3, request: 'r', outputsAt, differs: ['size'], place: 'here', adopted: 'match' },
    })
    expect(memory).toEqual({
      round: 4,
      lostId: 'x',
      id: 'e1',
      createdAtMs: nowMs,
      digest,
      syncedAtMs: nowMs,
      request: 'r',
      outputsAt,
    })
    expect(created).toMatchObject([[{}, { token: 'u.4' }]])
  })

  it.each<[string, object, string | undefined, string]>([
    ['that was adopted by its id', { adopted: 'match', adoptedAs: 'x' }, 'x', 'x'],
    ['that was adopted by its name', { adopted: 'override', adoptedAs: 'its-name' }, 'its-name', 'its-name'],
    ['that came after one that was adopted', { lostId: 'its-name' }, 'its-name', 'its-name'],
    ['that was made before the annotation', { lostId: 'older' }, 'another', 'x'],
    ['that was made without one', {}, undefined, 'x'],
  ])('%s is gone, and what the annotation says of it is not looked for', async (_what, memory, id, lostId) => {
    const annotations = id === undefined ? {} : { 'setpoint.dev/external-id': id }
    const told = await runOnce({ memory: { ...made, ...memory }, annotations })
    expect(told.memory?.lostId).toBe(lostId)
    expect(told.calls.filter((call) => call === 'create')).toHaveLength(id === 'another' ? 0 : 1)
  })

  it.each<[string, object, string, object | null]>([
    ['its own', {}, 'x', null],
    ['what it was adopted by', { adopted: 'match', adoptedAs: 'n' }, 'n', { status: 'True', reason: 'Matched' }],
    ['what is lost', { lostId: 'n' }, 'n', null],
    [
      'another, behind an adoption of which nothing else is known',
      { adopted: 'override' },
      'n',
      { status: 'True', reason: 'Overridden' },
    ],
    [
      'another than it was adopted by',
      { adopted: 'match', adoptedAs: 'x' },
      'n',
      { status: 'False', reason: 'AnotherEntity', message: 'it is x already: n is not adopted' },
    ],
    [
      'another than the one that was made for it',
      {},
      'n',
      { status: 'False', reason: 'AnotherEntity', message: 'it is x already: n is not adopted' },
    ],
  ])('tells what comes of an annotation that names %s', async (_what, memory, id, condition) => {
    const annotations = { 'setpoint.dev/external-id': id }
    const { outcome } = await runOnce({ memory: { ...made, ...memory }, entities: { x: entity }, annotations })
    expect(outcome?.conditions).toMatchObject({ Adopted: condition })
  })

  it('whose create gives nothing back is a slip of the API', async () => {
    const { error, memory } = await runOnce({ failing: { create: undefined } })
    expect(error).toMatchObject({ name: 'TypeError', message: 'an API that creates returns what it has created' })
    expect(memory?.intent).toEqual({ atMs: nowMs })
  })

  it.each(['create', 'get', 'update'])(
    'of which %s tells no id is a slip of the API, and no other entity',
    async (call) => {
      const isThere = call !== 'create'
      const differing = { x: { ...entity, size: 2 } }
      const given = isThere ? { memory: made, entities: differing, spec: { size: 3 } } : {}
      const { error, memory } = await runOnce({ ...given, api: { [call]: async () => ({}) } })
      expect(error?.message).toMatch(/^idOf of the API of .* gives "undefined", and not the id of an entity$/)
      expect(memory?.id).toBe(isThere ? 'x' : undefined)
    },
  )

  it('that is another one at each look is given up for this run', async () => {
    let count = 0
    const api = { idOf: () => `x${count++}` }
    const { error, events } = await runOnce({ memory: made, entities: { x: entity }, api })
    expect(error?.message).toContain('no end after 12 steps')
    expect(events).toHaveLength(11)
  })
})

describe('what the status says of an entity', () => {
  it('is what the far side shows, and remembers it', async () => {
    const far = { shown: ({ size }: object & { readonly size?: number }) => ({ size: Number(size) }) }
    const first = await runOnce({ far })
    expect(first.outcome?.status).toEqual({ size: 1, id: 'e1', syncPeriod: '60s' })
    const later = await runOnce({ far, memory: { ...first.memory } })
    expect([later.outcome?.status, later.calls]).toEqual([first.outcome?.status, []])
  })

  it.each([
    [1_989, true],
    [1_990, false],
  ])('is remembered if it has %d letters and eleven signs: %j', async (length, isNoted) => {
    const text = 'x'.repeat(length)
    const before = { ...made, digest: 'old', ...(isNoted ? { isShownInStatus: true as const } : { shown: { a: 1 } }) }
    const far = { shown: () => ({ text }) }
    const { outcome, memory } = await runOnce({ far, memory: before, entities: { x: entity } })
    expect(outcome?.status).toEqual({ text, id: 'x', syncPeriod: '60s' })
    expect([memory?.shown, memory?.isShownInStatus]).toEqual(isNoted ? [{ text }, undefined] : [undefined, true])
  })

  it('is what it said before, if that is too long to be remembered and nobody looks now', async () => {
    const status = { conditions: [], observedGeneration: 1, lastHandledReconcileAt: 'x', text: 'long' }
    const memory = {
      ...made,
      digest: declarationDigest(thingOf({}), {}),
      syncedAtMs: nowMs,
      isShownInStatus: true as const,
    }
    const { outcome, calls } = await runOnce({ memory, status })
    expect([outcome?.status, calls]).toEqual([{ text: 'long', id: 'x', syncPeriod: '60s' }, []])
    expect((await runOnce({ memory })).outcome?.status).toEqual({ id: 'x', syncPeriod: '60s' })
  })

  it('is that it differs where nobody may change it', async () => {
    const annotations = observe
    const memory = { ...made, digest: declarationDigest(thingOf({ annotations }), {}) }
    const { outcome, memory: noted } = await runOnce({ memory, entities: { x: drifted }, annotations })
    const message = 'differs from what is declared; not updated: size'
    expect(outcome?.conditions).toMatchObject({ Synced: { status: 'False', reason: 'Differs', message } })
    expect(noted?.differs).toEqual(['size'])
    const { outcome: equal, memory: later } = await runOnce({
      memory: { ...memory, differs: ['size'] },
      entities: { x: entity },
      annotations,
    })
    expect(equal?.conditions).toMatchObject({ Synced: { status: 'True', reason: 'Observed' } })
    expect(later).not.toHaveProperty('differs')
  })

  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`setting.number.${i}`, 'a']))

  it('is the first of very many fields that differ, and how many more there are', async () => {
    const spec = { settings: many }
    const memory = { ...made, digest: 'old' }
    const { outcome, memory: noted } = await runOnce({ spec, memory, entities: { x: entity }, annotations: observe })
    expect(noted?.differs?.slice(0, 2)).toEqual(['settings.setting.number.0', 'settings.setting.number.1'])
    const left = 300 - (noted?.differs?.length ?? 0) + 1
    const message = expect.stringMatching(new RegExp(`number\\.\\d+, and ${left} more$`)) as string
    expect(outcome?.conditions).toMatchObject({ Synced: { status: 'False', reason: 'Differs', message } })
    const api = { immutable: ['settings'] }
    const { memory: locked } = await runOnce({ spec, memory, entities: { x: entity }, api })
    expect(locked?.locked).toEqual(noted?.differs)
    const of = declarationDigest(thingOf({ spec }), {})
    const { drift } = await runOnce({ spec, memory: { ...made, digest: of }, entities: { x: entity } })
    expect(drift).toEqual([`${noted?.differs?.join(', ')} changed outside; put back`])
    const name = 'a'.repeat(300)
    const one = await runOnce({ spec: { [name]: 1 }, memory, entities: { x: entity }, annotations: observe })
    expect(one.memory?.differs).toEqual([`${name.slice(0, 200)}…`])
  })

  it('is that a field cannot be changed, which is sent as it is', async () => {
    const spec = { size: 1, zone: 'b', gone: 'c' }
    const memory = { ...made, digest: 'old' }
    const entities = { x: { ...entity, size: 9, zone: 'a' } }
    const api = { immutable: ['zone', 'gone'] }
    const { outcome, calls, memory: noted } = await runOnce({ spec, memory, entities, api })
    expect(calls).toEqual(['get x', 'update x {"size":1,"zone":"a"}'])
    const message = 'cannot change after creation; not updated: gone, zone'
    expect(outcome?.conditions).toMatchObject({ ImmutableFields: { status: 'False', reason: 'Differs', message } })
    expect([noted?.locked, outcome?.conditions?.['Synced']]).toEqual([['gone', 'zone'], synced.Synced])
  })
})

describe('an entity that is there already', () => {
  const there = { a: { id: 'a', size: 1 } }
  it.each<[string, Given, string, string, readonly string[]]>([
    ['as declared', { annotations: adopt, entities: there }, 'Matched', 'match', ['get a']],
    [
      'otherwise, and overridden',
      { annotations: { ...adopt, 'setpoint.dev/adopt': 'override' }, entities: { a: { id: 'a', size: 5 } } },
      'Overridden',
      'override',
      ['get a', 'update a {"size":1}'],
    ],
  ])('%s, is adopted', async (...[, given, reason, adopted, calls]) => {
    const told = await runOnce(given)
    expect(told.outcome?.conditions).toMatchObject({ Adopted: { status: 'True', reason } })
    expect([told.calls, told.events]).toEqual([calls, ['Normal Adopted: it is a, which was there already']])
    expect(told.memory).toMatchObject({ id: 'a', adopted, createdAtMs: nowMs })
  })

  it('is not taken for lost by a look soon after that, which does not see it', async () => {
    const { memory } = await runOnce({ annotations: adopt, entities: there })
    const next = await runOnce({
      annotations: adopt,
      entities: {},
      ...(memory && { memory: { ...memory, digest: 'older' } }),
    })
    expect([next.calls, next.created]).toEqual([['get a'], []])
    expect(next.memory).toMatchObject({ id: 'a' })
  })

  it('marked for another object, is taken over, and never again once it is marked for this one', async () => {
    const spec = { size: 1, owner: 'u' }
    const given = { spec, annotations: { ...adopt, 'setpoint.dev/adopt': 'takeover' }, api: { markedIn: ['owner'] } }
    const first = await runOnce({ ...given, entities: { a: { id: 'a', size: 5, owner: 'v' } } })
    expect(first.calls).toEqual(['get a', 'update a {"size":1,"owner":"u"}'])
    expect(first.events).toEqual(['Normal Adopted: it is a, which was tagged for v'])
    expect(first.outcome?.conditions).toMatchObject({ Adopted: { status: 'True', reason: 'TakenOver' } })
    expect(first.memory).toMatchObject({ id: 'a', adopted: 'takeover' })
    expect(first.memory).not.toHaveProperty('takenFrom')

    const memory = { ...first.memory, syncedAtMs: long }
    const later = await runOnce({ ...given, memory, entities: { a: { id: 'a', size: 1, owner: 'v' } } })
    expect([later.calls, later.error?.reason]).toEqual([['get a'], 'OwnedByAnother'])
  })

  it('marked for another object, is taken over by the next run if the update fails', async () => {
    const spec = { size: 1, owner: 'u' }
    const given = { spec, annotations: { ...adopt, 'setpoint.dev/adopt': 'takeover' }, api: { markedIn: ['owner'] } }
    const entities = { a: { id: 'a', size: 5, owner: 'v' } }
    const failed = await runOnce({ ...given, entities, failing: { update: new HttpError(503, 'later') } })
    expect([failed.memory?.takenFrom, failed.error?.message]).toEqual(['v', 'later'])
    const next = await runOnce({ ...given, entities, memory: { ...failed.memory } })
    expect(next.entities).toMatchObject({ a: { size: 1, owner: 'u' } })
  })

  it('may lack the mark of its owner while it is not ours, and not once it is', async () => {
    const spec = { size: 1, tag: { owner: 'u' } }
    const api = { markedIn: ['tag'] }
    const first = await runOnce({ spec, annotations: adopt, entities: there, api })
    expect(first.events).toHaveLength(1)
    const memory = { ...first.memory, syncedAtMs: long }
    const later = await runOnce({ spec, annotations: adopt, entities: there, api, memory })
    expect(later.calls).toEqual(['get a', 'update a {"size":1,"tag":{"owner":"u"}}'])
    const annotations = { ...adopt, 'setpoint.dev/manage': 'observe' }
    const observed = await runOnce({ spec, annotations, entities: there, api, memory })
    expect(observed.outcome?.conditions).toMatchObject({ Synced: { status: 'True', reason: 'Observed' } })
  })

  it.each<[string, Given, number]>([
    ['lacks the mark of its owner', {}, 5_000],
    ['is of a kind that nobody marks', { api: { markedIn: [] } }, 60_000],
    ['is not to be updated', { annotations: { ...adopt, 'setpoint.dev/manage': 'create,delete' } }, 60_000],
  ])('and %s is looked at again in time', async (_what, given, resyncAfterMs) => {
    const marked = { annotations: adopt, entities: there, api: { markedIn: ['owner'] } }
    const { calls, outcome } = await runOnce({ ...marked, ...given })
    expect([calls, outcome]).toEqual([['get a'], expect.objectContaining({ resyncAfterMs })])
  })

  it('and only observed is known to be no more than that, though the run fails', async () => {
    const shown = (): never => {
      throw new Error('a bug')
    }
    const given = { annotations: { ...adopt, ...observe }, entities: there, far: { shown } }
    const { error, memory } = await runOnce(given)
    expect([error?.message, memory?.mirrored]).toEqual(['a bug', true])
    expect(memory).not.toHaveProperty('adopted')
  })

  it('is adopted after a create whose answer was lost, and that has made nothing', async () => {
    const given = { memory: { intent: { atMs: long } }, api: finding(), annotations: adopt }
    const told = await runOnce({ ...given, entities: there })
    expect([told.calls, told.recorded]).toEqual([['get a'], ['find success', 'get success']])
    expect(told.memory).toMatchObject({ id: 'a', adopted: 'match' })
    expect(told.memory).not.toHaveProperty('intent')
    const none = await runOnce(given)
    expect([none.calls, none.error?.reason]).toEqual([['get a'], 'NothingToAdopt'])
    // The same attempt, should it come late, is the one that is made once nobody names another entity.
    const next = await runOnce({ memory: { ...none.memory }, api: finding() })
    expect(next.created).toMatchObject([[{ size: 1 }, { token: 'u.0' }]])
  })

  it('for this object is found again after a create whose answer was lost', async () => {
    const told = await runOnce({ memory: { intent: { atMs: long } }, api: finding(entity), entities: { x: entity } })
    expect(told.events).toEqual(['Normal Found: it is x, which was made for it before'])
    expect(told.memory).toMatchObject({ id: 'x' })
    expect(told.memory).not.toHaveProperty('intent')
    expect(told.memory).not.toHaveProperty('adopted')
    expect(told.outcome?.conditions).toMatchObject({ Adopted: null })
    expect([told.calls, told.recorded]).toEqual([['update x {"size":1}'], ['find success', 'update success']])
  })
})

describe('a call that fails', () => {
  const terminal = { status: 'False', reason: 'CreateRefused', message: 'no such size' }

  it('for good stops the object until it changes, or its period is over', async () => {
    const { error, report, memory, recorded } = await runOnce({ failing: { create: refused } })
    expect(error).toMatchObject({ name: 'StopError', reason: 'CreateRefused', message: 'no such size' })
    expect(report).toEqual({ status: { syncPeriod: '60s' }, conditions: { Synced: terminal }, retryWithin: 60_000 })
    const refusal = { digest, atMs: nowMs, reason: 'CreateRefused', message: 'no such size' }
    expect([memory, recorded]).toEqual([{ round: 0, refusal }, ['create error']])
  })

  it.each([
    ['is not made again within the period', 20_000, {}, 0, { atMs: nowMs - 20_000, retryWithin: 40_000 }],
    ['is not made again a moment before that', 59_999, {}, 0, { atMs: nowMs - 59_999, retryWithin: 1 }],
    ['is made again when it is over', 60_000, {}, 1, { atMs: nowMs, retryWithin: 60_000 }],
    ['is not made again without a period', 600_000, { 'setpoint.dev/resync': '0' }, 0, { atMs: nowMs - 600_000 }],
    [
      'is made again on request, and its time stays',
      20_000,
      { 'setpoint.dev/reconcile-requested-at': '1' },
      1,
      { atMs: nowMs - 20_000, retryWithin: 40_000, request: '1' },
    ],
  ])('for good %s', async (...[, agoMs, annotations, count, is]) => {
    const { atMs, retryWithin, request } = is as {
      readonly atMs: number
      readonly retryWithin?: number
      readonly request?: string
    }
    const of = declarationDigest(thingOf({ annotations }), {})
    const refusal = { digest: of, atMs: nowMs - agoMs, reason: 'CreateRefused', message: 'no such size' }
    const told = await runOnce({ annotations, failing: { create: refused }, memory: { refusal } })
    expect([told.calls.length, told.error?.reason]).toEqual([count, 'CreateRefused'])
    expect([told.memory?.refusal?.atMs, told.memory?.request]).toEqual([atMs, request])
    expect(told.report?.retryWithin).toBe(retryWithin)
  })

  it.each<[string, string, string]>([
    ['a thousand letters whole', 'x'.repeat(1_000), 'x'.repeat(1_000)],
    ['more, without a word in them, up to there', 'y'.repeat(1_001), `${'y'.repeat(1_000)}…`],
    ['more, up to a word that would be cut', `${'x'.repeat(995)} yyyyyyyy`, `${'x'.repeat(995)}…`],
    ['more, without the space behind a word', `${'x'.repeat(999)} yyyy`, `${'x'.repeat(999)}…`],
  ])('for good tells of its text %s', async (_what, text, message) => {
    const { error, memory } = await runOnce({ failing: { create: new HttpError(400, text) } })
    expect([error?.message, memory?.refusal?.message]).toEqual([message, message])
  })

  it('of an edit that was taken back is forgotten by the next success', async () => {
    const refusal = { digest: 'other', atMs: long, reason: 'UpdateRefused', message: 'no' }
    const { memory, calls } = await runOnce({
      memory: { ...made, syncedAtMs: nowMs, refusal },
      entities: { x: entity },
    })
    expect([memory, calls]).toEqual([{ round: 0, ...made, syncedAtMs: nowMs }, ['get x']])
  })

  it('whose answer is lost leaves what was intended, and is tried again', async () => {
    const { error, report, memory } = await runOnce({ failing: { create: lost } })
    expect(error).toMatchObject({ name: 'CallFailed', reason: 'CreateFailed', message: 'fetch failed: ECONNRESET' })
    expect(report?.conditions).toMatchObject({ Synced: { status: 'False', reason: 'CreateFailed' } })
    expect([report?.retryWithin, memory]).toEqual([60_000, { round: 0, intent: { atMs: nowMs } }])
  })

  it.each([
    ['lost', new Error('no answer')],
    ['refused', new HttpError(422, 'no')],
  ])('says what its author says of it beside what the run says: %s', async (_how, thrown) => {
    const quota: ConditionPatch = { status: 'False', reason: 'Full' }
    const failing = { create: withReport(thrown, { conditions: { Quota: quota }, retryWithin: '20s' }) }
    const { report } = await runOnce({ failing })
    expect(report).toMatchObject({ status: { syncPeriod: '60s' }, retryWithin: 20_000 })
    expect(report?.conditions).toMatchObject({ Quota: quota, Synced: { status: 'False' } })
  })

  it.each([
    ['get', { memory: made, failing: { get: refused } }, 'ObserveRefused'],
    ['get', { memory: made, failing: { get: lost } }, 'ObserveFailed'],
    ['get', { memory: made, failing: { get: new HttpError(409, 'x') } }, 'ObserveRefused'],
    ['update', { memory: made, entities: { x: drifted }, failing: { update: refused } }, 'UpdateRefused'],
    ['update', { memory: made, entities: { x: drifted }, failing: { update: lost } }, 'UpdateFailed'],
  ])('says by its reason that it was %s: %#', async (verb, given, reason) => {
    const { error, recorded } = await runOnce(given)
    expect([error?.reason, recorded.at(-1)]).toEqual([reason, `${verb} error`])
  })

  it.each([
    ['an error without a cause', new Error('away'), 'away'],
    ['an error whose cause has no code', new Error('away', { cause: new Error('x') }), 'away'],
    ['an error whose cause has a number', new Error('away', { cause: { code: 5 } }), 'away'],
    ['an error whose cause has a code', new Error('away', { cause: { code: 'EX' } }), 'away: EX'],
    ['an error that says the code of its cause', new Error('away: EX', { cause: { code: 'EX' } }), 'away: EX'],
    ['a text', 'away', 'away'],
  ])('says what %s says', (_what, cause, message) => {
    expect(new CallFailed('get', 'unknown', cause)).toMatchObject({ message, cause, class: 'unknown' })
  })

  it('because something has its name looks whose that is', async () => {
    const none = await runOnce({ failing: { create: taken } })
    expect(none.error).toMatchObject({ reason: 'NameTaken', message: 'it is there' })
    expect(none.memory).not.toHaveProperty('intent')
    const other = await runOnce({ failing: { create: taken }, api: finding({ id: 'y', size: 1 }) })
    expect(other.error?.message).toBe('it is there; to adopt it, annotate setpoint.dev/external-id=y')
    const mine = await runOnce({ failing: { create: taken }, api: finding(entity), entities: { x: entity } })
    expect(mine.memory).toMatchObject({ id: 'x', digest })
  })
})

describe('a rate that the account has reached', () => {
  const message = "the account's rate limit is reached; the calls continue by themselves"
  const waiting = { reason: 'RateLimited', message }

  it('makes an object wait for which somebody waits, and says so', async () => {
    const { outcome, memory, recorded } = await runOnce({ failing: { create: limited } })
    expect(outcome).toEqual({
      kind: 'again',
      afterMs: 5_000,
      status: { syncPeriod: '60s' },
      ready: waiting,
      conditions: { Synced: { status: 'False', ...waiting } },
    })
    // Nobody could look whether it was made: a person would be asked about what the far side has refused.
    expect([memory, recorded]).toEqual([{ round: 0 }, ['create error']])
  })

  it('makes an object look for what it was not allowed to make, if it can, and if nobody knows', async () => {
    const intent = { atMs: nowMs }
    // The far side may have counted a call that it had taken.
    const looking = await runOnce({ api: finding(), failing: { create: limited } })
    expect(looking.memory).toEqual({ round: 0, intent })
    const away = new HttpError(503, 'later', { retryAfterMs: 5_000 })
    const unknown = await runOnce({ failing: { create: away } })
    expect([unknown.outcome?.kind, unknown.memory]).toEqual(['again', { round: 0, intent }])
  })

  it.each([limited, refused])('tells nothing of an attempt before it that nobody can look for: %s', async (answer) => {
    const api = { createsOncePerToken: true }
    const { memory } = await runOnce({ memory: { intent: { atMs: long } }, api, failing: { create: answer } })
    expect(memory?.intent).toEqual({ atMs: nowMs })
    const looked = await runOnce({
      memory: { intent: { atMs: long } },
      api: { ...api, ...finding() },
      failing: { create: refused },
    })
    expect(looked.memory).not.toHaveProperty('intent')
  })

  it('makes nothing of a look for which nobody waits', async () => {
    const { outcome } = await runOnce({ memory: made, failing: { get: limited } })
    expect(outcome).toEqual({ kind: 'again', afterMs: 5_000, ...asMade })
  })

  it.each<[string, Given, object | undefined]>([
    [
      'an update that a look was followed by',
      { memory: made, entities: { x: drifted }, failing: { update: limited } },
      { do: 'update', id: 'x', drift: ['size'] },
    ],
    [
      'an update of what cannot be changed in part',
      {
        spec: { size: 1, zone: 'a' },
        memory: { ...made, digest: declarationDigest(thingOf({ spec: { size: 1, zone: 'a' } }), {}) },
        entities: { x: { ...drifted, zone: 'b' } },
        api: { immutable: ['zone'] },
        failing: { update: limited },
      },
      { do: 'update', id: 'x', drift: ['size'], locked: { zone: 'b' } },
    ],
    [
      'a deletion that a look was followed by',
      { memory: made, entities: { x: entity }, isDeleting: true, failing: { delete: limited } },
      { do: 'delete', id: 'x' },
    ],
    [
      'an update that is too long to be noted',
      {
        memory: made,
        entities: { x: { ...drifted, zone: 'z'.repeat(2_000) } },
        api: { immutable: ['zone'] },
        failing: { update: limited },
      },
      undefined,
    ],
    [
      'an update of what JSON cannot say',
      {
        memory: made,
        entities: { x: { ...drifted, zone: new Date(0) as unknown as string } },
        api: { immutable: ['zone'] },
        failing: { update: limited },
      },
      undefined,
    ],
    ['a look', { memory: made, failing: { get: limited } }, undefined],
    [
      'what is no change, though a look has come before',
      {
        annotations: adopt,
        entities: { a: { id: 'a', size: 1 } },
        far: { place: () => Promise.reject(limited) },
      },
      undefined,
    ],
    [
      'a create that a look was followed by, and the far side refused for it',
      { memory: { intent: { atMs: long } }, api: finding(), failing: { create: limited } },
      undefined,
    ],
    ['a create that the far side refused for it', { memory: made, failing: { create: limited } }, undefined],
  ])('keeps for the next run %s', async (_what, given, change) => {
    const { memory } = await runOnce(given)
    const of = declarationDigest(thingOf(given), {})
    expect(memory?.planned).toEqual(change && { digest: of, untilMs: nowMs + 10_000 + 60_000, change })
  })

  it.each([
    ['a planned change', 1_000, 1_900, true, true],
    ['what the status shows, without the change', 1_900, 1_900, true, false],
    ['neither, with a long refusal and long names', 1_900, 0, false, false],
  ])('notes what there is room for: %s', async (...[, shownLength, zoneLength, hasShown, hasPlan]) => {
    const shown = { text: 's'.repeat(shownLength) }
    const refusal = { digest: 'old', atMs: long, reason: 'CreateRefused', message: 'r'.repeat(1_000) }
    const adoptedAs = 'arn:'.repeat(300)
    const { memory } = await runOnce({
      memory: { ...made, shown, ...(zoneLength === 0 && { refusal, adoptedAs }) },
      entities: { x: { ...drifted, zone: 'z'.repeat(zoneLength) } },
      api: { immutable: ['zone'] },
      failing: { update: limited },
    })
    expect([memory?.shown, memory?.isShownInStatus]).toEqual(hasShown ? [shown, undefined] : [undefined, true])
    expect([memory?.planned !== undefined, memory?.id]).toEqual([hasPlan, 'x'])
  })

  const closed = { perSecond: () => 1, noteLimit: () => {} }
  function afterCalls(count: number): RateBudget {
    let left = count
    return { ...closed, take: () => (left-- > 0 ? 0 : 7_000) }
  }

  it('keeps a create that was not sent, if it has cost a look, and sends it without another', async () => {
    const intent = { atMs: long }
    const api = finding()
    const first = await runOnce({ memory: { intent }, api, far: { budget: () => afterCalls(1) } })
    expect([first.calls, first.recorded, first.outcome]).toMatchObject([[], ['find success'], { afterMs: 7_000 }])
    const planned = { digest, untilMs: nowMs + 74_000, change: { do: 'create', round: 0 } }
    expect(first.memory).toEqual({ round: 0, intent, planned })
    const again = await runOnce({ memory: { ...first.memory }, api, far: { budget: () => afterCalls(0) } })
    expect([again.recorded, again.memory?.planned]).toEqual([[], planned])
    const sent = await runOnce({ memory: { ...again.memory }, api })
    expect([sent.recorded, sent.memory?.planned]).toEqual([['create success'], undefined])
    const unlooked = await runOnce({ far: { budget: () => afterCalls(0) } })
    expect(unlooked.memory).toBeUndefined()
  })

  it('keeps what was seen of what cannot be changed, for the update that comes later', async () => {
    const spec = { size: 1, zone: 'a', late: 'b' }
    const given = { spec, api: { immutable: ['zone', 'late'] }, entities: { x: { ...drifted, zone: 'b' } } }
    const of = declarationDigest(thingOf({ spec }), {})
    const change = { do: 'update', id: 'x', drift: ['size'], locked: { zone: 'b' } } as const
    const planned = { digest: of, untilMs: nowMs + 1, change: { ...change, drift: ['size'] } }
    const { calls, drift } = await runOnce({ ...given, memory: { ...made, digest: of, planned } })
    expect(calls).toEqual(['update x {"size":1,"zone":"b"}'])
    expect(drift).toEqual(['size changed outside; put back'])
  })

  it('is told to its budget with the time that the far side named', async () => {
    const budget = createRateBudget({ perSecond: 10, burst: 10 })
    await runOnce({ failing: { create: limited }, far: { budget: () => budget } })
    expect(budget.read?.(nowMs)).toMatchObject({ perSecond: 5, left: 0, closedUntilMs: nowMs + 5_000 })
  })

  it.each<[string, Given, string]>([
    ['nothing has changed', { memory: made, entities: { x: entity } }, 'sync'],
    ['it is new', {}, 'user'],
    ['it was edited', { memory: { ...made, digest: 'old' }, entities: { x: entity } }, 'user'],
    [
      'somebody asked',
      { memory: made, entities: { x: entity }, annotations: { 'setpoint.dev/reconcile-requested-at': '1' } },
      'user',
    ],
    ['it is being deleted', { memory: made, isDeleting: true }, 'user'],
  ])('is asked for a call where %s', async (_what, given, lane) => {
    const lanes: string[] = []
    const take = (of: string): number => {
      lanes.push(of)
      return 0
    }
    await runOnce({ ...given, far: { budget: () => ({ ...closed, take }) } })
    expect(new Set(lanes)).toEqual(new Set([lane]))
  })
})

describe('the place of an entity', () => {
  const placed = (place: string): Given['far'] & {} => ({ place: async () => place })

  it('is noted when it is made, found or adopted, and costs no call', async () => {
    const first = await runOnce({ far: placed('here') })
    expect([first.memory?.place, first.recorded]).toEqual(['here', ['create success']])
    const annotations = adopt
    const adopted = await runOnce({ annotations, entities: { a: { id: 'a', size: 1 } }, far: placed('here') })
    expect(adopted.memory).toMatchObject({ id: 'a', place: 'here' })
  })

  it('is asked for once in a run', async () => {
    let count = 0
    const place = async (): Promise<string> => {
      count++
      return 'here'
    }
    const far = { place }
    const memory = { ...made, place: 'here' }
    await runOnce({ memory, entities: { x: drifted }, far })
    expect(count).toBe(1)
    await runOnce({ memory, entities: { x: entity }, far, isDeleting: true, api: { delete: async () => {} } })
    // Once for each of the two looks, ahead of the deletion and behind it.
    expect(count).toBe(3)
  })

  it.each<[string, Given, readonly string[]]>([
    ['looked for', {}, ['get x']],
    ['deleted', { isDeleting: true }, ['get x', 'delete x']],
    [
      'deleted without another look',
      {
        isDeleting: true,
        memory: { planned: { digest, untilMs: nowMs + 1, change: { do: 'delete', id: 'x' } } },
      },
      ['delete x'],
    ],
    [
      'changed',
      { memory: { planned: { digest, untilMs: nowMs + 1, change: { do: 'update', id: 'x', drift: [] } } } },
      ['update x {"size":1}'],
    ],
  ])('is where it is %s, and nowhere else', async (_what, given, calls) => {
    const memory = { ...made, place: 'here', ...given.memory }
    const elsewhere = await runOnce({ ...given, memory, entities: { x: entity }, far: placed('there') })
    expect(elsewhere.calls).toEqual([])
    expect(elsewhere.error).toMatchObject({ reason: 'ObserveRefused', message: 'x is at here, and not at there' })
    const there = await runOnce({ ...given, memory, entities: { x: entity }, far: placed('here') })
    expect(there.calls.slice(0, calls.length)).toEqual(calls)
    expect(there.error).toBeUndefined()
    expect(there.recorded).toHaveLength(there.calls.length)
    const unknown = await runOnce({
      ...given,
      memory: { ...made, ...given.memory },
      entities: { x: entity },
      far: placed('there'),
    })
    expect(unknown.error).toBeUndefined()
  })

  const begun = { intent: { atMs: long } }
  it.each<[string, Given, readonly string[]]>([
    ['looked for', { api: finding(entity) }, ['find success', 'update success']],
    ['taken away', { api: finding(entity), isDeleting: true }, ['find success', 'delete success', 'get success']],
    ['made again with its token', { api: { createsOncePerToken: true } }, ['create success']],
    [
      'made again, as it was planned',
      {
        api: finding(),
        memory: { ...begun, planned: { digest, untilMs: nowMs + 1, change: { do: 'create', round: 0 } } },
      },
      ['create success'],
    ],
  ])(
    'is where its create was sent whose answer was lost: there it is %s, and nowhere else',
    async (_what, given, calls) => {
      const memory = { ...begun, place: 'here', ...given.memory }
      const elsewhere = await runOnce({ ...given, memory, entities: { x: entity }, far: placed('there') })
      expect([elsewhere.calls, elsewhere.recorded, elsewhere.memory?.intent]).toEqual([[], [], begun.intent])
      expect(elsewhere.error).toMatchObject({
        reason: 'ObserveRefused',
        message: 'its create was sent to here, and not to there',
      })
      const there = await runOnce({ ...given, memory, entities: { x: entity }, far: placed('here') })
      expect([there.error, there.recorded]).toEqual([undefined, calls])
    },
  )

  it('may be another one once a person says that the create made nothing, or there was none', async () => {
    const annotations = { 'setpoint.dev/create-again': 'u.0' }
    const told = await runOnce({ annotations, memory: { ...begun, place: 'here' }, far: placed('there') })
    expect(told.memory).toMatchObject({ id: 'e1', round: 1, place: 'there' })
    const undone = await runOnce({ memory: { place: 'here' }, far: placed('there') })
    expect(undone.memory).toMatchObject({ id: 'e1', place: 'there' })
  })
})

describe('what an author tells of an entity', () => {
  it.each<[string, object, string]>([
    ['shown', { shown: async () => ({}) }, 'shown tells its fields'],
    ['lateInitialized', { lateInitialized: async () => ({}) }, 'lateInitialized tells its fields'],
    ['outputs', { outputs: { name: () => 's', data: async () => ({ a: 'b' }) } }, 'data of outputs tells its texts'],
  ])('is refused as a promise: %s', async (_what, far, rule) => {
    const { error, memory, secrets } = await runOnce({ far })
    expect(error).toMatchObject({ name: 'TypeError', message: `${rule} at once, and not as a promise` })
    expect([memory?.id, secrets]).toEqual(['e1', []])
  })
})

describe('values that the far side chose', () => {
  it('are written into the spec where it says nothing, once, and count as declared', async () => {
    const far = { lateInitialized: () => ({ size: 7, zone: 'a', none: undefined, nothing: null }) }
    const { patches, memory } = await runOnce({ far })
    expect(patches).toEqual([['thing', { spec: { zone: 'a' }, metadata: { resourceVersion: '1' } }, undefined]])
    expect(memory?.digest).toBe(declarationDigest(thingOf({ spec: { size: 1, zone: 'a' } }), {}))
    expect((await runOnce({ far, spec: { size: 1, zone: 'b' } })).patches).toEqual([])
    expect((await runOnce({})).patches).toEqual([])
  })

  it('are not written over what was said meanwhile, nor into another object of the name', async () => {
    const far = { lateInitialized: () => ({ zone: 'a', plan: 'free' }) }
    const live = thingOf({ spec: { size: 1, zone: 'b' } })
    const { patches, memory } = await runOnce({ far, objects: { 'ns/thing': live } })
    expect(patches).toEqual([['thing', { spec: { plan: 'free' }, metadata: { resourceVersion: '1' } }, undefined]])
    // The edit is yet to be sent.
    expect(memory?.digest).toBe(declarationDigest(thingOf({ spec: { size: 1, plan: 'free' } }), {}))
    const another = { ...thingOf({}), metadata: { ...thingOf({}).metadata, uid: 'v' } }
    expect((await runOnce({ far, objects: { 'ns/thing': another } })).patches).toEqual([])
  })
})

describe('what an object waits for', () => {
  it('is kept, and asked for when its time is over', async () => {
    const memory = { id: 'x', createdAtMs: nowMs - 10_000 }
    const first = await runOnce({ memory })
    const reason = 'NotVisibleYet'
    expect(first.outcome).toMatchObject({
      kind: 'done',
      ready: { reason },
      resyncAfterMs: 2e4,
      conditions: {
        Synced: {
          status: 'False',
          reason,
        },
      },
    })
    expect(first.memory?.wait).toMatchObject({ digest, untilMs: nowMs + 20_000, reason })
    const again = await runOnce({ memory: { ...first.memory } })
    expect([again.calls, again.outcome]).toEqual([[], first.outcome])
  })

  it('for ever is not kept: a change wakes it', async () => {
    const annotations = { 'setpoint.dev/manage': 'update', 'setpoint.dev/resync': '0' }
    const { outcome, memory } = await runOnce({ annotations, api: finding() })
    expect(outcome).toMatchObject({ kind: 'done', ready: { reason: 'Absent' } })
    expect(outcome).not.toHaveProperty('resyncAfterMs')
    expect(memory).toBeUndefined()
  })
})

describe('what was noted by a clock that was ahead', () => {
  const far = nowMs + 86_400_000
  const drift = { x: drifted }

  it('keeps nothing from being looked at, and is noted by the clock of now', async () => {
    const run = await runOnce({ memory: { ...made, createdAtMs: far, syncedAtMs: far }, entities: drift })
    expect(run.calls[0]).toBe('get x')
    expect(run.memory).toMatchObject({ createdAtMs: nowMs, syncedAtMs: nowMs })
  })

  it('is noted by the clock of now though there is nothing to do', async () => {
    const { calls, memory } = await runOnce({ memory: { ...made, createdAtMs: far, syncedAtMs: nowMs } })
    expect([calls, memory]).toEqual([[], { round: 0, ...made, createdAtMs: nowMs, syncedAtMs: nowMs }])
  })

  it.each<[string, NonNullable<Given['memory']>]>([
    ['a refusal', { ...made, refusal: { digest, atMs: far, reason: 'r', message: 'm' } }],
    ['a wait', { ...made, digest: 'other', wait: { digest, untilMs: far, reason: 'r', message: 'm' } }],
  ])('is forgotten: %s', async (_what, memory) => {
    const { calls, memory: then } = await runOnce({ memory, entities: drift })
    expect(calls[0]).toBe('get x')
    expect([then?.refusal, then?.wait]).toEqual([undefined, undefined])
  })

  it('has what was created a moment ago believed for its grace from now on', async () => {
    const { outcome, memory } = await runOnce({ memory: { id: 'x', createdAtMs: far } })
    expect(outcome).toMatchObject({ ready: { reason: 'NotVisibleYet' }, resyncAfterMs: 30_000 })
    expect(memory).toMatchObject({ createdAtMs: nowMs, wait: { untilMs: nowMs + 30_000 } })
  })

  it('is a moment ahead where the clocks of two processes differ, and stays', async () => {
    const memory = { ...made, syncedAtMs: nowMs + 5_000 }
    const { calls, memory: then } = await runOnce({ memory })
    expect([calls, then]).toEqual([[], { round: 0, ...memory }])
  })
})

describe('the end of an entity', () => {
  const gone = { isDeleting: true } as const

  it('is asked for, told once, and over when a look says so', async () => {
    const first = await runOnce({ ...gone, memory: made, entities: { x: entity } })
    expect(first.calls).toEqual(['get x', 'delete x', 'get x'])
    expect([first.events, first.outcome]).toEqual([['Normal Deleted: x is deleted'], { kind: 'done' }])
    expect(first.memory?.deletedAtMs).toBe(nowMs)
  })

  it('comes though nothing can be declared any more', async () => {
    const declared = (): never => {
      throw stop('SpecInvalid', 'there is no such size')
    }
    const { outcome, entities } = await runOnce({ ...gone, memory: made, entities: { x: entity }, far: { declared } })
    expect([outcome, entities]).toEqual([{ kind: 'done' }, {}])
  })

  it('that takes its time is waited for, and asked for again without another word', async () => {
    const stays = { delete: async () => {} }
    const first = await runOnce({ ...gone, memory: made, entities: { x: entity }, api: stays })
    expect(first.outcome).toMatchObject({ kind: 'again', afterMs: 5_000, ready: { reason: 'StillThere' } })
    const memory = { ...made, deletedAtMs: nowMs - 30_000 }
    const later = await runOnce({ ...gone, memory, entities: { x: entity }, api: stays })
    expect(later.outcome).toMatchObject({ kind: 'again', afterMs: 30_000 })
    expect([later.events, later.memory?.deletedAtMs]).toEqual([[], nowMs - 30_000])
  })

  it.each<[string, Given, readonly string[], readonly string[]]>([
    ['never was', {}, [], []],
    [
      'is kept',
      { memory: made, annotations: { 'setpoint.dev/manage': 'create' } },
      [],
      ['Normal Kept: the entity outside is kept'],
    ],
    [
      'is another object’s by now',
      { memory: made, entities: { x: { ...entity, owner: 'v' } } },
      ['get x'],
      ['Normal OwnedByAnother: x is tagged for another owner and is kept'],
    ],
    [
      'only has its name, and was there before a create whose answer was lost',
      { memory: { intent: { atMs: long } }, api: finding({ id: 'y', size: 1 }) },
      [],
      ['Normal NameTaken: y has its name, but is not marked as its own, and is kept'],
    ],
    [
      'was made by a create whose answer was lost',
      { memory: { intent: { atMs: long } }, entities: { x: entity }, api: finding(entity) },
      ['delete x', 'get x'],
      ['Normal Deleted: x is deleted'],
    ],
    [
      'was adopted by an object that may not change it, and has no mark',
      {
        memory: { ...made, adopted: 'match', adoptedAs: 'x' },
        annotations: { 'setpoint.dev/manage': 'delete' },
        entities: { x: { id: 'x', size: 1 } },
      },
      ['get x', 'delete x', 'get x'],
      ['Normal Deleted: x is deleted'],
    ],
    [
      'was to be adopted, and was not yet',
      { annotations: { 'setpoint.dev/external-id': 'x' }, entities: { x: { id: 'x', size: 1 } } },
      [],
      [],
    ],
    ['is gone already', { memory: made }, ['get x'], []],
  ])('of what %s', async (_what, given, calls, events) => {
    const told = await runOnce({ ...gone, ...given })
    expect([told.calls, told.events, told.outcome]).toEqual([calls, events, { kind: 'done' }])
  })

  it('of what nobody can look for stops', async () => {
    const { error, report } = await runOnce({ ...gone, memory: { intent: { atMs: long } } })
    expect(error?.reason).toBe('CreateUnknown')
    expect(report?.conditions).toMatchObject({ Synced: { reason: 'CreateUnknown' } })
  })
})
