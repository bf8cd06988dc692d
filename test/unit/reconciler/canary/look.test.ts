import { describe, expect, it } from 'vitest'
import {
  canaries,
  conditionOf,
  type ApiObject,
  type Condition,
  type Context,
  type Controller,
} from '../../../../shared/index.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import { asStored } from '../../../../shared/reconciler/canary/as-stored.ts'
import { isInShare } from '../../../../shared/reconciler/canary/decide-canary.ts'

/** One look of a Canary at the objects of its reconciler, without an engine. */

const page = { group: 'test.dev', version: 'v1', kind: 'Page', namespaced: true }
const second = 1_000
const minute = 60 * second
const startedMs = Date.parse('2026-01-01T00:00:00Z')
const at = (ms: number): string => new Date(startedMs + ms).toISOString()

function idsOf(isIn: boolean, count: number, share = 10): readonly string[] {
  const ids = Array.from({ length: 40 * count }, (_, i) => `uid-${i}`)
  return ids.filter((uid) => isInShare(uid, share) === isIn).slice(0, count)
}

const trialStart = '2026-01-01T00:00:00Z'

type Said = readonly [status: string, reason: string, sinceMs?: number | undefined, trial?: string]

/** An object with these conditions, by type: the status, the reason, since when in milliseconds, and the trial. */
function pageOf(uid: string, conditions: Readonly<Record<string, Said>> = {}, metadata: object = {}): ApiObject {
  const said = Object.entries(conditions).map(([type, [status, reason, sinceMs, trial = trialStart]]) => ({
    type,
    status,
    reason,
    message: `so it is in the trial of ${trial}`,
    lastTransitionTime: sinceMs === undefined ? 'never' : at(sinceMs),
  }))
  return {
    apiVersion: 'test.dev/v1',
    kind: 'Page',
    metadata: { name: uid, namespace: 'n', uid, ...metadata },
    status: { conditions: said as unknown as Condition[] },
  } as unknown as ApiObject
}

const ran = { Canary: ['True', 'v2'] } as const
/** Of a trial of the same version before. */
const ranBefore = { Canary: ['True', 'v2', -minute, '2025-12-31T00:00:00Z'] } as const

interface Look {
  readonly pages?: readonly ApiObject[]
  readonly status?: object
  readonly spec?: object
  readonly name?: string
  readonly deployed?: string
  readonly nowMs?: number
  /** Of each write of an object. */
  readonly failing?: Error
  /** Of each list. */
  readonly unlisted?: Error
}

const begun = { version: 'v2', phase: 'Trial', share: 10, startedAt: at(0), shareSince: at(0), why: '' }

async function look(given: Look) {
  const { pages = [], status, spec, name = 'page', deployed = 'v2', nowMs = minute, failing, unlisted } = given
  const events: string[] = []
  const woken: { readonly at: object; readonly request: unknown }[] = []
  const listed: unknown[] = []
  const ctx = {
    now: () => startedMs + nowMs,
    list: async (kind: unknown, options: unknown) => {
      listed.push([kind, options])
      if (unlisted !== undefined) throw unlisted
      return pages
    },
    event: async (type: string, reason: string) => void events.push(`${type} ${reason}`),
    patch: async (_: unknown, place: object, patch: { readonly metadata: { readonly annotations: object } }) => {
      woken.push({ at: place, request: Object.values(patch.metadata.annotations)[0] })
      if (failing !== undefined) throw failing
    },
  }
  const controller = { name: 'page', kind: page, canary: deployed } as unknown as Controller
  const { reconcile } = canaries([controller])
  const canary = {
    metadata: { name },
    spec: { version: 'v2', shares: [10, 50], hold: '10m', grace: '2m', tolerance: 0, ...spec },
    ...(status && { status }),
  }
  const outcome = await reconcile(canary as unknown as ApiObject, ctx as unknown as Context)
  const { trial, others } = (outcome.status ?? {}) as { readonly trial: object; readonly others: object }
  return { outcome, trial, others, events, woken, listed }
}

const notDeployed = { reason: 'NotDeployed' }

describe('the reconciler of Canaries', () => {
  it('may write the objects of those that it is for, and takes less than a minute', () => {
    const { rights, timeoutMs } = canaries([{ name: 'page', kind: page } as unknown as Controller])
    expect(rights.get('test.dev/Page')).toMatchObject({ access: 'write' })
    expect(timeoutMs).toBe(50 * second)
  })

  it('stops where there is no such reconciler', async () => {
    await expect(look({ name: 'other' })).rejects.toMatchObject({ reason: 'NoSuchReconciler' })
  })

  it('waits for the version to be deployed', async () => {
    const { outcome, listed } = await look({ deployed: 'v3' })
    expect(outcome).toMatchObject({ kind: 'again', afterMs: minute, ready: { reason: 'NotDeployed' } })
    expect(listed).toEqual([])
  })

  it('has what another version has run go back, while the named one is not deployed', async () => {
    const [inside = ''] = idsOf(true, 1)
    const pages = [pageOf(inside, ran), pageOf(inside), pageOf(inside, ran, { deletionTimestamp: at(0) })]
    const { outcome, woken } = await look({ pages, spec: { version: 'v3' }, status: begun })
    const request = `canary v2 0 in the trial of ${begun.startedAt}`
    expect(woken).toEqual([{ at: { name: inside, namespace: 'n' }, request }])
    expect(outcome).toEqual({ kind: 'again', afterMs: minute, ready: expect.objectContaining(notDeployed) as unknown })
    const many = idsOf(true, 201).map((uid) => pageOf(uid, ran))
    const first = await look({ pages: many, spec: { version: 'v3' }, status: begun })
    expect(first.woken).toHaveLength(200)
    expect(first.outcome).toMatchObject({ kind: 'again', afterMs: second, ready: notDeployed })
    const same = await look({ pages, deployed: 'v3', status: begun })
    expect(same.listed).toEqual([])
  })
})

describe('the first look', () => {
  it.each([
    ['there is no status', undefined],
    ['the status is of another version', { ...begun, version: 'v1', share: 50 }],
    ['the status has no phase', { ...begun, phase: undefined, share: 50 }],
    ['the status has no share', { ...begun, share: undefined }],
    ['nobody knows when the trial began', { ...begun, share: 50, startedAt: undefined }],
    ['nobody knows since when the share is so', { ...begun, share: 50, shareSince: 'x' }],
  ])('begins a trial where %s, and wakes nobody before that is written', async (_what, status) => {
    const { outcome, woken, events, listed } = await look({
      pages: [pageOf(idsOf(true, 1)[0] ?? '')],
      ...(status && { status }),
    })
    expect(outcome).toEqual({
      kind: 'again',
      afterMs: second,
      ready: { reason: 'Trial', message: '0 of 1 objects of the share have run it' },
      status: {
        ...begun,
        startedAt: '2026-01-01T00:01:00Z',
        shareSince: '2026-01-01T00:01:00Z',
        trial: { objects: 1, ran: 0, unready: 0 },
        others: { objects: 0, unready: 0 },
      },
    })
    expect([woken, events, listed]).toEqual([[], [], [[asStored(page), { namespace: '' }]]])
  })
})

describe('a later look', () => {
  const [inside = '', insideToo = ''] = idsOf(true, 2)
  const [outside = ''] = idsOf(false, 1)

  it('has those run whose code is not that of their share, once', async () => {
    const request = `canary v2 10 in the trial of ${trialStart}`
    const annotations = { 'setpoint.dev/reconcile-requested-at': request }
    const pages = [
      pageOf(inside),
      pageOf(insideToo, ran),
      pageOf(outside),
      pageOf(outside, ran, { name: 'back', namespace: undefined }),
      pageOf(inside, { Canary: ['True', 'v1'] }, { name: 'of another version' }),
      pageOf(inside, ranBefore, { name: 'of another trial' }),
      pageOf(outside, { Canary: ['True', 'v1'] }, { name: 'back from another version' }),
      pageOf(outside, ranBefore, { name: 'back from another trial' }),
      pageOf(inside, {}, { name: 'asked', annotations }),
      pageOf(outside, ran, { name: 'asked to go back', annotations }),
    ]
    const { outcome, woken } = await look({ pages, status: begun })
    expect(woken).toEqual([
      { at: { name: inside, namespace: 'n' }, request },
      { at: { name: 'back', namespace: '' }, request },
      { at: { name: 'of another version', namespace: 'n' }, request },
      { at: { name: 'of another trial', namespace: 'n' }, request },
      { at: { name: 'back from another version', namespace: 'n' }, request },
      { at: { name: 'back from another trial', namespace: 'n' }, request },
    ])
    expect(outcome).toMatchObject({ kind: 'again', afterMs: 30 * second })
  })

  it('goes on where an object goes meanwhile, and fails where one cannot be written', async () => {
    const pages = [pageOf(inside), pageOf(insideToo)]
    const gone = await look({ pages, status: begun, failing: new OperatingError('NOT_FOUND', 'gone') })
    expect(gone.woken).toHaveLength(2)
    const failing = new OperatingError('UNAVAILABLE', 'no room')
    await expect(look({ pages, status: begun, failing })).rejects.toThrow('no room')
  })

  it('asks as one of no time where the status has none', async () => {
    const { woken } = await look({ pages: [pageOf(inside)], status: begun, spec: { decision: 'Promote' } })
    expect(woken).toEqual([])
    const promoted = { ...begun, phase: 'Promoted', share: 100 }
    const { woken: all } = await look({ pages: [pageOf(outside)], status: promoted })
    expect(all).toMatchObject([{ request: `canary v2 100 in the trial of ${trialStart}` }])
  })

  it.each([
    [200, 30 * second],
    [201, second],
  ])('of %d objects that are to run wakes two hundred, and comes back after %d ms', async (count, afterMs) => {
    const { outcome, woken } = await look({ pages: idsOf(true, count).map((uid) => pageOf(uid)), status: begun })
    expect(woken).toHaveLength(200)
    expect(outcome).toMatchObject({ kind: 'again', afterMs })
  })

  it('counts who is in the share, who ran, and who became unready and stayed so for the grace', async () => {
    const unready = (sinceMs?: number) => ({ Ready: ['False', 'Broken', sinceMs] as const })
    const pages = [
      pageOf(inside),
      pageOf(inside, ran),
      pageOf(inside, { ...ran, Ready: ['True', 'Ready', minute] }),
      pageOf(inside, { ...ran, ...unready(-1 * second) }),
      pageOf(inside, { ...ran, ...unready(0) }),
      pageOf(inside, { ...ran, ...unready(3 * minute) }),
      pageOf(inside, { ...ran, ...unready(3 * minute + second) }),
      pageOf(inside, { ...ran, Ready: ['Unknown', 'Pending', minute] }),
      pageOf(inside, unready(minute)),
      pageOf(inside, { Canary: ['Unknown', 'v2', 3 * minute + second], ...unready(minute) }),
      pageOf(inside, { Canary: ['Unknown', 'v2', 3 * minute], ...unready(minute) }),
      pageOf(inside, { Canary: ['Unknown', 'v2'] }),
      pageOf(inside, { Canary: ['Unknown', 'v1', 0] }),
      pageOf(inside, { ...ranBefore, ...unready(minute) }),
      pageOf(outside),
      pageOf(outside, unready(minute)),
      pageOf(outside, unready()),
      pageOf(inside, { ...ran, ...unready(minute) }, { deletionTimestamp: at(0) }),
      pageOf(outside, unready(minute), { annotations: { 'setpoint.dev/paused': 'true' } }),
    ]
    const { trial, others } = await look({ pages, status: begun, nowMs: 5 * minute })
    expect(trial).toEqual({ objects: 14, ran: 9, unready: 4 })
    expect(others).toEqual({ objects: 3, unready: 2 })
  })

  it.each([
    ['waits at the end of the hold for what is unready for less than the grace', 11 * minute, 10],
    ['goes on where it was so before the trial', -minute, 50],
    ['waits for what another clock says is unready from now on', 12 * minute, 10],
  ])('%s', async (_what, sinceMs, share) => {
    const pages = [pageOf(inside, { ...ran, Ready: ['False', 'Broken', sinceMs] }), pageOf(outside)]
    const { outcome } = await look({ pages, status: begun, nowMs: 11 * minute + 59 * second })
    expect(outcome.status).toMatchObject({ share })
    expect(outcome.status).not.toHaveProperty('unreadyNow')
  })

  it('does not wait for what no code runs, as it does not fit its kind, and counts it nowhere', async () => {
    const unfit = ['False', 'SpecInvalid', minute] as const
    const pages = [
      pageOf(inside, ran),
      pageOf(inside, { Ready: unfit }),
      pageOf(inside, { ...ran, Ready: unfit }),
      pageOf(inside, { Canary: ['False', 'v1'], Ready: unfit }),
      pageOf(inside, { Canary: ['False', 'v2', 0, '2025-12-31T00:00:00Z'], Ready: unfit }),
      pageOf(inside, { Canary: ['False', 'v2'], Ready: unfit }),
      pageOf(outside),
      pageOf(outside, { Ready: unfit }),
    ]
    const { trial, others } = await look({ pages, status: begun, nowMs: 5 * minute })
    expect(trial).toEqual({ objects: 2, ran: 2, unready: 1 })
    expect(others).toEqual({ objects: 1, unready: 0 })
  })

  it.each([
    ['Promote', 'Normal Promoted', { phase: 'Promoted', share: 100 }],
    ['RollBack', 'Warning RolledBack', { phase: 'RolledBack', share: 0 }],
  ])('obeys a person who says %s though no list can be had, and fails after that', async (decision, event, said) => {
    const unlisted = new OperatingError('DAMAGED', '1 of what is listed cannot be read')
    const spec = { decision }
    const { outcome, events } = await look({ status: begun, spec, unlisted })
    expect(events).toEqual([event])
    const seen = { trial: { objects: 0, ran: 0, unready: 0 }, others: { objects: 0, unready: 0 } }
    expect(outcome).toMatchObject({ kind: 'again', afterMs: second, status: { ...said, ...seen } })
    await expect(look({ status: outcome.status as object, spec, unlisted })).rejects.toBe(unlisted)
    await expect(look({ status: begun, unlisted })).rejects.toBe(unlisted)

    const known = { trial: { objects: 3, ran: 2, unready: 1 }, others: { objects: 9, unready: 4 } }
    const { trial, others } = await look({ status: { ...begun, ...known }, spec, unlisted })
    expect({ trial, others }).toEqual(known)
  })

  it('tells of the end of the trial, once', async () => {
    const promoted = await look({ status: { ...begun, share: 50 }, nowMs: 10 * minute })
    expect(promoted.events).toEqual(['Normal Promoted'])
    expect(promoted.outcome).toMatchObject({ kind: 'again', afterMs: second, ready: true, status: { share: 100 } })
    const after = await look({ status: promoted.outcome.status as object, nowMs: 11 * minute })
    expect(after.events).toEqual([])
    expect(after.outcome).toMatchObject({ kind: 'done', ready: true })

    const pages = [pageOf(inside, { ...ran, Ready: ['False', 'Broken', minute] })]
    const back = await look({ pages, status: begun, nowMs: 5 * minute })
    expect(back.events).toEqual(['Warning RolledBack'])
    const why = '1 of 1 objects that ran it became unready, of the others 0 of 0'
    expect(back.outcome).toMatchObject({ ready: { reason: 'RolledBack', message: why }, status: { share: 0, why } })
    const kept = await look({ pages, status: back.outcome.status as object, nowMs: 6 * minute })
    expect(kept.events).toEqual([])
    expect(kept.outcome).toMatchObject({ kind: 'done', ready: { reason: 'RolledBack', message: why } })
    expect(kept.woken).toHaveLength(1)
    expect(conditionOf(pages[0] as never, 'Canary')).toMatchObject({ reason: 'v2' })
  })
})
