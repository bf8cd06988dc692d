import type { ApiObject } from '../../../shared/index.ts'
import { isDeleting } from '../../../shared/model/object.ts'
import { batchOf, isBatched } from '../addresses.ts'
import type { AnsweredStep } from '../users.ts'
import { named, type Checker, type Scene } from './checker.ts'

/** How an object was from that time on; undefined: it has gone, or is going. */
interface State {
  readonly sinceMs: number
  readonly batch: string | undefined
}

interface Asked {
  readonly kind: string
  /** Of a sweep its label; of the deletion of one object its name. */
  readonly batch?: string
  readonly name?: string
  readonly fromMs: number
  readonly untilMs: number
}

/**
 * Who deletes all of one label deletes all that had it throughout, and nothing that had another one. Each is deleted by
 * itself: what is changed meanwhile may be deleted or not.
 */
export function createSweeps({ world, report }: Scene): Checker {
  const states = new Map<string, State[]>()
  const names = new Map<string, string>()
  const asked: Asked[] = []
  const deletions: { readonly uid: string; readonly kind: string; readonly name: string; readonly atMs: number }[] = []

  /** As it was at some time in between, in order. */
  const statesWithin = (uid: string, fromMs: number, untilMs: number): readonly State[] => {
    const all = states.get(uid) ?? []
    return all.filter(({ sinceMs }, i) => sinceMs <= untilMs && (all[i + 1]?.sinceMs ?? Infinity) >= fromMs)
  }

  const noteAsked = ({ step, sinceMs, status }: AnsweredStep): void => {
    const isKnown = status !== undefined && status < 500 && status !== 429
    const untilMs = isKnown ? world.nowMs() + lateMsMax : Infinity
    const { kind, name } = step
    const what = step.act === 'sweep' ? { batch: batchOf(step) } : { name }
    asked.push({ kind, ...what, fromMs: sinceMs, untilMs })
  }

  const lookAtSweep = ({ step, sinceMs }: AnsweredStep): void => {
    const batch = batchOf(step)
    for (const [uid, all] of states) {
      const meanwhile = statesWithin(uid, sinceMs, world.nowMs())
      const wasThere = (all[0]?.sinceMs ?? Infinity) < sinceMs && names.get(uid)?.startsWith(`${step.kind} `)
      if (wasThere === true && meanwhile.every((state) => state.batch === batch))
        report(`sweeps: all of ${batch} were deleted, and ${names.get(uid)} of it is there`)
    }
  }

  const isAsked = ({ uid, kind, name, atMs }: (typeof deletions)[number]): boolean =>
    asked.some((one) => {
      if (one.kind !== kind || one.fromMs > atMs || one.untilMs < atMs) return false
      if (one.batch === undefined) return one.name === name
      return statesWithin(uid, one.fromMs, atMs).some(({ batch }) => batch === one.batch)
    })

  return {
    write: ({ type, before, after }) => {
      const { object } = after
      const { name, uid } = object.metadata
      if (!isBatched(name) || !['ConfigMap', 'Gadget'].includes(object.kind) || isChild(object)) return
      names.set(uid, named(after))
      const isGone = type === 'removed' || isDeleting(object)
      if (isGone && (before === undefined || !isDeleting(before.object)))
        deletions.push({ uid, kind: object.kind, name, atMs: world.nowMs() })
      const batch = isGone ? undefined : (object.metadata.labels?.['batch'] ?? 'none')
      states.set(uid, [...(states.get(uid) ?? []), { sinceMs: world.nowMs(), batch }])
    },
    answered: (answer) => {
      if (answer.step.act === 'sweep' || (answer.step.act === 'delete' && isBatched(answer.step.name)))
        noteAsked(answer)
      if (answer.step.act === 'sweep' && answer.status === 200) lookAtSweep(answer)
    },
    unmet: () =>
      deletions
        .filter((deletion) => !isAsked(deletion))
        .map(({ kind, name, atMs }) => `sweeps: ${kind} ${name} was deleted at ${atMs}, which nobody has asked for`),
  }
}

/** A request that seemed lost is made that much later. */
const lateMsMax = 10_000

/** The ConfigMap of a Gadget has its name. */
function isChild({ metadata }: ApiObject): boolean {
  return metadata.ownerReferences !== undefined
}
