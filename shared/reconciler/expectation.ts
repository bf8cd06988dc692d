import type { Duration } from '../model/duration.ts'
import type { Context } from './context.ts'
import { definedMs } from './given-duration.ts'

/**
 * Something that a run has set going and later runs wait for: a job that ends, a server that answers. That it is
 * expected, and until when, is kept with the object and survives restarts; whether it has come true is looked up in
 * each run. An object that expects something runs when its deadline comes, at the latest, if it rests or was told to
 * run later. After a failure it runs when its backoff is over, and after `stop` when something changes.
 */
export interface Expectation<Read> {
  readonly name: string
  /** Expects it from now on; if it was expected already, the time begins anew. */
  set(ctx: Expecting): void
  /** Expects it unless it holds already; tells whether it is expected. */
  setUnlessMet(object: Read, ctx: Context): Promise<boolean>
  /**
   * `met`: it holds, late or in time, and is no longer expected. `ongoing`: not yet. `timedOut`: its time is over; it
   * says so until it is met, set anew or forgotten. `undefined`: it is not expected.
   */
  check(object: Read, ctx: Context): Promise<'met' | 'ongoing' | 'timedOut' | undefined>
  forget(ctx: Expecting): void
}

export interface ExpectationOptions<Read> {
  /** How long it may take. */
  readonly within: Duration
  /** Whether it holds; may be asked any number of times and changes nothing. */
  readonly met: (object: Read, ctx: Context) => boolean | Promise<boolean>
}

type Expecting = Pick<Context, 'expectations' | 'now'>

/**
 * An expectation of this name. A reconciler may have any number of them, each with a name of its own. Throws a
 * TypeError if `within` is no duration.
 */
export function expectation<Read>(name: string, { within, met }: ExpectationOptions<Read>): Expectation<Read> {
  const withinMs = definedMs(`the expectation ${name}: within`, within)
  const set = (ctx: Expecting): void => void ctx.expectations.set(name, ctx.now() + withinMs)
  return {
    name,
    set,
    setUnlessMet: async (object, ctx) => {
      const isMet = await met(object, ctx)
      if (!isMet) set(ctx)
      return !isMet
    },
    check: async (object, ctx) => {
      const untilMs = ctx.expectations.get(name)
      if (untilMs === undefined) return
      if (!(await met(object, ctx))) return ctx.now() < untilMs ? 'ongoing' : 'timedOut'
      ctx.expectations.delete(name)
      return 'met'
    },
    forget: (ctx) => void ctx.expectations.delete(name),
  }
}
