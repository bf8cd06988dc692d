import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { toolDefinition } from './kinds/tool.ts'
import type { KindName, Scenario, Step } from './scenario.ts'
import { below, oneOf } from './world.ts'

const base = { mood: 'plain', to: '', size: 0, value: 0 } as const

/**
 * One seed in ten: objects that own each other in circles and in chains, of which some have several owners, some block
 * theirs, and some are deleted in each of the three ways, while others are tied to them.
 */
export function tiesOf(random: SeededRandom, { herd }: Scenario, hasTools: boolean): readonly Step[] {
  if (random.next() >= 1 / 10 || herd > 0) return []
  const withTools = hasTools || random.next() < 1 / 3
  const kinds: readonly KindName[] = ['ConfigMap', 'ConfigMap', ...(random.next() < 1 / 2 ? (['Gadget'] as const) : [])]
  const count = 2 + below(random, 3)
  const names = Array.from({ length: count }, (_, i) => ({ kind: oneOf(random, kinds), name: `tied-${i}` }))
  const owners = [...names, ...(withTools ? [{ kind: 'Tool' as const, name: 'tied-tool' }] : [])]
  const owner = (): string => textOf(oneOf(random, owners))
  const isBlocking = random.next()
  const tie = (user: number, thing: Thing, to: string, size: number): Step => {
    const value = random.next() < isBlocking ? 1 : 0
    return { ...base, ...thing, user, act: 'tie', afterMs: pauseOf(random), to, size, value }
  }
  const ring = names.flatMap((thing, i) => tie(tyer, thing, textOf(names[(i + 1) % count] ?? thing), 0))
  const some = (user: number): readonly Step[] =>
    Array.from({ length: 3 + below(random, 6) }).flatMap((): readonly Step[] => {
      const act = oneOf(random, ['tie', 'tie', 'tie', 'untie', 'dispose', 'dispose'] as const)
      const thing = oneOf(random, act === 'dispose' ? owners : names)
      if (act === 'tie') return [tie(user, thing, owner(), oneOf(random, [0, 1, 1]))]
      const step: Step = { ...base, ...thing, user, act, afterMs: pauseOf(random), to: owner(), size: below(random, 3) }
      // Who deletes it may think of its children later.
      const isAgain = act === 'dispose' && random.next() < 1 / 3
      return isAgain ? [step, { ...step, afterMs: below(random, 1_500), size: below(random, 3) }] : [step]
    })
  // The first of a circle can name nobody yet: whoever comes round again names who is there.
  return [
    ...(withTools ? toolSteps(random, hasTools) : []),
    ...ring,
    ...ring.slice(0, 1).map((step) => ({ ...step, size: 1 })),
    ...some(tyer),
    ...some(tyer + 1),
  ]
}

type Thing = Pick<Step, 'kind' | 'name'>

function textOf({ kind, name }: Thing): string {
  return `${kind} ${name}`
}

/** Half of what is done comes at once behind what was done before. */
function pauseOf(random: SeededRandom): number {
  return random.next() < 1 / 2 ? below(random, 2_000) : below(random, 40_000)
}

/** A Tool that owns others, whose definition comes and goes with it, as others have drawn it or as these users do. */
function toolSteps(random: SeededRandom, hasTools: boolean): readonly Step[] {
  const tool = { ...base, user: tyer + 2, act: 'tie', kind: 'Tool', name: 'tied-tool' } as const
  const definition = { ...base, user: tyer + 2, kind: 'Definition', name: toolDefinition.name } as const
  const made: Step = { ...definition, act: 'apply', afterMs: 0 }
  const goes: Step = { ...definition, act: 'delete', afterMs: 10_000 + below(random, 120_000) }
  const again = { ...tool, afterMs: 3_000 + below(random, 20_000) }
  if (hasTools) return [again, again]
  return [
    made,
    again,
    again,
    ...(random.next() < 2 / 3 ? [goes, { ...made, afterMs: below(random, 90_000) }, again] : []),
  ]
}

const tyer = 90
