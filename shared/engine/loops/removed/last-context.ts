import { OperatingError } from '../../../model/errors.ts'
import { isObject, type JsonObject } from '../../../model/json.ts'
import type { ApiObject } from '../../../model/object.ts'
import type { Context } from '../../../reconciler/context.ts'
import type { Notes } from '../../../reconciler/notes.ts'
import { effectKey } from '../../state/removed-record.ts'
import { concealInRun } from '../../turn/run-context.ts'
import type { EngineOptions } from '../../turn/engine-options.ts'

/**
 * The context of the last run of a removed object. Objects that had the name one after the other share a record and its
 * runs. Each object has its own effects and notes in the record, until its last run has ended.
 */
export function createLastContext(
  ctx: Context,
  object: ApiObject,
  { events, component }: Pick<EngineOptions, 'events'> & { readonly component: string },
): Context {
  return {
    ...ctx,
    removed: true,
    notes: ownNotes(ctx.notes, object),
    once: (key, effect, options) => ctx.once(effectKey(object, key), effect, options),
    event: (type, reason, message) => events.record(object, concealInRun(ctx, { type, reason, message, component })),
    apply: (kind, given, options) =>
      options?.owned === false ? ctx.apply(kind, given, options) : Promise.reject(ownsNothing(object)),
  }
}

/** All of them are one note of the record. */
function ownNotes(notes: Notes, { metadata: { uid } }: ApiObject): Notes {
  const all = (): JsonObject => {
    const noted = notes.get(uid)
    return isObject(noted) ? noted : {}
  }
  return {
    get: (key) => (Object.hasOwn(all(), key) ? all()[key] : undefined),
    set: (key, value) => {
      const { [key]: _, ...others } = all()
      const next = value === undefined ? others : { ...others, [key]: value }
      notes.set(uid, Object.keys(next).length === 0 ? undefined : next)
    },
    keep: () => notes.keep(),
  }
}

/** Removes the notes of an object whose last run has ended. */
export function forgetNotes(notes: Notes, { metadata: { uid } }: ApiObject): void {
  notes.set(uid, undefined)
}

function ownsNothing({ kind, metadata }: ApiObject): OperatingError {
  return new OperatingError(
    'BAD_REQUEST',
    `${kind} ${metadata.name} is gone and its children go with it; apply with { owned: false } what is to stay`,
  )
}
