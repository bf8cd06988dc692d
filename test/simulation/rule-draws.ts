import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { licenseName } from './kinds/parcel.ts'
import { relicNames } from './placed.ts'
import type { Extras, Scenario, Step } from './scenario.ts'
import { below, oneOf } from './world.ts'

const base = { mood: 'plain', to: '', size: 0, value: 0 } as const

function soon(random: SeededRandom): number {
  return Math.floor(random.next() ** 2 * 90_000)
}

/** One seed in ten: a kind in two versions, written and read in both; and all of it stored in the present one. */
export function relicsOf(random: SeededRandom, { herd, climate }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 10 || herd > 0) return []
  const names = [...relicNames, 'relic-3']
  const some = (user: number): readonly Step[] =>
    Array.from({ length: 3 + below(random, 6) }, () => {
      const act = oneOf(random, ['apply', 'apply', 'apply', 'edit', 'edit', 'compare', 'compare', 'delete'] as const)
      const isOld = act !== 'compare' && random.next() < 1 / 2
      // Each user has names of their own: who writes what is acknowledged last is known.
      const name = names[2 * below(random, 2) + (user - writer)] ?? ''
      // What only one version shows is lost where the other is stored.
      const content = {
        value: 1 + below(random, 9),
        size: 1 + below(random, 9),
        to: climate.deploying ? '' : `note-${below(random, 100)}`,
      }
      const step: Step = { ...base, ...content, user, act, afterMs: soon(random), kind: 'Relic', name }
      return isOld ? { ...step, version: 'v1alpha1' as const } : step
    })
  const migrate = { ...base, user: writer + 2, act: 'migrate', kind: 'Relic', name: 'all' } as const
  const looks = names.map((name): Step => ({
    ...base,
    user: writer + 2,
    act: 'compare',
    afterMs: 0,
    kind: 'Relic',
    name,
  }))
  return [...some(writer), ...some(writer + 1), { ...migrate, afterMs: below(random, 240_000) }, ...looks]
}

const writer = 34

/** One seed in ten: a kind whose author completes and refuses what is written. */
export function passesOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 10 || herd > 0) return []
  return Array.from({ length: 4 + below(random, 8) }, (_, i) => {
    const act = oneOf(random, ['apply', 'apply', 'apply', 'apply', 'edit', 'edit', 'delete', 'poke', 'remark'] as const)
    const value = 10 + i + below(random, 12)
    return { ...base, user: 37, act, afterMs: soon(random), kind: 'Pass', name: `pass-${below(random, 2)}`, value }
  })
}

/** One seed in ten: a policy for ConfigMaps of some names, and its binding, come and go. */
export function policiesOf(random: SeededRandom): readonly Step[] {
  if (random.next() >= 1 / 10) return []
  const ruler = 38
  const rules = Array.from({ length: 2 + below(random, 5) }, (_, i): Step => {
    const act = i === 0 ? 'enact' : oneOf(random, ['enact', 'enact', 'repeal'] as const)
    const afterMs = i === 0 ? below(random, 5_000) : 20_000 + below(random, 200_000)
    const name = oneOf(random, ['thirds', 'threes'])
    return { ...base, user: ruler, act, afterMs, kind: 'Policy', name, value: below(random, 3), size: below(random, 3) }
  })
  const writes = Array.from({ length: 10 + below(random, 20) }, (_, i): Step => {
    const act = oneOf(random, ['apply', 'apply', 'apply', 'edit', 'delete'] as const)
    const value = below(random, 30)
    return {
      ...base,
      user: ruler + 1,
      act,
      afterMs: below(random, 40_000),
      kind: 'ConfigMap',
      name: `ruled-${i % 3}`,
      value,
    }
  })
  return [...rules, ...writes]
}

/**
 * One seed in ten: servers and policies that are asked about ConfigMaps of some names come and go, and change whether
 * they may be left out.
 */
export function webhooksOf(random: SeededRandom): readonly Step[] {
  if (random.next() >= 1 / 10) return []
  const [ruler, writers] = [69, [70, 71]]
  const rules = Array.from({ length: 2 + below(random, 5) }, (_, i): Step => {
    const kind = oneOf(random, ['Guard', 'Guard', 'Stamp', 'Tint'] as const)
    const act = i < 2 ? 'enact' : oneOf(random, ['enact', 'enact', 'repeal'] as const)
    const afterMs = i < 2 ? below(random, 5_000) : 20_000 + below(random, 200_000)
    const name = kind === 'Guard' ? `guard-${below(random, 3)}` : kind.toLowerCase()
    return { ...base, user: ruler, act, afterMs, kind, name, value: below(random, 3), size: below(random, 3) }
  })
  const some = (user: number): readonly Step[] =>
    Array.from({ length: 8 + below(random, 12) }, (_, i): Step => {
      const act = oneOf(random, ['apply', 'apply', 'apply', 'edit', 'delete'] as const)
      const name = `hooked-${user}-${i % 2}`
      return { ...base, user, act, afterMs: below(random, 40_000), kind: 'ConfigMap', name, value: below(random, 30) }
    })
  return [...rules, ...writers.flatMap(some)]
}

/** One seed in ten: a namespace may have so many ConfigMaps, which several make and take away. */
export function rationsOf(random: SeededRandom): readonly Step[] {
  if (random.next() >= 1 / 10) return []
  const [clerk, namespace] = [40, 'ration']
  const place: Step = { ...base, user: clerk, act: 'apply', afterMs: 0, kind: 'Namespace', name: namespace }
  const enact = (): Step => {
    const value = 1 + below(random, 4)
    return {
      ...base,
      user: clerk,
      act: 'enact',
      afterMs: soon(random),
      kind: 'Quota',
      name: 'ration',
      namespace,
      value,
    }
  }
  const repeal: Step = { ...enact(), act: 'repeal', afterMs: 100_000 + below(random, 200_000) }
  const first = enact()
  // With each change of another limit all is counted anew, while others make more.
  const counts = Array.from({ length: below(random, 8) }, (_, i): Step => {
    return { ...first, afterMs: below(random, 20_000), size: i + 1 }
  })
  const rules = random.next() < 1 / 3 ? [first, repeal, { ...enact(), afterMs: 5_000 }] : [first, ...counts]
  const some = (user: number): readonly Step[] =>
    Array.from({ length: 6 + below(random, 14) }, (_, i) => {
      const act = oneOf(random, ['apply', 'apply', 'apply', 'delete'] as const)
      const afterMs = random.next() < 1 / 2 ? below(random, 2_000) : soon(random)
      const name = `r-${user}-${below(random, 4)}`
      return { ...base, user, act, afterMs, kind: 'ConfigMap', name, namespace, value: i }
    })
  const rush = random.next() < 1 / 2 ? rushOf(random, first) : []
  return [place, ...rules, ...some(clerk + 1), ...some(clerk + 2), ...some(clerk + 3), ...rush]
}

/**
 * Long after everybody knows of a quota: several make and take away at once what it leaves room for, while it is
 * counted again and again, so that a count misses what is being made.
 */
function rushOf(random: SeededRandom, enact: Step): readonly Step[] {
  const [clerk, users] = [65, [66, 67, 68]]
  const count: Step = { ...enact, user: clerk, afterMs: 0 }
  const counts = Array.from({ length: 8 }, (_, i): Step => {
    const afterMs = i === 0 ? rushMs : below(random, 6_000)
    return { ...count, afterMs, size: 10 + i }
  })
  const some = (user: number): readonly Step[] =>
    Array.from({ length: 12 }, (_, i): Step => {
      const act = i % 3 === 2 ? 'delete' : 'apply'
      const name = `rush-${user}-${i % 2}`
      const afterMs = i === 0 ? rushMs : below(random, 4_000)
      return { ...enact, user, act, afterMs, kind: 'ConfigMap', name, value: i }
    })
  return [...counts, ...users.flatMap(some)]
}

const rushMs = 240_000

/**
 * One seed in sixteen: what refers to something is changed to refer to something else, which changes just then, so that
 * whoever runs the one too early has seen the other as it was, and is told no more.
 */
export function relinksOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 16 || herd > 0) return []
  return Array.from({ length: 6 }, (_, i) => i).flatMap((i) => {
    const link = { ...base, user: 44 + i, act: 'apply', kind: 'Link', name: `relink-${i}` } as const
    const settings = { ...base, user: 44 + i, act: 'apply', kind: 'ConfigMap' } as const
    const to = [`relinked-${i}-0`, `relinked-${i}-1`] as const
    return [
      { ...link, afterMs: soon(random), to: to[0] },
      { ...settings, afterMs: 10_000, name: to[1], value: 1 },
      { ...link, afterMs: 10_000 + below(random, 60_000), to: to[1] },
      { ...settings, afterMs: 100 + below(random, 3_000), name: to[1], value: 2 },
    ]
  })
}

/**
 * One seed in eight: somebody holds objects with a finalizer of their own, says that what was made outside is to stay,
 * or gives an object its own resync period for some minutes.
 */
export function holdsOf(random: SeededRandom, { steps }: Scenario): readonly Step[] {
  const gadgets = steps.filter(({ kind, act, mood }) => kind === 'Gadget' && act === 'apply' && mood === 'plain')
  if (random.next() >= 1 / 8 || gadgets.length === 0) return []
  return Array.from({ length: 2 + below(random, 5) }, (_, i) => i).flatMap((i): readonly Step[] => {
    const step: Step = { ...oneOf(random, gadgets), user: 54 + i, afterMs: Math.floor(random.next() ** 2 * 150_000) }
    const act = oneOf(random, ['hold', 'hold', 'retain', 'pace'] as const)
    // A write whose answer was lost may be made some seconds later.
    if (act === 'hold')
      return [
        { ...step, act },
        { ...step, act: 'free', afterMs: 20_000 + below(random, 100_000) },
      ]
    if (act === 'retain') return [{ ...step, act, value: below(random, 3) === 0 ? 0 : 1 }]
    const minutes = 1 + below(random, 2)
    return [
      { ...step, act, value: minutes },
      { ...step, act, value: 0, afterMs: 420_000 + below(random, 60_000) },
    ]
  })
}

const hastyActs = ['apply', 'recreate', 'recreate', 'propose', 'restate', 'restate', 'delete'] as const

/** One seed in eight: who does not wait until what was deleted has gone, and writes several parts at once. */
export function hasteOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 8 || herd > 0) return []
  return Array.from({ length: 4 + below(random, 8) }, (_, i): Step => {
    const kind = oneOf(random, ['Gadget', 'Witness', 'Errand'] as const)
    const name = kind === 'Errand' ? `e4-${7 + below(random, 2)}` : `${kind.toLowerCase()}-7${below(random, 2)}`
    const act = i === 0 ? 'apply' : oneOf(random, hastyActs)
    return { ...base, user: 70, act, afterMs: oneOf(random, [100, 3_000, 60_000]), kind, name, value: 700 + i }
  })
}

/** Of seeds with Parcels half each: what they may call, what they tell, and what they need. */
export function parcelExtrasOf(random: SeededRandom): Pick<Extras, 'parcels'> {
  const is = (): boolean => random.next() < 1 / 2
  const budget = { perSecond: oneOf(random, [0.2, 0.5, 1]), burst: 1 + below(random, 5) }
  return {
    parcels: {
      ...(is() && { budget }),
      ...(is() && { outputs: true as const }),
      ...(is() && { licensed: true as const }),
    },
  }
}

/** What Parcels need comes and goes, and is there in the end. */
export function licensesOf(random: SeededRandom, { parcels }: Pick<Extras, 'parcels'>): readonly Step[] {
  if (parcels?.licensed !== true) return []
  const step: Step = { ...base, user: 62, act: 'apply', afterMs: 0, kind: 'ConfigMap', name: licenseName, value: 1 }
  const some = Array.from({ length: below(random, 4) }, (_, i): readonly Step[] => [
    { ...step, afterMs: soon(random), value: i + 2 },
    { ...step, act: 'delete', afterMs: 20_000 + below(random, 200_000) },
  ])
  return [...some.flat(), { ...step, act: 'mend', afterMs: soon(random) }]
}

/** Of seeds with Parcels every other one: some that stand for what is there already. */
export function adoptionsOf(random: SeededRandom, hasParcels: boolean): readonly Step[] {
  if (!hasParcels || random.next() < 1 / 2) return []
  return Array.from({ length: 2 + below(random, 4) }, (_, i): Step => {
    const which = below(random, 2)
    const act = i === 0 ? 'apply' : oneOf(random, ['apply', 'apply', 'edit'] as const)
    const adopting = { name: `parcel-${which}`, to: `found-${which}`, value: 300 + i }
    return { ...base, user: 63, act, afterMs: 1_000 + soon(random), kind: 'Parcel', ...adopting }
  })
}
