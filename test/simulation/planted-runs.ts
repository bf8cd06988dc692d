import type { PlantedBug } from './planted-bugs.ts'

const run = 'shared/engine/turn/run.ts'

/** What somebody could do wrong with runs that end in other ways than their author thinks. */
export const plantedInRuns: readonly PlantedBug[] = [
  {
    bug: 'a run is done though a call of it is under way',
    file: run,
    find: 'if (verb !== undefined) throw',
    replace: "if (verb === 'get') throw",
    part: 'Shelf',
  },
  {
    bug: 'a call is made for a run that is over',
    file: 'shared/engine/turn/run-verbs.ts',
    find: '    if (time.isOver) throw lateCallError(time.reason, object)\n',
    replace: "    if (time.isOver && manager === '') throw lateCallError(time.reason, object)\n",
    part: 'Shelf',
  },
  {
    bug: 'a status that does not fit its kind is stored',
    file: run,
    find: 'return faults === undefined ? withStatus(verdict, own)',
    replace: "return faults !== '' ? withStatus(verdict, own)",
    part: 'Shelf',
  },
  {
    bug: 'a field that its kind does not have is stored in a status',
    file: run,
    find: 'return faults === undefined ? withStatus(verdict, own)',
    replace: 'return faults === undefined ? withStatus(verdict, copyJson(status))',
    part: 'Shelf',
  },
  {
    bug: 'a run that returns nothing is done',
    file: run,
    find: "if (!isOutcome(outcome)) throw new TypeError('a reconciler returns done(…) or again(…), or throws')",
    replace: "if (!isOutcome(outcome)) return { kind: 'done' }",
    part: 'Shelf',
  },
  {
    bug: 'what is given up is tried again',
    file: 'shared/reconciler/attempts.ts',
    find: 'throw isFailure && ctx.isLastAttempt ?',
    replace: 'throw isFailure && ctx.attempt < 0 ?',
    part: 'Shelf',
  },
  {
    bug: 'the status of what is full is insisted on',
    file: 'shared/engine/turn/commit.ts',
    find: "if (!hasCode(error, 'TOO_LARGE') || !ending.showsStatus || ending.isStatusVital) throw error",
    replace: 'if (ending.showsStatus) throw error',
    part: 'Trunk',
  },
  {
    bug: 'a run whose end cannot be stored is left without an end',
    file: 'shared/engine/turn/reconcile-key.ts',
    find: 'if (!cannotBeStored(error)) throw error',
    replace: 'if (cannotBeStored(error) || error !== undefined) throw error',
    part: 'Trunk',
  },
  {
    bug: 'a turn is over though nothing says what its object has no room for',
    file: 'shared/engine/turn/commit.ts',
    find: 'if (await report(ending, ports)) return write(ending, false, ports)',
    replace: 'if ((await report(ending, ports)) || ending.showsStatus) return write(ending, false, ports)',
    part: 'Trunk',
  },
]
