import * as z from 'zod'
import { again, ConfigMap, defineKind, defineReconciler, done, stop, type Controller } from '../../shared/index.ts'
import type { World } from './world.ts'

/** The kind that is simulated: it keeps an entity in a system outside, and a ConfigMap of its own. */
export const Gadget = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Gadget',
  spec: z.object({
    value: z.number().int(),
    /** What its runs do beside: `poll` asks to run again soon, `nap` in a few minutes, `stop` ends for good. */
    mood: z.enum(['plain', 'poll', 'nap', 'stop']).default('plain'),
  }),
  status: z.object({ value: z.number().int() }),
})

/** The system outside: entities by the uid of their object. Calls take time and may fail; its own state never lies. */
export interface Outside {
  readonly entities: ReadonlyMap<string, number>
  observe(uid: string): Promise<number | undefined>
  put(uid: string, value: number): Promise<void>
  remove(uid: string): Promise<void>
}

export function createOutside(world: World, failure: () => number): Outside {
  const entities = new Map<string, number>()

  const call = async <Result>(what: string, work: () => Result): Promise<Result> => {
    await world.latency()
    if (world.chance(failure())) throw new Error(`${what} failed`)
    const result = work()
    await world.latency()
    return result
  }

  return {
    entities,
    observe: (uid) => call('observe', () => entities.get(uid)),
    put: (uid, value) => call('put', () => void entities.set(uid, value)),
    remove: (uid) => call('remove', () => void entities.delete(uid)),
  }
}

/** Told of every run as it begins and ends. */
export interface RunWatcher {
  begins(run: { readonly name: string; readonly uid: string; readonly generation: number }): () => void
}

export function gadgetController(outside: Outside, watcher: RunWatcher): Controller {
  return defineReconciler(Gadget, {
    owns: [ConfigMap],
    // Longer than the simulation: nothing may lean on it.
    resync: '240h',
    timeout: '30s',

    async reconcile({ metadata, spec }, ctx) {
      const ends = watcher.begins(metadata)
      try {
        if ((await outside.observe(metadata.uid)) !== spec.value) {
          ctx.signal.throwIfAborted()
          await outside.put(metadata.uid, spec.value)
        }
        await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { value: String(spec.value) } })
        if (spec.mood === 'stop') throw stop('Enough', 'its mood is to stop')
        const report = { status: { value: spec.value }, ready: true } as const
        if (spec.mood === 'poll') return again('50s', report)
        return spec.mood === 'nap' ? again('5m', report) : done(report)
      } finally {
        ends()
      }
    },

    async cleanup({ metadata }) {
      const ends = watcher.begins(metadata)
      try {
        await outside.remove(metadata.uid)
        return done()
      } finally {
        ends()
      }
    },
  })
}
