import type { Json, ObjectMeta, Outcome } from '../../shared/index.ts'
import { pausedAnnotation } from '../../shared/model/control-annotations.ts'
import type { Life } from './life.ts'
import type { World } from './world.ts'

/** One run of a user's function, as checkers see it. */
export interface Run {
  readonly phase: 'reconcile' | 'cleanup'
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly generation: number
  /** As the run was given the object. */
  readonly spec: object
  readonly status: object
  readonly isPoison: boolean
  readonly isPaused: boolean
  readonly by: Life
}

/** Something that must not be repeated is about to happen. */
export interface OnceEffect {
  readonly uid: string
  readonly name: string
  readonly value: number
  /** Whether it is told that it may have happened before. */
  readonly isTold: boolean
  /** Of the object as the run was given it. */
  readonly resourceVersion: string
}

/** A run is told what an earlier one has noted, or its own note is durable. */
export interface NoteStep {
  readonly step: 'told' | 'kept'
  readonly uid: string
  readonly name: string
  /** What is noted now. */
  readonly value: number
  /** What was noted before. */
  readonly told?: Json | undefined
}

/** Something that a run of a Tenant is told or does. */
export interface TenantStep {
  readonly what: 'told' | 'kept' | 'billed' | 'has bill' | 'child taken' | 'expects'
  readonly uid: string
  readonly name: string
  /** In a last run. */
  readonly isLast: boolean
  /** Its earlier note; the bill; whether something is expected already. */
  readonly told?: Json | undefined
  /** How many its runs are by its note. */
  readonly tries?: number
  /** Whether it is told that it may have been billed before. */
  readonly isTold?: boolean
}

/** Told of every run as it begins, and of how it ends, if it does. */
export interface RunWatcher {
  run<Result extends Outcome>(
    phase: Run['phase'],
    object: Watched,
    by: Life,
    work: () => Promise<Result>,
  ): Promise<Result>
  once(effect: OnceEffect): void
  notes(step: NoteStep): void
  tenant(step: TenantStep): void
  /** A call of what is outside begins that a budget allows. */
  called(by: Life): void
}

interface Watched {
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly spec: object
  readonly status?: object | undefined
}

export interface RunListener {
  runBegins?(run: Run): void
  runEnds?(run: Run, how: Outcome['kind'] | 'failed'): void
  once?(effect: OnceEffect): void
  notes?(step: NoteStep): void
  tenant?(step: TenantStep): void
  called?(by: Life): void
}

export function createRunWatcher(world: World, listener: Required<RunListener>): RunWatcher {
  return {
    called: (by) => listener.called(by),
    once: (effect) => {
      world.note(`once ${effect.name} ${effect.value}`)
      listener.once(effect)
    },
    notes: (step) => {
      world.note(`${step.step} ${step.name} ${step.value} ${String(step.told)}`)
      listener.notes(step)
    },
    tenant: (step) => {
      world.note(`${step.what} ${step.name} ${step.isLast ? 'gone' : 'alive'} ${JSON.stringify(step.told)}`)
      listener.tenant(step)
    },
    run: async (phase, { kind, metadata, spec, status = {} }, by, work) => {
      const { name, uid, generation } = metadata
      const isPoison = 'mood' in spec && ['crash', 'hang', 'spin'].includes(String(spec.mood))
      const isPaused = metadata.annotations?.[pausedAnnotation] === 'true'
      const run: Run = { phase, kind, name, uid, generation, spec, status, isPoison, isPaused, by }
      world.note(`${phase} ${kind} ${name} generation ${generation} by ${by.name}`)
      listener.runBegins(run)
      let how: Outcome['kind'] | 'failed' = 'failed'
      try {
        const outcome = await work()
        how = outcome.kind
        return outcome
      } finally {
        listener.runEnds(run, how)
      }
    },
  }
}
