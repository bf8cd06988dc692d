import type { PlantedBug } from './planted-bugs.ts'

const lastContext = 'shared/engine/loops/removed/last-context.ts'
const runner = 'shared/engine/loops/removed/runner.ts'
const record = 'shared/engine/state/removed-record.ts'
const part = 'Tenant'

/** What somebody could do wrong in the last runs of removed objects. */
export const plantedInLastRuns: readonly PlantedBug[] = [
  {
    bug: 'removed objects of one name share what is done once',
    file: lastContext,
    find: 'ctx.once(ownKey(object, key), effect, options)',
    replace: 'ctx.once(key, effect, options)',
    part,
  },
  {
    bug: 'removed objects of one name share their notes',
    file: lastContext,
    find: 'function ownNotes(notes: Notes, { metadata: { uid } }: ApiObject)',
    replace: 'function ownNotes(notes: Notes, { metadata: { name: uid } }: ApiObject)',
    part,
  },
  {
    bug: 'removed objects of one name share what they expect',
    file: lastContext,
    find: "expectations: new OwnExpectations(ctx.expectations, ownKey(object, '')),",
    replace: 'expectations: ctx.expectations,',
    part,
  },
  {
    bug: 'who is gone is given a child',
    file: lastContext,
    find: 'apply: (kind, given, options) => (isUnowned(options) ? own.apply(kind, given, options) : refuseChild(object))',
    replace: 'apply: (kind, given, options) => own.apply(kind, given, options)',
    part,
  },
  {
    bug: 'what is left to others by the last run of an object is its child',
    file: lastContext,
    find: 'apply: (kind, given, options) => (isUnowned(options) ? own.apply(kind, given, options) : refuseChild(object))',
    replace: 'apply: (kind, given, options) => (isUnowned(options) ? own.apply(kind, given) : refuseChild(object))',
    part,
  },
  {
    bug: 'a last state is given in the version that it is stored in',
    file: runner,
    find: 'return conversion === undefined ? object : conversion.convert(object, conversion.version)',
    replace: 'return conversion === undefined ? object : { ...object }',
    part,
  },
  {
    bug: 'a last run that returns nothing counts as done',
    file: runner,
    find: "if (!isOutcome(outcome) || outcome.kind !== 'done') return outcome",
    replace: "if (isOutcome(outcome) && outcome.kind !== 'done') return outcome",
    part,
  },
  {
    bug: 'whose last run is done while another one is removed gets one more',
    file: record,
    find: 'if (later?.length !== finalizers.filter(isMark).length) return held',
    replace: 'if (seenOff?.length !== 0) return held',
    part,
  },
  {
    bug: 'a last run loses its notes before the record says that the run has ended',
    file: runner,
    find: '      await change(record, (live) => withoutRemoved(live, record, object))\n',
    replace: '      forgetOwn(ctx, last)\n      await change(record, (live) => withoutRemoved(live, record, object))\n',
    part,
  },
  {
    bug: 'a lost last run leads to no event',
    file: 'shared/engine/loops/removed/route.ts',
    find: '      await tellLost(removed, String(error))\n',
    replace: '      void tellLost\n',
    part,
  },
]
