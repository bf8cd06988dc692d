import { OperatingError } from '../../../model/errors.ts'
import { isObject, type JsonObject } from '../../../model/json.ts'
import type { ApiObject } from '../../../model/object.ts'
import type { Context } from '../../../reconciler/context.ts'
import type { Notes } from '../../../reconciler/notes.ts'
import { effectKey } from '../../state/removed-record.ts'
import type { Controller } from '../../../reconciler/controller.ts'
import { contextAbout } from '../../turn/run-context.ts'

/**
 * The context of the last run of a removed object. Objects that had the name one after the other share a record and its
 * runs. Each object has its own effects and notes in the record, until its last run has ended. What it writes, keeps
 * outside and tells is the object's and its controller's, as in the runs before.
 */
export function createLastContext(ctx: Context, object: ApiObject, controller: Controller): Context {
  const own = contextAbout(ctx, { controller, object })
  return {
    ...own,
    attempt: ctx.attempt,
    expectations: ctx.expectations,
    removed: true,
    notes: ownNotes(ctx.notes, object),
    once: (key, effect, options) => ctx.once(effectKey(object, key), effect, options),
    apply: (kind, given, options) => (isUnowned(options) ? own.apply(kind, given, options) : refuseChild(object)),
    create: (kind, given, options) => (isUnowned(options) ? own.create(kind, given, options) : refuseChild(object)),
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

function isUnowned(options: Parameters<Context['apply']>[2]): boolean {
  return options?.owned === false
}

function refuseChild({ kind, metadata }: ApiObject): Promise<never> {
  return Promise.reject(
    new OperatingError(
      'BAD_REQUEST',
      `${kind} ${metadata.name} is gone and its children go with it; apply with { owned: false } what is to stay`,
    ),
  )
}
