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

  /**
   * The name of a call that nobody has waited for when the run has ended; `undefined` if there is none. Whatever
   * becomes of such calls ends no process: the run is told of it.
   */
  findForgotten(): TrackedVerb | undefined {
    if (this.#underWay === undefined) return undefined
    for (const call of this.#underWay.keys()) call.catch(() => {})
    return this.#underWay.values().next().value
  }
}
