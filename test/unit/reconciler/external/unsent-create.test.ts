import { expect, it } from 'vitest'
import { OperatingError, type ErrorCode } from '../../../../shared/model/errors.ts'
import { createExternalRuns } from '../../../../shared/reconciler/external/run-external.ts'
import { contextOf, createWorld, periodMs, specOf, thing, type Notebook } from './far-side.ts'

it.each<ErrorCode>(['THROTTLED', 'VERSION_CONFLICT', 'UNAVAILABLE'])(
  'a create whose intent could not be kept was never sent, and is made by the next run: %s',
  async (code) => {
    const world = createWorld()
    const notebook: Notebook = { kept: {} }
    const runs = createExternalRuns(specOf(world, { finds: false, createsOncePerToken: false, lagMs: 0 }))
    const run = async (isStoreAway: boolean): Promise<string> => {
      const { ctx, end } = contextOf(world, notebook)
      const refuse = () => Promise.reject(new OperatingError(code, 'not now'))
      if (isStoreAway) Object.assign(ctx.notes, { keep: refuse })
      const how = await runs.reconcile(thing(1), ctx).then(
        ({ kind }) => kind,
        () => 'failed',
      )
      // As the engine does, the end of the run writes what is noted.
      end()
      world.nowMs += periodMs + 1
      return how
    }
    expect([await run(true), world.calls]).toEqual(['failed', []])
    expect([await run(false), await run(false)]).toEqual(['done', 'done'])
    expect(world.calls).toEqual(['create', 'get', 'update'])
  },
)
