import { describe, expect, it } from 'vitest'
import { done, withReport, type ApiObject, type Context, type Outcome } from '../../../../shared/index.ts'
import { OperatingError, type ErrorCode } from '../../../../shared/model/errors.ts'
import { reportOf } from '../../../../shared/reconciler/outcome.ts'
import { isInShare } from '../../../../shared/reconciler/canary/decide-canary.ts'
import { withCanary } from '../../../../shared/reconciler/canary/with-canary.ts'

const page = { group: 'test.dev', version: 'v1', kind: 'Page', namespaced: true }
const said = { Ready: { status: 'True', reason: 'Said' } } as const

type End = () => Promise<Outcome>

const ok: End = async () => done({ conditions: said })

function runsOf({
  end = ok,
  clean = 'both',
}: { readonly end?: End; readonly clean?: 'both' | 'stable' | 'none' } = {}) {
  const called: string[] = []
  const of = (name: string, isClean: boolean) => ({
    reconcile: () => {
      called.push(name)
      return end()
    },
    ...(isClean && {
      cleanup: async () => {
        called.push(`clean ${name}`)
        return done()
      },
    }),
  })
  const runs = withCanary({ name: 'page', kind: page }, of('v1', clean !== 'none'), {
    version: 'v2',
    ...of('v2', clean === 'both'),
  })
  return { runs, called }
}

const lastTransitionTime = '2025-01-01T00:00:00Z'

/** An object in so small a share that every trial has it. */
const uid = Array.from({ length: 1_000 }, (_, i) => `uid-${i}`).find((one) => isInShare(one, 1)) ?? ''

const startedAt = '2026-01-01T00:00:00Z'

/** Of the version that is the mark, and of a trial. */
function pageOf(mark?: string, { status = 'True', began = startedAt } = {}): ApiObject {
  const message = `version ${mark} ran in the trial of ${began}`
  const conditions = mark === undefined ? [] : [{ type: 'Canary', status, reason: mark, message, lastTransitionTime }]
  const metadata = { name: 'a', namespace: 'n', uid, generation: 3, resourceVersion: '7' }
  return { metadata, status: { conditions } } as unknown as ApiObject
}

function contextOf(canary: object | undefined, live = pageOf('old')) {
  const asked: unknown[] = []
  const written: unknown[] = []
  const get = async (kind: unknown, at: unknown): Promise<unknown> => {
    if (kind === page) return live
    asked.push(at)
    return canary
  }
  const patch = async (...[, at, body, path]: readonly unknown[]): Promise<void> => void written.push([at, body, path])
  const now = (): number => Date.parse('2026-01-01T00:00:00Z')
  return { ctx: { get, patch, now } as unknown as Context, asked, written }
}

const trial = { spec: { version: 'v2' }, status: { version: 'v2', share: 1, startedAt } }

describe('an object of a reconciler with new code', () => {
  it.each([
    ['there is no Canary', undefined, 'v1'],
    ['it is in the share', trial, 'v2'],
    ['the share is none', { ...trial, status: { version: 'v2', share: 0 } }, 'v1'],
    ['nothing is said of a share', { ...trial, status: { version: 'v2' } }, 'v1'],
    ['the Canary is of another version', { ...trial, spec: { version: 'v3' } }, 'v1'],
    ['its share was for another version', { ...trial, status: { version: 'v1', share: 1 } }, 'v1'],
    ['it has not looked yet', { spec: trial.spec }, 'v1'],
  ])('where %s', async (_what, canary, by) => {
    const { runs, called } = runsOf()
    const { ctx, asked } = contextOf(canary)
    await runs.reconcile(pageOf(), ctx)
    expect(called).toEqual([by])
    expect(asked).toEqual([{ name: 'page', namespace: '' }])
  })

  it('is looked at as one without a Canary where that kind is not served, and not if nobody knows', async () => {
    const contextThat = (code: ErrorCode): Context =>
      ({ get: () => Promise.reject(new OperatingError(code, 'no')) }) as unknown as Context
    const { runs, called } = runsOf()
    await runs.reconcile(pageOf(), contextThat('NOT_FOUND'))
    expect(called).toEqual(['v1'])
    await expect(runs.reconcile(pageOf(), contextThat('UNAVAILABLE'))).rejects.toThrow('no')
    expect(called).toEqual(['v1'])
  })

  it.each([
    ['of no version', pageOf(), 1],
    ['of another version', pageOf('v1'), 1],
    ['of this version', pageOf('v2'), 0],
    ['of another trial of this version', pageOf('v2', { began: '2025-01-01T00:00:00Z' }), 1],
    ['of another trial that never ended', pageOf('v2', { began: '2025-01-01T00:00:00Z', status: 'Unknown' }), 1],
  ])('%s is marked before the new code begins', async (_what, before, times) => {
    const { ctx, written } = contextOf(trial, before)
    const begun = {
      type: 'Canary',
      status: 'Unknown',
      reason: 'v2',
      message: `version v2 runs in the trial of ${startedAt}`,
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration: 3,
    }
    let writtenThen: unknown[] = []
    const end: End = async () => {
      writtenThen = [...written]
      return done()
    }
    await runsOf({ end }).runs.reconcile(before, ctx)
    const body = { status: { conditions: [begun] }, metadata: { resourceVersion: '7' } }
    expect(writtenThen).toEqual(times === 0 ? [] : [[{ name: 'a', namespace: 'n' }, body, { subresource: 'status' }]])
    expect(written).toHaveLength(times)
  })

  const mark = (status: string, what: string) => ({
    status,
    reason: 'v2',
    message: `version v2 ${what} in the trial of ${startedAt}`,
  })
  it.each([
    ['runs the new code', trial, undefined, mark('True', 'ran'), mark('False', 'failed')],
    ['runs the old code', undefined, undefined, undefined, undefined],
    ['runs the old code again', undefined, 'v2', null, null],
  ])('that %s says so, whatever the end is', async (...[, canary, before, well, ill]) => {
    const { ctx } = contextOf(canary)
    const outcome = await runsOf().runs.reconcile(pageOf(before), ctx)
    expect(outcome.conditions).toEqual({ ...said, ...(well !== undefined && { Canary: well }) })

    const marked = ill === undefined ? {} : { Canary: ill }
    const failing = async (why: Error): Promise<unknown> => {
      const end = (): Promise<never> => Promise.reject(why)
      return runsOf({ end })
        .runs.reconcile(pageOf(before), ctx)
        .catch((thrown: unknown) => thrown)
    }
    const bare = new Error('away')
    const thrown = await failing(bare)
    expect(thrown).toMatchObject({ message: 'away' })
    expect(reportOf(thrown)?.conditions ?? {}).toEqual(marked)
    // The run of another object may throw the same error.
    expect(reportOf(bare)).toBeUndefined()

    const reported = withReport(bare, { conditions: said, retryWithin: '5s' })
    expect(reportOf(await failing(reported))).toEqual({ conditions: { ...said, ...marked }, retryWithin: '5s' })
    expect(reportOf(reported)).toEqual({ conditions: said, retryWithin: '5s' })

    const nothing = (async () => {}) as unknown as End
    expect(await runsOf({ end: nothing }).runs.reconcile(pageOf(before), ctx)).toBeUndefined()

    const noError: unknown = 'text'
    const throws: End = async () => {
      throw noError as Error
    }
    const text = runsOf({ end: throws }).runs.reconcile(pageOf(before), ctx)
    await expect(text).rejects.toBe('text')
  })

  it.each([
    ['both', 'v2', 'clean v2'],
    ['both', 'v1', 'clean v1'],
    ['both', undefined, 'clean v1'],
    ['stable', 'v2', 'clean v1'],
    ['stable', undefined, 'clean v1'],
  ] as const)('where %s have a clean-up is cleaned up by what ran it, %s', async (clean, ran, by) => {
    const { runs, called } = runsOf({ clean })
    await runs.cleanup?.(pageOf(ran), contextOf(trial).ctx)
    expect(called).toEqual([by])
  })

  it('is cleaned up by the new code of its version in whatever trial that ran it', async () => {
    const { runs, called } = runsOf()
    await runs.cleanup?.(pageOf('v2', { began: '2025-01-01T00:00:00Z' }), contextOf(trial).ctx)
    expect(called).toEqual(['clean v2'])
  })

  it('has no clean-up where the reconciler has none', () => {
    expect(runsOf({ clean: 'none' }).runs).not.toHaveProperty('cleanup')
  })
})
