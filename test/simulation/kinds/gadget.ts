import * as z from 'zod'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  stop,
  type Context,
  type Controller,
  type Effect,
  type ObjectOf,
} from '../../../shared/index.ts'
import { never, type Life } from '../life.ts'
import type { OutsideClient } from '../outside.ts'
import type { Pace } from './pace.ts'
import type { RunWatcher } from '../runs.ts'

/** What its runs do beside keeping the entity and the child as declared. */
export const moods = [
  'plain',
  /** Asks to run again: soon (while things go wrong), in a minute, in five. */
  'hurry',
  'poll',
  'nap',
  /** Ends for good. */
  'stop',
  /** Always throws. */
  'fail',
  /** Takes its process down. */
  'crash',
  /** Does not end in its time. */
  'hang',
  /** Wants to run again at once, for ever. */
  'spin',
] as const
export type Mood = (typeof moods)[number]

/** The kind that is mainly simulated: it keeps an entity in a system outside, and a ConfigMap of its own. */
export const Gadget = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Gadget',
  spec: z.object({ value: z.number().int(), mood: z.enum(moods).default('plain') }),
  status: z.object({ value: z.number().int(), keeps: z.array(z.string()).optional() }),
})

type GadgetObject = ObjectOf<typeof Gadget>

export interface GadgetOptions {
  readonly life: Life
  readonly outside: OutsideClient
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
  /** For each value it does something that must not be repeated. */
  readonly once: boolean
  /** It says what it controls beside its child. */
  readonly counts: boolean
  /** Nothing goes wrong any more. */
  readonly isCalm: () => boolean
  readonly pace: Pace
}

export function gadgetController({
  life,
  outside,
  watcher,
  resync,
  isCalm,
  once,
  counts,
  pace,
}: GadgetOptions): Controller {
  const keepEntity = async ({ metadata: { uid }, spec }: GadgetObject, signal: AbortSignal): Promise<void> => {
    if ((await outside.observe(uid)) === spec.value) return
    signal.throwIfAborted()
    await outside.put(uid, spec.value)
    signal.throwIfAborted()
    // The answer to a put is no proof.
    if ((await outside.observe(uid)) !== spec.value) throw new Error('outside is not as it should be yet')
  }

  const stamp = async ({ metadata, spec: { value } }: GadgetObject, ctx: Context): Promise<void> => {
    const { uid, name, resourceVersion } = metadata
    const effect = async ({ mayHaveHappened }: Effect): Promise<number> => {
      watcher.once({ uid, name, value, isTold: mayHaveHappened, resourceVersion })
      await outside.observe(uid)
      return value
    }
    await ctx.once('stamp', effect, { of: value })
  }

  const keptBy = async ({ metadata }: GadgetObject, ctx: Context): Promise<string[]> => {
    const names = (await ctx.children(ConfigMap)).map((child) => child.metadata.name)
    return names.filter((name) => name !== metadata.name)
  }

  return defineReconciler(Gadget, {
    ...pace,
    owns: [ConfigMap],
    resync,
    timeout: '30s',

    reconcile: (gadget, ctx) =>
      watcher.run('reconcile', gadget, life, async () => {
        const { metadata, spec } = gadget
        if (spec.mood === 'crash') life.kill('of a poisoned object')
        if (spec.mood === 'crash' || spec.mood === 'hang') return never()
        if (spec.mood === 'fail') throw new Error('its mood is to fail')
        const keepChild = () =>
          ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { value: String(spec.value) } })
        // The two versions of the code do the same in another order.
        if (life.version === 2) await keepChild()
        if (once) await stamp(gadget, ctx)
        await keepEntity(gadget, ctx.signal)
        if (life.version === 1) await keepChild()
        if (spec.mood === 'stop') throw stop('Enough', 'its mood is to stop')
        const keeps = counts ? { keeps: await keptBy(gadget, ctx) } : {}
        const report = { status: { value: spec.value, ...keeps }, ready: true } as const
        const pause = (isCalm() ? { ...pauses, ...calmPauses } : pauses)[spec.mood]
        return pause === undefined ? done(report) : again(pause, report)
      }),

    cleanup: (gadget) =>
      watcher.run('cleanup', gadget, life, async () => {
        const { uid } = gadget.metadata
        await outside.remove(uid)
        return (await outside.observe(uid)) === undefined ? done() : again('5s')
      }),
  })
}

const pauses: { readonly [mood in Mood]?: `${number}s` } = { hurry: '4s', poll: '50s', nap: '300s', spin: '0s' }
/** What is run again in a calm is run again as before: there is little to learn from it. */
const calmPauses = { hurry: '50s' } as const
