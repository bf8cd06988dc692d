import { createSeededRandom, type SeededRandom } from '../../shared/testing/seeded-random.ts'
import type { Rate } from '../../shared/model/reservations.ts'
import { clearSky, climateOf, type Climate } from './climate.ts'
import { moods, type Mood } from './kinds/gadget.ts'
import type { ParcelExtras } from './kinds/parcel.ts'
import type { RegistryTraits } from './registry.ts'
import { below, oneOf } from './world.ts'

/** All that a simulation is made from. As data, so that a failing one can be made shorter, kept, and run again. */
export interface Scenario extends Extras {
  readonly seed: number
  /** It runs on the local engine. Left out: on simulated AWS. */
  readonly local?: LocalTrouble
  /** Somebody watches. On AWS only. */
  readonly watch?: WatchTrouble
  /** So likely cannot a record of the stream be told for a while, by itself. Left out: each can. On AWS only. */
  readonly hardRecords?: number
  /** Controllers have several queues. On AWS only. */
  readonly queues?: QueueTrouble
  readonly climate: Climate
  /** The kinds' resync period in minutes; 0: never. */
  readonly resyncMinutes: number
  readonly steps: readonly Step[]
  /** So many Links to one ConfigMap are there from the beginning. */
  readonly herd: number
}

/** What there is on one machine only. */
export interface LocalTrouble {
  /** Between two looks for timers. */
  readonly tickMs: number
  /** So likely is a crash one of the machine, which loses what was not synced. Otherwise the process is killed. */
  readonly powerLoss: number
  /** Clients that keep a cache by list and watch. */
  readonly informers: number
  /** They list by so many, and now and then anew. Left out: all at once, and only if they have to. */
  readonly listLimit?: number | undefined
  /** A commit that leaves so many pages in the write-ahead log begins a checkpoint; left out, as in earnest. */
  readonly checkpointPages?: number
  /** So likely does a write let the commit fail in which it is. Left out: none does. */
  readonly commitFailure?: number
  /** Now and then the process loads its reconcilers again, as `setpoint dev` does. */
  readonly reloads?: true
  /** Superseded states are forgotten behind so many characters of later ones; left out, as in earnest. */
  readonly retainedCharacters?: number
  /** The first process ends at this step, in this way. */
  readonly firstEnd?: { readonly step: number; readonly end: End }
}

/**
 * What there is between the writes on AWS and those who watch. Together with two clocks it is less than two seconds.
 */
export interface WatchTrouble {
  /** Clients that keep a cache by list and watch, of each kind that is watched. */
  readonly informers: number
  /** They list by so many, and now and then anew. Left out: all at once, and only if they have to. */
  readonly listLimit?: number | undefined
  /** Between two looks of a feed. */
  readonly pollMs: number
  /** How long an entry of the index may take. */
  readonly lagMsMax: number
  /** So many replicas of the index follow the table, each in its own time, and any of them answers. Left out: one. */
  readonly replicas?: number
  /** How much earlier than it is made a write may be numbered. */
  readonly numberedMsMax: number
  /** The kinds have been watched for long, so that the index has all of their writes, over so many buckets. */
  readonly recordedBuckets?: number | undefined
}

/** Controllers whose objects are spread over several queues, and the deployments that change how many those are. */
export interface QueueTrouble {
  /** From the beginning, all of them in use. */
  readonly first: QueueCounts
  readonly deployments: readonly QueueDeployment[]
}

/** By the kind of the controller. Left out: one. */
export type QueueCounts = { readonly [kind in KindName]?: number }

export interface QueueDeployment {
  /** Since the beginning. */
  readonly atMs: number
  /** Until every function has its variables. */
  readonly takesMs: number
  /** Each function runs both versions all that time. Left out: it changes at a moment of its own. */
  readonly isGradual?: true
  /** It takes the one before back. */
  readonly isRollback?: true
  /** What it has no more is deleted so long after it. */
  readonly cleanupMs?: number
  readonly queues: QueueCounts
  readonly used: QueueCounts
}

/** How a process ends: killed; with the power of the machine; with the power while it writes. */
export type End = 'killed' | 'power lost' | 'power lost in a commit'

/** What a scenario may have beside. */
export interface Extras {
  /** How fast all objects of a kind together may run, in however many processes. */
  readonly limits?: { readonly [kind in KindName]?: Rate }
  /** How fast the retries of all objects together may come. Left out: each has its backoff alone. */
  readonly retryBudget?: Rate
  /** How much later the objects of a kind run than they could, each by itself. */
  readonly slowed?: { readonly [kind in KindName]?: Slowed }
  /**
   * The controller of a kind is taken away with its queue for a while, and comes back. In milliseconds since the
   * beginning.
   */
  readonly absent?: Absence
  /** Gadgets do something outside that must not be repeated, once for each value. */
  readonly once?: true
  /** A Gadget is there from the beginning that was stored under an older schema, and does not fit any more. */
  readonly misfit?: true
  /** Relics are there from the beginning that were stored in the version of before. */
  readonly relics?: true
  /** Tenants are there from the beginning that were stored in the version of before. */
  readonly tenants?: true
  /** Links look, and take two seconds to say what they have seen. */
  readonly slowLinks?: true
  /** Links refer to what their status names. */
  readonly statusLinks?: true
  /** What is given is controlled by its owner, and Gadgets say what they keep of it. */
  readonly controls?: true
  readonly parcels?: ParcelExtras
  /** What the system can do that chooses the ids of Deeds. */
  readonly deeds?: RegistryTraits
  /** How users delete. Default: in the background. */
  readonly propagation?: 'Foreground' | 'Orphan'
}

export interface Absence {
  readonly kind: KindName
  readonly fromMs: number
  readonly untilMs: number
}

export interface Slowed {
  /** Changes within this time of the first one cause one run. */
  readonly debounceSeconds?: number
  /** An object runs so often at most within this time. */
  readonly runs?: { readonly most: number; readonly withinSeconds: number }
}

/** The kinds that have a controller. */
export const runKinds = [
  'Gadget',
  'Link',
  'Crate',
  'Witness',
  'Parcel',
  'Kit',
  'Errand',
  'Pass',
  'Relic',
  'Ledger',
  'Deed',
  'Tenant',
  'Shelf',
  'Trunk',
] as const
export type KindName = (typeof runKinds)[number] | 'ConfigMap' | 'Tool' | 'Namespace' | 'Definition' | RuleKind
/** What says which writes are taken. */
type RuleKind = 'Policy' | 'Binding' | 'Quota' | 'Guard' | 'Stamp' | 'Tint' | 'TintBinding'

/** Something that a user does, or somebody by hand. */
export interface Step {
  /** Whose steps come one after the other. */
  readonly user: number
  /** Since this user's last step. */
  readonly afterMs: number
  readonly act:
    | 'apply'
    | 'delete'
    /** Deletes, and applies at once, whether the object has gone or not. */
    | 'recreate'
    /** Applies without taking fields from others. */
    | 'propose'
    /** As an edit, which changes an annotation in the same write. */
    | 'restate'
    /** Reads, changes and puts back, on condition that nobody else wrote. */
    | 'edit'
    /** "Reconcile now." */
    | 'poke'
    /** "Do nothing for it", and the end of that, however often it has to be said. */
    | 'pause'
    | 'resume'
    /** Corrects what does not fit, however often it has to be said. */
    | 'mend'
    /** Edits the child by hand, or deletes it. */
    | 'spoil'
    | 'strip'
    /** Changes the entity outside by hand. */
    | 'tamper'
    /** Makes a Gadget the owner of a ConfigMap, which had another one before, or was not there. */
    | 'give'
    /** The same, by somebody who read who the Gadget is before it was deleted, and writes when it has gone. */
    | 'bequeath'
    /** Writes an annotation that means nothing to anybody. */
    | 'remark'
    /** Sends a write without a credential. */
    | 'intrude'
    /** Makes a rule for what others write, and takes it back. */
    | 'enact'
    | 'repeal'
    /** Adds a finalizer that nobody else knows, and takes it away, however often that has to be said. */
    | 'hold'
    | 'free'
    /** Says what becomes of what was made outside: `value` 1 is to keep it. */
    | 'retain'
    /** Gives an object a resync period of its own, of `value` minutes; 0: takes that back. */
    | 'pace'
    /** Reads an object in both of its versions. */
    | 'compare'
    /** As `setpoint migrate`: has all objects of a kind stored in the present version. */
    | 'migrate'
    /** Makes something the owner of an object, beside its owners or in their place, and takes that back. */
    | 'tie'
    | 'untie'
    /** Deletes who owns, in the background, in the foreground or with orphan. */
    | 'dispose'
    /** Writes the status of an object, as `size` says; and has it reconciled, however often that is said. */
    | 'dub'
    | 'nudge'
    /** Deletes all that have the label of `value`. */
    | 'sweep'
    /**
     * Takes the finalizer of its controller away, from `size` 2 on all there are. An odd `size`: and deletes it first.
     */
    | 'unleash'
  readonly kind: KindName
  readonly name: string
  /** Left out: `default`. */
  readonly namespace?: string
  /** That the user speaks. Left out: `v1`. */
  readonly version?: 'v1alpha1'
  readonly value: number
  readonly mood: Mood
  /** Of a Link: the ConfigMap. Of what is given: the Gadget. Of an entry: the Ledger. Of a Crate: how many gadgets. */
  readonly to: string
  readonly size: number
}

/** Whether it has this part: a kind, an act or a mood of a step, or what it may have beside, by its name. */
export function hasPart(scenario: Scenario, part: string): boolean {
  const { steps, local, watch } = scenario
  const isDrawn = steps.some(({ kind, act, mood }) => kind === part || act === part || mood === part)
  return isDrawn || part in { ...scenario, ...local, ...watch }
}

/** What all seeds have been drawn as from the first: `scenarioOf` adds to it. */
export function plainScenarioOf(seed: number): Scenario {
  const random = createSeededRandom(seed).fork('scenario')
  const climate = climateOf(random)
  // What nobody is told of is found by the resync.
  const isTrimmed = climate.streamRetriesMax < 100
  const resyncMinutes = random.next() < 0.2 || isTrimmed ? 10 : 0
  const isHerd = random.next() < 1 / 100
  const steps = stepsOf(random, { resyncMinutes })
  // A poisoned object is due all the time: with room for one, nobody else would be looked at.
  const isPoisoned = steps.some(({ mood }) => rare.includes(mood))
  // What is told of a removal once more, when nothing else wakes that name.
  const isTold = climate.streamRepeats > 0 && steps.every(({ kind }) => kind === 'Witness')
  return {
    seed,
    climate: {
      ...climate,
      page: isPoisoned ? clearSky.page : climate.page,
      streamRepeats: isTold ? 0.4 : climate.streamRepeats,
    },
    // Never less than the steps were drawn for: what is changed by hand outside is found by the resync only.
    resyncMinutes: isHerd ? Math.max(resyncMinutes, oneOf(random, [0, 10])) : resyncMinutes,
    steps,
    herd: isHerd ? (climate.page < 100 ? 101 : oneOf(random, [101, 150, 300])) : 0,
  }
}

function stepsOf(random: SeededRandom, { resyncMinutes }: { readonly resyncMinutes: number }): readonly Step[] {
  const kinds = [
    'Gadget' as const,
    'Gadget' as const,
    ...(random.next() < 0.4 ? (['Link', 'ConfigMap'] as const) : []),
    ...(random.next() < 0.3 ? (['Crate'] as const) : []),
    ...(random.next() < 0.3 ? (['Witness'] as const) : []),
  ]
  const drawn = moodsOf(random)
  const mix: Mix = {
    kinds,
    moods: drawn,
    byHand: random.next() < 0.4,
    tamper: resyncMinutes > 0,
    // What is woken with an object that ends its process may be in one batch with it.
    bursts: oneOf(random, drawn.includes('crash') ? [0.3, 0.8, 1] : [0, 0.3, 0.8]),
    deletes: oneOf(random, [0, 0.15, 0.3]),
    names: oneOf(random, [1, 2, 3]),
    values: 0,
  }
  if (random.next() < 1 / 12) return churnOf(random, 2 * (2 + below(random, 5)), mix)
  if (drawn.includes('crash') && random.next() < 1 / 3) return neighboursOf(random, 3 + below(random, 4), mix)
  const users = 1 + below(random, 2)
  const each = 2 + below(random, 8)
  return Array.from({ length: users * each }, (_, i) => stepOf(random, { ...mix, values: i + 1 }, i % users))
}

/** One name again and again, made and deleted: what is left of the last one meets the next. */
function churnOf(random: SeededRandom, count: number, mix: Mix): readonly Step[] {
  const kind = oneOf(random, ['Witness', 'Witness', 'Gadget'] as const)
  const pauseMs = oneOf(random, [500, 5_000, 40_000])
  return Array.from({ length: count }, (_, i) => ({
    ...stepOf(random, { ...mix, values: i + 1 }, 0),
    afterMs: below(random, pauseMs),
    act: i % 2 === 0 ? 'apply' : 'delete',
    kind,
    name: `${kind.charAt(0).toLowerCase()}0-0`,
  }))
}

/** All at once, and one of them ends its process: what is in one batch with it ends with it. */
function neighboursOf(random: SeededRandom, count: number, mix: Mix): readonly Step[] {
  const others = ['plain', 'plain', 'hurry', 'poll', 'fail'] as const
  return Array.from({ length: 2 * count }, (_, i) => {
    const user = i % count
    const step = stepOf(random, { ...mix, values: i + 1 }, user)
    const afterMs = i < count ? 1_000 + below(random, 50) : below(random, 600_000)
    const mood = user === 0 ? 'crash' : oneOf(random, others)
    return { ...step, afterMs, act: i < count ? 'apply' : step.act, kind: 'Gadget', name: `g${user}-0`, mood }
  })
}

interface Mix {
  readonly kinds: readonly KindName[]
  readonly moods: readonly Mood[]
  readonly byHand: boolean
  readonly tamper: boolean
  readonly bursts: number
  readonly deletes: number
  readonly names: number
  readonly values: number
}

/** Poison in one seed of six, and a hot loop in few: it costs hundreds of runs. */
function moodsOf(random: SeededRandom): readonly Mood[] {
  const poison = random.next() < 1 / 6 ? oneOf(random, [['crash'], ['hang'], ['crash', 'hang']] as const) : []
  const spin = random.next() < 1 / 40 ? (['spin'] as const) : []
  const usual = random.next() < 0.3 ? (['plain'] as const) : moods.filter((mood) => !rare.includes(mood))
  return ['plain', ...usual, ...poison, ...spin]
}

const rare: readonly Mood[] = ['crash', 'hang', 'spin']

function stepOf(random: SeededRandom, mix: Mix, user: number): Step {
  const kind = oneOf(random, mix.kinds)
  const isBurst = random.next() < mix.bursts
  return {
    user,
    afterMs: isBurst ? below(random, 3_000) : Math.floor(random.next() ** 3 * 120_000),
    act: actOf(random, kind, mix),
    kind,
    name:
      kind === 'ConfigMap' ? `settings${user}` : `${kind.charAt(0).toLowerCase()}${user}-${below(random, mix.names)}`,
    value: mix.values,
    mood: oneOf(random, mix.moods),
    to: `settings${below(random, 3)}`,
    size: below(random, 4),
  }
}

function actOf(random: SeededRandom, kind: KindName, { deletes, byHand, tamper }: Mix): Step['act'] {
  if (random.next() < deletes) return 'delete'
  if (kind === 'Gadget' && byHand && random.next() < 0.25) return oneOf(random, ['spoil', 'strip'])
  if (kind === 'Gadget' && tamper && random.next() < 0.2) return 'tamper'
  const rest = random.next()
  return rest < 0.05 ? 'intrude' : rest < 0.12 ? 'poke' : rest < 0.2 ? 'edit' : 'apply'
}
