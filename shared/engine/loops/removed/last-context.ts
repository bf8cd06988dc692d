import { OperatingError } from '../../../model/errors.ts'
import { isObject, type JsonObject } from '../../../model/json.ts'
import type { ApiObject } from '../../../model/object.ts'
import type { Context } from '../../../reconciler/context.ts'
import type { Notes } from '../../../reconciler/notes.ts'
import { ownKey } from '../../state/removed-record.ts'
import type { Controller } from '../../../reconciler/controller.ts'
import { contextAbout } from '../../turn/run-context.ts'

/**
 * The context of the last run of a removed object. Objects that had the name one after the other share a record and its
 * runs. Each object has its own effects, notes and expectations in the record, until its last run has ended. What it
 * writes, keeps outside and tells is the object's and its controller's, as in the runs before.
 */
export function createLastContext(ctx: Context, object: ApiObject, controller: Controller): Context {
  const own = contextAbout(ctx, { controller, object })
  return {
    ...own,
    attempt: ctx.attempt,
    expectations: new OwnExpectations(ctx.expectations, ownKey(object, '')),
    removed: true,
    notes: ownNotes(ctx.notes, object),
    once: (key, effect, options) => ctx.once(ownKey(object, key), effect, options),
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

/** A part of all that the record expects, under names without what tells whose they are. */
class OwnExpectations extends Map<string, number> {
  readonly #all: Map<string, number>
  readonly #prefix: string

  constructor(all: Map<string, number>, prefix: string) {
    super()
    this.#all = all
    this.#prefix = prefix
    for (const [name, untilMs] of all) if (name.startsWith(prefix)) super.set(name.slice(prefix.length), untilMs)
  }

  override set(name: string, untilMs: number): this {
    this.#all.set(`${this.#prefix}${name}`, untilMs)
    return super.set(name, untilMs)
  }

  override delete(name: string): boolean {
    this.#all.delete(`${this.#prefix}${name}`)
    return super.delete(name)
  }

  override clear(): void {
    for (const name of this.keys()) this.delete(name)
  }
}

/** Removes what the run has of an object that the record has not any more. */
export function forgetOwn({ notes, expectations }: Context, object: ApiObject): void {
  notes.set(object.metadata.uid, undefined)
  new OwnExpectations(expectations, ownKey(object, '')).clear()
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
