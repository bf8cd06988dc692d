import { describe, expect, it } from 'vitest'
import { done, withReport, type ApiObject, type Context, type Outcome } from '../../../../shared/index.ts'
import { reportOf } from '../../../../shared/reconciler/outcome.ts'
import { isInShare } from '../../../../shared/reconciler/canary/decide-canary.ts'
import { withCanary } from '../../../../shared/reconciler/canary/with-canary.ts'

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
  const runs = withCanary('page', of('v1', clean !== 'none'), { version: 'v2', ...of('v2', clean === 'both') })
  return { runs, called }
}

/** An object in so small a share that every trial has it. */
const uid = Array.from({ length: 1_000 }, (_, i) => `uid-${i}`).find((one) => isInShare(one, 1)) ?? ''

function pageOf(mark?: string): ApiObject {
  const conditions = mark === undefined ? [] : [{ type: 'Canary', status: 'True', reason: mark }]
  return { metadata: { name: 'a', uid }, status: { conditions } } as unknown as ApiObject
}

function contextOf(canary: object | undefined): { readonly ctx: Context; readonly asked: unknown[] } {
  const asked: unknown[] = []
  const get = async (_: unknown, at: unknown): Promise<unknown> => {
    asked.push(at)
    return canary
  }
  return { ctx: { get } as unknown as Context, asked }
}

const trial = { spec: { version: 'v2' }, status: { version: 'v2', share: 1 } }

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

  const mark = (status: string, message: string) => ({ status, reason: 'v2', message })
  it.each([
    ['runs the new code', trial, undefined, mark('True', 'version v2 ran'), mark('False', 'version v2 failed')],
    ['runs the old code', undefined, undefined, undefined, undefined],
    ['runs the old code again', undefined, 'v2', null, null],
  ])('that %s says so, whatever the end is', async (...[, canary, before, well, ill]) => {
    const { ctx } = contextOf(canary)
    const outcome = await runsOf().runs.reconcile(pageOf(before), ctx)
    expect(outcome.conditions).toEqual({ ...said, ...(well !== undefined && { Canary: well }) })

    const marked = ill === undefined ? {} : { Canary: ill }
    const bare = new Error('away')
    await runsOf({ end: () => Promise.reject(bare) })
      .runs.reconcile(pageOf(before), ctx)
      .catch(() => {})
    expect(reportOf(bare)?.conditions ?? {}).toEqual(marked)

    const reported = withReport(new Error('away'), { conditions: said, retryWithin: '5s' })
    const end = (): Promise<never> => Promise.reject(reported)
    await expect(runsOf({ end }).runs.reconcile(pageOf(before), ctx)).rejects.toBe(reported)
    expect(reportOf(reported)).toEqual({ conditions: { ...said, ...marked }, retryWithin: '5s' })

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

  it('has no clean-up where the reconciler has none', () => {
    expect(runsOf({ clean: 'none' }).runs).not.toHaveProperty('cleanup')
  })
})
