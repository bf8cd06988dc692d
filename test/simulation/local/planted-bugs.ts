import type { PlantedBug } from '../planted-bugs.ts'

const sqlite = 'shared/adapters/local/sqlite'
const groups = 'shared/adapters/local/queue/key-groups.ts'
const queue = 'shared/adapters/local/queue/local-work-queue.ts'
const progress = 'shared/engine/wake/progress.ts'
const localEngine = 'shared/engine/loops/local-engine.ts'

/** What somebody could do wrong in the parts that the local engine has for itself. */
export const plantedLocally: readonly PlantedBug[] = (
  [
    {
      bug: 'a wish for a run that comes during a run is forgotten',
      file: 'shared/engine/state/next-state.ts',
      find: 'const isNewWish = wakeAtMs !== undefined && wakeAtMs !== facts.wakeAtMs',
      replace: 'const isNewWish = wakeAtMs !== undefined && wakeAtMs === Infinity',
    },
    {
      bug: 'a wish that is there serves for a change that comes during its run',
      file: 'shared/engine/wake/fan-out.ts',
      find: 'Math.min(atMs, (engine.wakeAtMs ?? Infinity) - 1)',
      replace: 'Math.min(atMs, engine.wakeAtMs ?? Infinity)',
    },
    {
      bug: 'the checkpoint passes a change whose run is under way',
      file: progress,
      find: '  loop.running.add(mine)',
      replace: '  if (position === -1n) loop.running.add(mine)',
    },
    {
      bug: 'the checkpoint passes a change that waits in the queue',
      file: progress,
      find: 'if (waiting !== undefined && waiting <= safe) safe = waiting - 1n',
      replace: 'if (waiting !== undefined && waiting < 0n) safe = waiting - 1n',
    },
    {
      bug: 'an object whose runs end the process is not given up',
      file: 'shared/runtime/local/unended-runs.ts',
      find: 'const endsMax = 3',
      replace: 'const endsMax = 3_000',
      part: 'crash',
    },
    {
      bug: 'what was given up runs again in the process after the one that gave it up',
      file: 'shared/runtime/local/unended-runs.ts',
      find: '.filter(([, ends]) => ends >= endsMax)',
      replace: '.filter(([, ends]) => ends >= endsMax && ends !== givenUpEnds)',
      part: 'crash',
    },
    {
      bug: 'a reload leaves functions that go on to themselves',
      file: 'shared/engine/turn/overruns.ts',
      find: 'if (ends.length === 0) return run(turn, signal)',
      replace: 'if (ends.length >= 0) return run(turn, signal)',
      part: 'reloads',
    },
    {
      bug: 'a reload looks at nothing that is there',
      file: 'shared/runtime/local/replaceable-core.ts',
      find: '      await introduceAgain()\n',
      replace: '',
      part: 'reloads',
    },
    {
      bug: 'a change of the owners alone is none',
      file: 'shared/resources/transitions.ts',
      find: ' || !equal(before.ownerReferences, after.ownerReferences),',
      replace: ',',
    },
    {
      bug: 'a process that starts continues with what changes from then on',
      file: localEngine,
      find: "const from = (await options.relayed.load()) ?? '0'",
      replace: 'const from = await options.feed.latest()',
    },
    {
      bug: 'a process that has missed changes for good looks at nothing that is there',
      file: localEngine,
      find: 'if (after === undefined) looks.push(look((after = await feed.latest())))',
      replace: 'if (after === undefined) after = await feed.latest()',
      part: 'retainedCharacters',
    },
    {
      bug: 'a process that has missed changes for good leaves out those whose owners may be gone',
      file: localEngine,
      find: 'swept: await withGarbage(engine)',
      replace: 'swept: engine.swept',
      part: 'retainedCharacters',
    },
    {
      bug: 'a controller that is new looks at nothing that was there before',
      file: localEngine,
      find: 'if (fresh.length === 0) return async () => {}',
      replace: 'if (fresh.length < 100) return async () => {}',
    },
    {
      bug: 'the rate limit of a controller is not kept on one machine',
      file: localEngine,
      find: 'controllerLimit === undefined ? unlimited',
      replace: 'controllerLimit !== null ? unlimited',
    },
    {
      bug: 'the wheel of one machine leaves out half of what it passes',
      file: 'shared/engine/wake/local-wheel.ts',
      find: 'controllers: [controller] }, handMs, toMs)',
      replace: 'controllers: [controller] }, (handMs + toMs) / 2, toMs)',
    },
    {
      bug: 'what changed is told with the present state',
      file: `${sqlite}/sqlite-change-log.ts`,
      find: "'SELECT rv, type, touched, supersedes, engine, doc, sum FROM changes WHERE rv > ? AND rv <= ?'",
      replace:
        "'SELECT rv, type, touched, supersedes, engine, doc, sum FROM (SELECT c.rv, c.kind, c.type, c.touched, c.supersedes, p.engine, p.doc, p.sum FROM changes c LEFT JOIN heads h ON h.id = c.object_id JOIN changes p ON p.rv = coalesce(h.rv, c.rv)) WHERE rv > ? AND rv <= ?'",
    },
    {
      bug: 'a writer is told before the commit, which comes with the next turn',
      file: `${sqlite}/group-commit.ts`,
      find: '      running = undefined\n      end.run()\n',
      replace: '      running = undefined\n      setImmediate(() => end.run())\n',
    },
    {
      bug: 'what is written is remembered before its commit',
      file: `${sqlite}/sqlite-store.ts`,
      find: 'const { id: objectId, doc, engine, supersedes } = row\n',
      replace:
        "const { id: objectId, doc, engine, supersedes } = row\n        if (work.type !== 'removed') rows.written(place, row, stored)\n",
    },
    {
      bug: 'a commit returns before its fsync',
      file: `${sqlite}/sqlite-database.ts`,
      find: 'PRAGMA synchronous = FULL;',
      replace: 'PRAGMA synchronous = NORMAL;',
    },
    {
      bug: 'a write overwrites the writes that came after its read',
      file: `${sqlite}/sqlite-objects.ts`,
      find: 'if (remembered !== undefined && isOf(remembered, before)) return remembered',
      replace: 'if (remembered !== undefined) return remembered',
    },
    {
      bug: 'the timer of an object disappears with a write of somebody else',
      file: `${sqlite}/sqlite-objects.ts`,
      find: 'updateHead.run(rv, nextRunAtMs, row.id, row.rv)',
      replace: "updateHead.run(rv, touched.includes('engine') ? nextRunAtMs : null, row.id, row.rv)",
    },
    {
      bug: 'an object that is gone is remembered',
      file: `${sqlite}/sqlite-store.ts`,
      find: "if (type === 'removed') rows.removed(place)",
      replace: "if (type === 'removed') rows.get(place)",
    },
    {
      bug: 'a batch of changes says that it got further than it did',
      file: `${sqlite}/change-tail.ts`,
      find: 'resourceVersion: String(seen) }',
      replace: 'resourceVersion: String(seen + 1) }',
    },
    {
      bug: 'a later page of a list shows the states of now',
      file: `${sqlite}/sqlite-list.ts`,
      find: 'if (row.rv <= walk.asOf || isLost(row))',
      replace: 'if (row.rv > 0 || isLost(row))',
    },
    {
      bug: 'a watch that resumes begins with what changes from then on',
      file: 'shared/api/verbs/watch.ts',
      find: 'const after = options.after ?? (await services.feed.latest())',
      replace: 'const after = await services.feed.latest()',
    },
    {
      bug: 'a change is forgotten that comes while its key is taken',
      file: groups,
      find: 'group.next = group.next === undefined ? wakeUp : mergeWakeUps(group.next, wakeUp)',
      replace: 'group.next ??= group.isHeld ? wakeUp : undefined',
    },
    {
      bug: 'a key that is taken is handed out again when a change comes for it',
      file: groups,
      find: '} else if (group.handle === undefined) {\n      group.wakeUp = merge',
      replace: '} else if (group.handle === undefined || !group.isHeld) {\n      group.wakeUp = merge',
    },
    {
      bug: 'a key is told apart by nothing else for five minutes',
      file: queue,
      find: 'recent.admit(`${key} ${wakeUp.dedupId}`, nowMs)',
      replace: 'recent.admit(key, nowMs)',
    },
    {
      bug: 'the file is asked once for the timers of a kind',
      file: `${sqlite}/soonest-timers.ts`,
      find: 'if (known !== undefined && untilMs < known.soonestMs &&',
      replace: 'if (known !== undefined || untilMs < 0) return false\n    if (known !== undefined && untilMs < 0 &&',
    },
    {
      bug: 'nobody ends a hold in the local queue',
      file: groups,
      find: 'if (group?.isHeld === true) this.#comeBack(group, nowMs)',
      replace: 'if (group?.isHeld === true) return',
    },
  ] as const
).map((bug) => ({ ...bug, engine: 'local' }))
