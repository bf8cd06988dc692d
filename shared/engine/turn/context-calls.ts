/** The verbs that read and write, and side effects. An event may be told by the way. */
export type TrackedVerb =
  | 'once'
  | 'get'
  | 'list'
  | 'apply'
  | 'create'
  | 'children'
  | 'patch'
  | 'delete'
  | 'notes.keep'
  | `outside.${'assumeRole' | 'readSecret' | 'keepSecret' | 'removeSecret'}`

/** Which calls of a run's context are under way, so that a run does not count as done while one is. */
export class ContextCalls {
  #underWay: Map<Promise<unknown>, TrackedVerb> | undefined

  /** What is returned fails as the call does, so that a failure that nobody waits for is told as any other. */
  track<Result>(verb: TrackedVerb, call: Promise<Result>): Promise<Result> {
    const underWay = (this.#underWay ??= new Map())
    const settled: Promise<Result> = call.finally(() => underWay.delete(settled))
    underWay.set(settled, verb)
    return settled
  }

  /** The name of a call that nobody has waited for when the run has ended; `undefined` if there is none. */
  findForgotten(): TrackedVerb | undefined {
    return this.#underWay?.values().next().value
  }

  /**
   * The end of the calls that still act when the run has ended; `undefined` if none does. Whatever becomes of the calls
   * that nobody has waited for ends no process.
   */
  endOfActing(): Promise<unknown> | undefined {
    const calls = [...(this.#underWay ?? [])]
    for (const [call] of calls) call.catch(() => {})
    const acting = calls.filter(([, verb]) => !readingVerbs.has(verb))
    return acting.length === 0 ? undefined : Promise.allSettled(acting.map(([call]) => call))
  }
}

const readingVerbs: ReadonlySet<TrackedVerb> = new Set([
  'get',
  'list',
  'children',
  'outside.assumeRole',
  'outside.readSecret',
])
