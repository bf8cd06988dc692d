import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createExternalRuns } from '../../../../shared/reconciler/external/run-external.ts'
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

interface Life {
  readonly world: World
  readonly notebook: Notebook
  readonly able: FarSideOptions
  size: number
}
const begin = (able: FarSideOptions): Life => ({ world: createWorld(), notebook: { kept: {} }, able, size: 1 })

async function run(life: Life, faults: readonly Fault[] = [], isDeleting = false): Promise<boolean> {
  const { world, notebook, able } = life
  const left = [...faults]
  world.next = () => left.shift() ?? 'none'
  const { ctx, end } = contextOf(world, notebook)
  const runs = createExternalRuns(specOf(world, able))
  const object = thing(life.size)
  try {
    const outcome = await (isDeleting ? runs.cleanup(deleting(object), ctx) : runs.reconcile(object, ctx))
    end()
    return outcome.kind === 'done'
  } catch (error) {
    if (!(error instanceof Killed)) end()
    return false
  }
}

async function remove(life: Life): Promise<boolean> {
  for (let i = 0; i < 8; i++) {
    if (await run(life, [], true)) return true
    life.world.nowMs += Math.max(graceMs, periodMs) + 1
  }
  return false
}

describe('an object that is deleted before it has healed', () => {
  it('leaves nothing of a create whose answer was lost, though a second try of it was refused', async () => {
    const life = begin({ finds: true, createsOncePerToken: true, lagMs: 10_000 })
    await run(life, ['lost'])
    expect(life.world.entities).toHaveLength(1)
    life.world.nowMs += 1_000
    await run(life, ['none', 'refused'])
    expect(life.world.calls).toEqual(['create', 'find', 'create'])
    life.world.nowMs += 1_000
    expect(await remove(life)).toBe(true)
    expect(life.world.entities).toEqual([])
  })

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
  const event = fc.oneof(
    fc.record({ faults: fc.array(fault, { maxLength: 4 }) }),
    fc.record({ ms: fc.constantFrom(100, 5_000, 31_000, 61_000) }),
    fc.record({ size: fc.integer({ min: 1, max: 3 }) }),
  )

  it.each([
    { finds: false, createsOncePerToken: false },
    { finds: false, createsOncePerToken: true },
    { finds: true, createsOncePerToken: false },
    { finds: true, createsOncePerToken: true },
  ])('leaves nothing, or waits for a person where nobody can look: %o', async (able) => {
    const lagMs = fc.constantFrom(0, 10_000, 20_000)
    const lingerMs = fc.constantFrom(0, 20_000, 100_000)
    await fc.assert(
      fc.asyncProperty(lagMs, lingerMs, fc.array(event, { maxLength: 12 }), async (lag, linger, events) => {
        const life = begin({ ...able, lagMs: lag, lingerMs: linger })
        for (const happened of events) {
          if ('faults' in happened) await run(life, happened.faults)
          if ('ms' in happened) life.world.nowMs += happened.ms
          if ('size' in happened) life.size = happened.size
        }
        expect(life.world.most).toBeLessThanOrEqual(1)
        const isGone = await remove(life)
        if (isGone) expect(life.world.entities).toEqual([])
        else expect(able.finds).toBe(false)
      }),
      { numRuns: share(1_500) },
    )
  })
})
