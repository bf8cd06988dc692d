import type { Context } from '../../reconciler/context.ts'

/** The verbs that read and write. An event may be told by the way. */
const verbs = ['get', 'list', 'apply', 'create', 'children', 'patch', 'delete'] as const

/** Which calls of a run's context are under way, so that a run does not count as done while one is. */
export interface ContextCalls {
  /** The context whose calls are noted. */
  readonly context: Context
  /**
   * The name of a call that nobody has waited for when the run has ended; `undefined` if there is none. Whatever
   * becomes of such calls ends no process: the run is told of it.
   */
  findForgotten(): string | undefined
}

export function trackCalls(context: Context): ContextCalls {
  const underWay = new Map<Promise<unknown>, string>()
  const track = (verb: (typeof verbs)[number]) => {
    const call = context[verb] as (...args: unknown[]) => Promise<unknown>
    return (...args: unknown[]): Promise<unknown> => {
      // What is returned fails as the call does, so that a failure that nobody waits for is told as any other.
      const settled: Promise<unknown> = call(...args).finally(() => underWay.delete(settled))
      underWay.set(settled, verb)
      return settled
    }
  }
  return {
    context: { ...context, ...Object.fromEntries(verbs.map((verb) => [verb, track(verb)])) },
    findForgotten: () => {
      for (const call of underWay.keys()) call.catch(() => {})
      return underWay.values().next().value
    },
  }
}
