import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createExternalRuns } from '../../../../shared/reconciler/external/run-external.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import {
  contextOf,
  createWorld,
  deleting,
  graceMs,
  Killed,
  periodMs,
  specOf,
  thing,
  type FarSideOptions,
  type Fault,
  type Notebook,
  type World,
} from './far-side.ts'
import { share } from '../../../support/strength.ts'

/**
 * Random lives of one object and its entity: edits, time, what others do on the far side, calls that are refused,
 * limited, lost, and a process that dies before or after any of them. There is never more than one entity; when the
 * faults are over there is exactly one, as declared; and when the object is gone there is none.
 */

type Event =
  | { readonly kind: 'run'; readonly faults: readonly Fault[] }
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'edit'; readonly size: number }
  | { readonly kind: 'edited outside'; readonly size: number }
  | { readonly kind: 'deleted outside' }

const fault = fc.constantFrom<Fault>(
  'none',
  'none',
  'refused',
  'lost',
  'dropped',
  'killed before',
  'killed after',
  'limited',
)
const ran = fc.record({ kind: fc.constant('run' as const), faults: fc.array(fault, { maxLength: 4 }) })
const passed = fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(100, 5_000, 31_000, 61_000) })
const edited = fc.record({ kind: fc.constant('edit' as const), size: fc.integer({ min: 1, max: 3 }) })
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: ran },
  { weight: 3, arbitrary: passed },
  { weight: 1, arbitrary: edited },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('edited outside' as const), size: fc.constant(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleted outside' as const) }) },
)
const lagMs = fc.constantFrom(0, 10_000, 20_000)
const lingerMs = fc.constantFrom(0, 20_000, 100_000)
const options = (able: boolean): fc.Arbitrary<FarSideOptions> =>
  fc
    .record({
      finds: fc.boolean(),
      createsOncePerToken: fc.boolean(),
      lagMs,
      lingerMs,
    })
    .filter(({ finds, createsOncePerToken }) => (finds || createsOncePerToken) === able)

interface Life {
  readonly world: World
  readonly notebook: Notebook
  readonly able: FarSideOptions
  size: number
}

function begin(able: FarSideOptions): Life {
  return { world: createWorld(), notebook: { kept: {} }, able, size: 1 }
}

/** One run. True if it ended with `done`; what is thrown is the engine's to retry. */
async function run(
  life: Life,
  { faults = [], isDeleting = false }: { faults?: readonly Fault[]; isDeleting?: boolean } = {},
) {
  const { world, notebook, able } = life
  const left = [...faults]
  world.next = () => left.shift() ?? 'none'
  const { ctx, end } = contextOf(world, notebook)
  const runs = createExternalRuns(specOf(world, able))
  const object: ApiObject = thing(life.size)
  try {
    const outcome = await (isDeleting ? runs.cleanup(deleting(object), ctx) : runs.reconcile(object, ctx))
    end()
    return outcome.kind === 'done'
  } catch (error) {
    if (!(error instanceof Killed)) end()
    return false
  }
}

async function happen(life: Life, happening: Event): Promise<void> {
  const { world } = life
  switch (happening.kind) {
    case 'run':
      return void (await run(life, happening))
    case 'time':
      world.nowMs += happening.ms
      return
    case 'edit':
      life.size = happening.size
      return
    case 'edited outside':
      for (const entity of world.entities) entity.size = happening.size
      return
    case 'deleted outside':
      world.entities.splice(0)
  }
}

async function healed(life: Life, isDeleting = false): Promise<boolean> {
  let isDone = false
  for (let i = 0; i < 8; i++) {
    isDone = await run(life, { isDeleting })
    if (isDeleting && isDone) return true
    life.world.nowMs += Math.max(graceMs, periodMs) + 1
  }
  return isDone
}

describe('the life of an entity outside', () => {
  it('on a far side that can be asked, or that knows tokens: one entity, as declared, and none at the end', async () => {
    await fc.assert(
      fc.asyncProperty(options(true), fc.array(event, { maxLength: 25 }), async (able, events) => {
        const life = begin(able)
        for (const happening of events) await happen(life, happening)
        expect(life.world.most).toBeLessThanOrEqual(1)
        expect(await healed(life)).toBe(true)
        expect(life.world.entities).toMatchObject([{ owner: 'uid-1', size: life.size }])
        for (const happening of events.slice(0, 3)) await happen(life, happening)
        // Whoever can find nothing asks a person for what is lost; see below.
        if (!able.finds) await healed(life)
        expect(await healed(life, true)).toBe(true)
        expect(life.world.entities).toEqual([])
        expect(life.world.most).toBe(1)
      }),
      { numRuns: share(400) },
    )
  })

  it('on one that cannot be asked and knows no tokens: one entity at most, and rather a person is asked', async () => {
    await fc.assert(
      fc.asyncProperty(options(false), fc.array(event, { maxLength: 25 }), async (able, events) => {
        const life = begin(able)
        for (const happening of events) await happen(life, happening)
        const isDone = await healed(life)
        expect(life.world.most).toBeLessThanOrEqual(1)
        if (isDone) expect(life.world.entities).toMatchObject([{ size: life.size }])
        else expect(JSON.stringify(life.notebook.kept)).toContain('CreateUnknown')
        const isGone = await healed(life, true)
        if (isGone) expect(life.world.entities).toEqual([])
      }),
      { numRuns: share(400) },
    )
  })

  it('costs no call while nothing is due', async () => {
    const life = begin({ finds: true, createsOncePerToken: false, lagMs: 0 })
    await run(life)
    for (let i = 0; i < 59; i++) {
      life.world.nowMs += 1_000
      await run(life)
    }
    expect(life.world.calls).toEqual(['create'])
  })
})

describe('an object that is deleted before it has healed', () => {
  it('leaves nothing of a create whose answer was lost, though a second try of it was refused', async () => {
    const life = begin({ finds: true, createsOncePerToken: true, lagMs: 10_000 })
    await run(life, { faults: ['lost'] })
    expect(life.world.entities).toHaveLength(1)
    life.world.nowMs += 1_000
    await run(life, { faults: ['none', 'refused'] })
    expect(life.world.calls).toEqual(['create', 'find', 'create'])
    life.world.nowMs += 1_000
    expect(await healed(life, true)).toBe(true)
    expect(life.world.entities).toEqual([])
  })

  it.each([
    { finds: false, createsOncePerToken: false },
    { finds: false, createsOncePerToken: true },
    { finds: true, createsOncePerToken: false },
    { finds: true, createsOncePerToken: true },
  ])('leaves nothing, or waits for a person where nobody can look: %o', async (able) => {
    const events = fc.array(fc.oneof(ran, passed, edited), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(lagMs, lingerMs, events, async (lag, linger, happenings) => {
        const life = begin({ ...able, lagMs: lag, lingerMs: linger })
        for (const happening of happenings) await happen(life, happening)
        expect(life.world.most).toBeLessThanOrEqual(1)
        const isGone = await healed(life, true)
        if (isGone) expect(life.world.entities).toEqual([])
        else expect(able.finds).toBe(false)
      }),
      { numRuns: share(1_500) },
    )
  })
})
