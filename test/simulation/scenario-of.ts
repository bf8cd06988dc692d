import { createSeededRandom, type SeededRandom } from '../../shared/testing/seeded-random.ts'
import { misfitName } from './placed.ts'
import { isFenceTried } from './checkers/checker.ts'
import { kindsIn } from './reconcilers.ts'
import { toolDefinition } from './kinds/tool.ts'
import {
  adoptionsOf,
  hasteOf,
  holdsOf,
  licensesOf,
  parcelExtrasOf,
  passesOf,
  policiesOf,
  rationsOf,
  relicsOf,
  relinksOf,
  webhooksOf,
} from './rule-draws.ts'
import { deedsOf } from './deed-draws.ts'
import { dubsOf, sweepsOf, unleashesOf } from './meddling-draws.ts'
import { tenantsOf } from './tenant-draws.ts'
import { shelvesOf } from './shelf-draws.ts'
import { trunksOf } from './trunk-draws.ts'
import { tiesOf } from './tie-draws.ts'
import { plainScenarioOf, type Extras, type Scenario, type Slowed, type Step } from './scenario.ts'
import { below, oneOf } from './world.ts'

/**
 * All that a seed decides. What was added to the first draws is drawn from streams of its own, one each: a seed that
 * draws none of it runs as it did before there was any.
 */
export function scenarioOf(seed: number): Scenario {
  const stream = (name: string): SeededRandom => createSeededRandom(seed).fork(name)
  const first = plainScenarioOf(seed)
  const fanOuts = fanOutsOf(stream('fan-out'), first)
  const plain = { ...first, herd: fanOuts.length > 0 ? Math.max(first.herd, 101) : first.herd }
  const gifts = [...giftsOf(stream('gifts'), plain), ...bequestsOf(stream('bequests'), plain)]
  const parcels = stepsOf('Parcel', stream('parcels'), plain)
  const extras = parcels.length === 0 ? {} : parcelExtrasOf(stream('parcel extras'))
  const tools = toolsOf(stream('tools'), plain)
  const relics = relicsOf(stream('relics'), plain)
  const mending = misfitOf(stream('misfit'))
  const propagation = propagationOf(stream('propagation'))
  const deeds = deedsOf(stream('deeds'), plain)
  const tenants = tenantsOf(stream('tenants'), plain)
  return {
    ...plain,
    ...limitsOf(stream('limits'), plain),
    ...propagation,
    ...retryBudgetOf(stream('retry budget'), plain),
    ...slowedOf(stream('slowed'), plain),
    ...onceOf(stream('once')),
    ...awayForLong(stream('long absences'), absentOf(stream('absent'), plain)),
    ...(mending.length > 0 && { misfit: true }),
    ...(fanOuts.length > 0 && { slowLinks: true }),
    ...controlsOf(stream('controls'), gifts),
    ...extras,
    ...deeds.extras,
    ...(relics.length > 0 && { relics: true }),
    ...(tenants.length > 0 && { tenants: true }),
    steps: [
      ...plain.steps,
      ...pausesOf(stream('pauses'), plain),
      ...mending,
      ...fanOuts,
      ...gifts,
      ...parcels,
      ...stepsOf('Kit', stream('kits'), plain),
      ...errandsOf(stream('errands'), plain),
      ...ledgersOf(stream('ledgers'), plain),
      ...outpostsOf(stream('outposts'), plain),
      ...tools,
      ...relics,
      ...passesOf(stream('passes'), plain),
      ...policiesOf(stream('policies')),
      ...webhooksOf(stream('webhooks')),
      ...rationsOf(stream('rations')),
      ...relinksOf(stream('relinks'), plain),
      ...holdsOf(stream('holds'), plain),
      ...licensesOf(stream('licenses'), extras),
      ...adoptionsOf(stream('adoptions'), parcels.length > 0),
      ...hasteOf(stream('haste'), plain),
      ...deeds.steps,
      ...tenants,
      // An orphaned Box keeps its name, so the next Shelf of the same name could not make its own Box.
      ...(propagation.propagation === 'Orphan' ? [] : shelvesOf(stream('shelves'), plain)),
      ...trunksOf(stream('trunks'), plain),
      ...tiesOf(stream('ties'), plain, tools.length > 0),
      ...dubsOf(stream('dubs'), plain),
      ...sweepsOf(stream('sweeps'), plain),
      ...unleashesOf(stream('unleashes'), plain),
    ],
  }
}

/** Every other seed: who keeps a cache lists by pages. */
export function listLimitOf(seed: number): { readonly listLimit?: number } {
  const random = createSeededRandom(seed).fork('list limit')
  return random.next() < 1 / 2 ? { listLimit: oneOf(random, [1, 2, 5]) } : {}
}

/** One seed in four. */
function propagationOf(random: SeededRandom): Pick<Extras, 'propagation'> {
  if (random.next() >= 1 / 4) return {}
  return { propagation: oneOf(random, ['Foreground', 'Foreground', 'Orphan'] as const) }
}

/**
 * One seed in six, and one in two where two may have one turn, or runs do not end. A herd waits for nobody: what one
 * change does to many is looked at there.
 */
function limitsOf(random: SeededRandom, scenario: Scenario): Pick<Extras, 'limits'> {
  const { steps, resyncMinutes, herd } = scenario
  const isCrashing = steps.some(({ mood }) => mood === 'crash')
  const share = isFenceTried(scenario) || isCrashing ? 1 / 2 : 1 / 6
  if (random.next() >= share || herd > 0) return {}
  const kinds = kindsIn({ steps, herd: 0 }).filter((kind) => kind === 'Gadget' || random.next() < 0.5)
  const rates = resyncMinutes > 0 ? resyncRates : isCrashing ? slowRates : allRates
  const limits = kinds.map((kind) => [kind, { perSecond: oneOf(random, rates), burst: 1 + below(random, 4) }])
  return { limits: Object.fromEntries(limits) }
}

/** One seed in eight. In a herd, many would wait for their retry for longer than the calm lasts. */
function retryBudgetOf(random: SeededRandom, { herd }: Scenario): Pick<Extras, 'retryBudget'> {
  if (random.next() >= 1 / 8 || herd > 0) return {}
  return { retryBudget: { perSecond: oneOf(random, [0.1, 0.3, 1]), burst: 1 + below(random, 2) } }
}

/** One seed in eight: debounce, or a limit for each object, or both. */
function slowedOf(random: SeededRandom, { steps, herd }: Scenario): Pick<Extras, 'slowed'> {
  if (random.next() >= 1 / 8 || herd > 0) return {}
  const one = (): Slowed => {
    const debounceSeconds = oneOf(random, [0, 2, 10, 40])
    const runs = { most: 1 + below(random, 3), withinSeconds: oneOf(random, [5, 30, 100]) }
    return { ...(debounceSeconds > 0 && { debounceSeconds }), ...(random.next() < 0.5 && { runs }) }
  }
  return { slowed: Object.fromEntries(kindsIn({ steps, herd: 0 }).map((kind) => [kind, one()])) }
}

/** One seed in eight, of a kind whose objects have no finalizer: others are not taken away while there are objects. */
function absentOf(random: SeededRandom, { steps, herd }: Scenario): Pick<Extras, 'absent'> {
  const kinds = kindsIn({ steps, herd: 0 }).filter((kind) => kind !== 'Gadget')
  if (random.next() >= 1 / 8 || herd > 0 || kinds.length === 0) return {}
  const fromMs = 1_000 + Math.floor(random.next() ** 2 * 120_000)
  // No stack is updated twice in less, and a tick that finds it away is what tells that it has to look at all there is.
  return { absent: { kind: oneOf(random, kinds), fromMs, untilMs: fromMs + 360_000 + below(random, 360_000) } }
}

/** Every other one: for longer than lost changes are looked for, so that only a look at all there is finds them. */
function awayForLong(random: SeededRandom, { absent }: Pick<Extras, 'absent'>): Pick<Extras, 'absent'> {
  if (absent === undefined || random.next() < 1 / 2) return absent === undefined ? {} : { absent }
  return { absent: { ...absent, untilMs: absent.untilMs + 4_200_000 } }
}

/** One seed in eight. */
function onceOf(random: SeededRandom): Pick<Extras, 'once'> {
  return random.next() < 1 / 8 ? { once: true } : {}
}

/** One seed in six: somebody pauses objects that others work with, and lets them go on again. */
function pausesOf(random: SeededRandom, { steps }: Scenario): readonly Step[] {
  const paused = steps.filter(({ kind, act }) => kind !== 'ConfigMap' && act === 'apply')
  if (random.next() >= 1 / 6 || paused.length === 0) return []
  return Array.from({ length: 1 + below(random, 4) }).flatMap(() => {
    const step = { ...oneOf(random, paused), user: pauser }
    const afterMs = Math.floor(random.next() ** 2 * 120_000)
    // A write whose answer was lost may be made that much later.
    return [
      { ...step, act: 'pause' as const, afterMs },
      { ...step, act: 'resume' as const, afterMs: 10_000 + below(random, 200_000) },
    ]
  })
}

const pauser = 9

/** One seed in eight: a Gadget that does not fit its kind is asked to run, and then corrected. */
function misfitOf(random: SeededRandom): readonly Step[] {
  if (random.next() >= 1 / 8) return []
  const step = { user: mender, kind: 'Gadget', name: misfitName, mood: 'plain', to: '', size: 0, value: 1 } as const
  return [
    { ...step, act: 'poke', afterMs: below(random, 20_000) },
    // Longer than another look takes.
    { ...step, act: 'mend', afterMs: oneOf(random, [5_000, 60_000, 1_200_000]) },
  ]
}

const mender = 8

/**
 * One seed in forty: one change after the other wakes a hundred, so that some come while those run whom an earlier one
 * woke.
 */
function fanOutsOf(random: SeededRandom, { climate, steps }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 40 || climate.page < 1_000 || steps.some(({ mood }) => mood === 'crash')) return []
  const step = { user: 0, act: 'apply', kind: 'ConfigMap', name: 'settings0', mood: 'plain', to: '', size: 0 } as const
  return Array.from({ length: 4 + below(random, 5) }, (_, i) => ({
    ...step,
    afterMs: below(random, oneOf(random, [500, 3_000, 30_000])),
    value: 1_000 + i,
  }))
}

/** One seed in eight: a ConfigMap goes from one owner to the other. */
function giftsOf(random: SeededRandom, { steps }: Scenario): readonly Step[] {
  const owners = steps.flatMap(({ kind, act, name }) => (kind === 'Gadget' && act === 'apply' ? [name] : []))
  if (random.next() >= 1 / 8 || owners.length === 0) return []
  return Array.from({ length: 2 + below(random, 5) }, () => ({
    user: giver,
    act: 'give',
    afterMs: 1_000 + below(random, 60_000),
    kind: 'ConfigMap',
    name: 'heirloom',
    value: 1,
    mood: 'plain',
    to: oneOf(random, owners),
    size: 0,
  }))
}

const giver = 7

/** One seed in sixteen: a ConfigMap goes from an owner that lives to one that goes at that time. */
function bequestsOf(random: SeededRandom, { steps, herd }: Scenario): readonly Step[] {
  const owners = steps.flatMap(({ kind, act, name }) => (kind === 'Gadget' && act === 'apply' ? [name] : []))
  if (random.next() >= 1 / 16 || owners.length === 0 || herd > 0) return []
  const gadget = { ...rest, kind: 'Gadget', name: 'g40' } as const
  const keepsake = { ...rest, kind: 'ConfigMap', name: 'keepsake' } as const
  return Array.from({ length: 1 + below(random, 3) }).flatMap((_, value): readonly Step[] => [
    { ...gadget, user: testator, act: 'apply', afterMs: below(random, 20_000), value },
    { ...gadget, user: testator, act: 'delete', afterMs: 5_000 + below(random, 60_000), value },
    { ...keepsake, user: heir, act: 'give', afterMs: below(random, 20_000), value, to: oneOf(random, owners) },
    { ...keepsake, user: heir, act: 'bequeath', afterMs: below(random, 40_000), value, to: gadget.name },
  ])
}

const rest = { mood: 'plain', to: '', size: 0 } as const
const testator = 40
const heir = 41

/** Every other seed in which something is given. */
function controlsOf(random: SeededRandom, gifts: readonly Step[]): Pick<Extras, 'controls'> {
  return gifts.length > 0 && random.next() < 1 / 2 ? { controls: true } : {}
}

/** One seed in eight each: objects of a kind whose reconciler a helper makes. */
function stepsOf(kind: 'Parcel' | 'Kit', random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 8 || herd > 0) return []
  return Array.from({ length: 2 + below(random, 5) }, (_, i) => ({
    user: packers[kind],
    act: oneOf(random, ['apply', 'apply', 'apply', 'edit', 'delete', 'poke'] as const),
    afterMs: Math.floor(random.next() ** 2 * 120_000),
    kind,
    name: `${kind.charAt(0).toLowerCase()}6-${below(random, 2)}`,
    value: 100 + i,
    mood: 'plain',
    to: '',
    size: 0,
  }))
}

const packers = { Parcel: 6, Kit: 5 } as const

const errandActs = ['apply', 'apply', 'apply', 'edit', 'delete', 'poke', 'remark'] as const
const errandUser = 4

/** One seed in eight: Errands, and the ConfigMaps that they wait for, or that nobody makes. */
function errandsOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 8 || herd > 0) return []
  const steps = Array.from({ length: 3 + below(random, 8) }, (_, i) => i).flatMap((i) => {
    const kind = oneOf(random, ['Errand', 'Errand', 'ConfigMap'] as const)
    const which = below(random, 2)
    const step: Step = {
      user: errandUser,
      act: oneOf(random, kind === 'Errand' ? errandActs : (['apply', 'apply', 'remark', 'remark', 'delete'] as const)),
      afterMs: Math.floor(random.next() ** 2 * 120_000),
      kind,
      name: kind === 'Errand' ? `e4-${which}` : `answers${which}`,
      value: 100 + i,
      mood: 'plain',
      to: '',
      size: 0,
    }
    // What changes while nothing may run has to run when it may.
    const isPaused = kind === 'Errand' && step.act === 'apply' && random.next() < 1 / 4
    return isPaused ? [{ ...step, act: 'pause' as const }, step, { ...step, act: 'resume' as const }] : [step]
  })
  return [...steps, ...remarks]
}

/** One seed in twelve: Ledgers, and ConfigMaps each of which names one, maybe another one later, and maybe goes. */
function ledgersOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 12 || herd > 0) return []
  const base = { mood: 'plain', size: 0 } as const
  const names = ['ledger-0', 'ledger-1'] as const
  const ledgers = [...names, ...Array.from({ length: below(random, 3) }, () => oneOf(random, names))].map(
    (name, i): Step => {
      const act = i < names.length ? 'apply' : oneOf(random, ['apply', 'delete', 'recreate'] as const)
      const afterMs = i < names.length ? 0 : below(random, 60_000)
      return { ...base, user: ledgerUser, act, afterMs, kind: 'Ledger', name, value: 100 + i, to: '' }
    },
  )
  const entries = [1, 2].flatMap((which): readonly Step[] => {
    const entry = { ...base, user: ledgerUser + which, kind: 'ConfigMap', name: `entry${which}` } as const
    const moves = Array.from({ length: 2 + below(random, 4) }, (_, i): Step => {
      const act = oneOf(random, ['apply', 'edit'] as const)
      return { ...entry, act, afterMs: oneOf(random, [50, 1_000, 30_000]), to: oneOf(random, names), value: 200 + i }
    })
    const end: Step = { ...entry, act: 'delete', afterMs: oneOf(random, [0, 0, 30_000]), to: '', value: 0 }
    // The entry moves once every Ledger has seen it, and goes at once: the relay has told of neither yet.
    const last: Step = { ...entry, act: 'apply', afterMs: 30_000, to: oneOf(random, names), value: 210 }
    return random.next() < 2 / 3 ? [...moves, last, end] : moves
  })
  return [...ledgers, ...entries]
}

const ledgerUser = 80

/** When all is at rest, what no predicate lets pass. */
const remarks = ['answers0', 'answers1', 'e4-0', 'e4-1'].map((name, i): Step => {
  const kind = name.startsWith('e4') ? 'Errand' : 'ConfigMap'
  const afterMs = i % 2 === 0 ? 200_000 : 5_000
  return { user: errandUser, act: 'remark', afterMs, kind, name, value: 200 + i, mood: 'plain', to: '', size: 0 }
})

/** One seed in ten: a namespace comes and goes with what is in it, while somebody else still puts things there. */
function outpostsOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 10 || herd > 0) return []
  const namespace = 'outpost'
  const container = { kind: 'Namespace', name: namespace } as const
  return comingAndGoing(random, container, (value) => {
    const kind = oneOf(random, ['Gadget', 'Gadget', 'ConfigMap'] as const)
    return { kind, name: `o-${kind.toLowerCase()}-${value % 4}`, namespace }
  })
}

/** One seed in ten: a definition comes and goes with the objects of its kind. */
function toolsOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 10 || herd > 0) return []
  const container = { kind: 'Definition', name: toolDefinition.name } as const
  return comingAndGoing(random, container, (value) => ({ kind: 'Tool', name: `t-${value % 4}` }))
}

type Thing = Pick<Step, 'kind' | 'name' | 'namespace'>

function comingAndGoing(random: SeededRandom, container: Thing, content: (value: number) => Thing): readonly Step[] {
  const base = { mood: 'plain', to: '', size: 0 } as const
  const keeper = container.kind === 'Namespace' ? 30 : 32
  const afterMs = (): number => Math.floor(random.next() ** 2 * 60_000)
  let value = 0
  const put = (user: number): Step => {
    value++
    const act = oneOf(random, ['apply', 'apply', 'apply', 'edit', 'delete'] as const)
    return { ...base, user, act, afterMs: afterMs(), value, ...content(user === keeper ? 2 * value : 2 * value + 1) }
  }
  const some = (user: number): readonly Step[] => Array.from({ length: 1 + below(random, 4) }, () => put(user))
  const rounds = Array.from({ length: 1 + below(random, 3) }, () => [
    { ...base, ...container, user: keeper, act: 'apply' as const, afterMs: afterMs(), value: 0 },
    ...some(keeper),
    { ...base, ...container, user: keeper, act: 'delete' as const, afterMs: afterMs(), value: 0 },
  ])
  // Another one's things have other names: who writes what is acknowledged last is known.
  return [...rounds.flat(), ...(random.next() < 0.5 ? [...some(keeper + 1), ...some(keeper + 1)] : [])]
}

/** The slower, the more a run too many stands out of what clocks and late starts excuse. */
const allRates = [0.05, 0.2, 0.2, 1, 5]
/** Those that end their processes wait in line each time. */
const slowRates = [0.02, 0.05]
/** A controller that has not enough for its timers does not resync. */
const resyncRates = [2, 5]

/** One seed in four: what Links refer to is known from their status only. */
export function statusLinksOf(seed: number, { herd }: Scenario): Pick<Scenario, 'statusLinks'> {
  const random = createSeededRandom(seed).fork('status links')
  return random.next() < 1 / 4 && herd === 0 ? { statusLinks: true } : {}
}
