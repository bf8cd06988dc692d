import type { EngineName } from './run-seed.ts'

/** A bug that is planted in a copy of the source: one text in place of another. */
export interface PlantedBug {
  readonly bug: string
  readonly file: string
  /** Stands in the file once. */
  readonly find: string
  readonly replace: string
  /** The engine that shows it. Left out: AWS. */
  readonly engine?: EngineName
  /** The part of a scenario without which no seed shows it. Left out: any may. */
  readonly part?: string
}

const relay = 'shared/engine/wake/relay.ts'
const routes = 'shared/engine/wake/routes.ts'
const commit = 'shared/engine/turn/commit.ts'
const turn = 'shared/engine/state/turn.ts'
const admission = 'shared/engine/state/admission.ts'
const resourcesAdmission = 'shared/resources/admission.ts'
const begunState = 'shared/engine/state/begun-state.ts'
const nextState = 'shared/engine/state/next-state.ts'
const nextStatus = 'shared/engine/state/next-status.ts'
const nextWait = 'shared/engine/state/next-wait.ts'
const writes = 'shared/engine/state/writes.ts'
const limits = 'shared/engine/limits/limits.ts'
const reconcileKey = 'shared/engine/turn/reconcile-key.ts'
const sharedPace = 'shared/engine/limits/shared-pace.ts'
const sweep = 'shared/engine/wake/sweep.ts'
const garbageCollector = 'shared/engine/loops/garbage-collector.ts'
const awsReconcile = 'shared/runtime/aws/reconcile.ts'

/** What somebody could do wrong in the protocol, each so small that a review might miss it. */
export const plantedBugs: readonly PlantedBug[] = [
  {
    bug: 'the id that tells wake-ups apart is the key',
    file: 'shared/engine/wake/wake-up.ts',
    find: 'dedupId: `${uid}:${resourceVersion}`',
    replace: "dedupId: 'changed'",
  },
  {
    bug: 'the relay leaves to the API what the API wakes',
    file: routes,
    find: '    route(ownTargets(controller)),\n',
    replace: '',
  },
  {
    bug: 'no hold is ended',
    file: relay,
    find: 'filter(({ untilMs }) => untilMs > one.atMs)',
    replace: 'filter(({ untilMs }) => untilMs === 0)',
  },
  {
    bug: 'a message is hidden after its turn has ended',
    file: commit,
    find: '  if (!how.isTimed) await hide()\n  else if (!(await tryHiding(hide, turn, logger))) return turn.settle()',
    replace: '  const hidden = clock.sleep(1_500).then(hide)\n  hidden.catch(() => {})',
  },
  {
    bug: 'a hold is recorded although the object changed',
    file: commit,
    find: '!how.isWakeable || isOvertaken(begun, live)) return next',
    replace: '!how.isWakeable) return next',
  },
  {
    bug: 'a message whose hold was not recorded stays hidden',
    file: commit,
    find: 'const waitMs = isRecorded ? Math.max(0, how.untilMs - clock.nowMs()) : 0',
    replace: 'const waitMs = Math.max(0, how.untilMs - clock.nowMs())',
  },
  {
    bug: 'a failure is left to the visibility timeout of its batch',
    file: commit,
    find: '  await release(ending, await writeAndReport(ending, ports), ports)',
    replace:
      "  const written = await writeAndReport(ending, ports)\n  if (ending.event !== undefined) throw new Error('failed')\n  await release(ending, written, ports)",
  },
  {
    bug: 'the message is acknowledged before the status is written',
    file: commit,
    find: '  await release(ending, await writeAndReport(ending, ports), ports)',
    replace:
      "  if (ending.release.kind === 'hold') return void (await release(ending, await writeAndReport(ending, ports), ports))\n  await ending.turn.settle()\n  await writeAndReport(ending, ports)",
  },
  {
    bug: 'the message is acknowledged before the run',
    file: reconcileKey,
    find: '  const startMs = engine.clock.nowMs()\n',
    replace: '  await turn.settle()\n  const startMs = engine.clock.nowMs()\n',
  },
  {
    bug: 'a status is written over a newer version',
    file: commit,
    find: 'proceed(store.get(keyOf(begun.object)), attempt)',
    replace:
      'proceed(store.get(keyOf(begun.object)), (newest) => newest && attempt({ ...begun, object: { ...begun.object, metadata: { ...begun.object.metadata, uid: newest.object.metadata.uid, resourceVersion: newest.object.metadata.resourceVersion } } }))',
  },
  {
    bug: 'a turn whose function continues is settled at once',
    file: commit,
    find: '    void overrun.then(end).catch(',
    replace: '    void end().catch(',
  },
  {
    bug: 'a turn whose function continues is retried if its end cannot be written',
    file: commit,
    find: "throw new OverrunError('the end of a run could not be written, and its function still runs', { cause: error })",
    replace: 'throw error',
    engine: 'local',
  },
  {
    bug: 'equal state is written',
    file: writes,
    find: "...(equal(live.object.status, next.object.status) ? [] : (['status'] as const)),",
    replace: "...(next.object.status === undefined ? [] : (['status'] as const)),",
  },
  {
    bug: 'a hold hides all messages of a turn',
    file: turn,
    find: 'await queue.hold([kept], ms)',
    replace: 'return queue.hold(deliveries, ms)',
  },
  {
    bug: 'one message of several is settled',
    file: turn,
    find: 'settle: () => queue.settle([kept, ...rest]),',
    replace: 'settle: () => queue.settle([kept]),',
  },
  {
    bug: 'a message is held without a limit',
    file: turn,
    find: 'isNearReceiveLimit: kept.receiveCount >= (queue.receivesMax ?? Infinity),',
    replace: 'isNearReceiveLimit: false,',
  },
  {
    bug: 'what does not fit its kind is run',
    file: admission,
    find: 'if (faults !== undefined && !isRetained(',
    replace: 'if (faults !== undefined && stored.engine.memory?.unended === -1 && !isRetained(',
  },
  {
    bug: 'a change of an annotation alone is held to the whole schema',
    file: resourcesAdmission,
    find: 'interpretSchema(kind.schema, object, { old: live })\n  return errors.filter(({ field }) => concerns(field, moved))',
    replace:
      'interpretSchema(kind.schema, object)\n  return moved.length >= 0 ? errors : errors.filter(({ field }) => concerns(field, moved))',
  },
  {
    bug: 'a failed run counts as observed',
    file: nextStatus,
    find: 'const observed = observes(verdict)\n',
    replace: 'const observed = observes(verdict) || true\n',
  },
  {
    bug: 'a run counts for the generation at its end',
    file: nextState,
    find: 'if (isOverruled(live, facts)) return live\n',
    replace:
      'if (isOverruled(live, facts)) return live\n  facts = { ...facts, generation: live.object.metadata.generation }\n',
  },
  {
    bug: 'a late run of an older generation is written',
    file: nextState,
    find: 'if (isOverruled(live, facts)) return live\n',
    replace: '',
  },
  {
    bug: 'a failed run is not retried',
    file: nextWait,
    find: '      return backoff(before, verdict, facts)',
    replace: '      return undefined',
  },
  {
    bug: 'failures in a row are forgotten',
    file: nextWait,
    find: 'const attempt = attemptsOf(before, generation) + (',
    replace: 'const attempt = (attemptsOf(before, generation) > 2 ? 0 : attemptsOf(before, generation)) + (',
  },
  {
    bug: 'a clean-up with an unknown result counts as done',
    file: reconcileKey,
    find: "phase === 'cleanup' && ran.verdict.kind === 'done'",
    replace: "phase === 'cleanup'",
  },
  {
    bug: 'the finalizer is added after the first run',
    file: begunState,
    find: 'isHeldBy(finalizer, object))\n',
    replace: 'isHeldBy(finalizer, object) || object.status?.observedGeneration === undefined)\n',
  },
  {
    bug: "a run gets its process's older copy of the object",
    file: reconcileKey,
    find: '  const begun = toBegunState(stored, controller)\n',
    replace:
      '  const known = ((globalThis as { known?: WeakMap<object, Map<string, StoredObject>> }).known ??= new WeakMap())\n  const mine = known.get(engine.store) ?? new Map<string, StoredObject>()\n  known.set(engine.store, mine)\n  const old = mine.get(stored.object.metadata.uid)\n  mine.set(stored.object.metadata.uid, stored)\n  if (old?.object.metadata.generation === stored.object.metadata.generation && isHeldBy(controller.finalizer, old.object) && old.object.status?.observedGeneration !== stored.object.status?.observedGeneration) return isOver(run(loop, { ...basis, stored: old }, signal))\n  const begun = toBegunState(stored, controller)\n',
  },
  {
    bug: 'a timer runs its object too early',
    file: admission,
    find: '    return Math.max(0, (dueAtMs(engine) ?? Infinity) - nowMs)',
    replace: '    return Math.max(0, (dueAtMs(engine) ?? Infinity) - nowMs) > 60_000 ? Infinity : 0',
  },
  {
    bug: 'children of a removed owner are not looked up',
    file: garbageCollector,
    find: '(await index.childrenOf(object.metadata.uid, 1)).length > 0',
    replace: 'false',
  },
  {
    bug: 'a child that could not be read is forgotten',
    file: garbageCollector,
    find: '    if (failures.length > 0) throw failures[0]\n',
    replace: '',
  },
  {
    bug: 'an owner in the foreground waits for no child',
    file: garbageCollector,
    find: 'else if (await this.#isWaiting(object)) return',
    replace: 'else if ((await this.#isWaiting(object)) && how === undefined) return',
  },
  {
    bug: 'a removed child does not wake the owner that waits for it',
    file: garbageCollector,
    find: '...ownersTold(blockedBy(object), object,',
    replace: '...ownersTold(blockedBy(object).slice(0, 0), object,',
  },
  {
    bug: 'an owner that orphans its children is removed first',
    file: garbageCollector,
    find: "owners.filter((owner) => propagationOf(owner) === 'orphan')",
    replace: 'owners.slice(0, 0)',
  },
  {
    bug: 'due timers are not looked up',
    file: sweep,
    find: 'index.due(kind, untilMs, timersPerPage, fromMs)',
    replace: 'index.due(kind, 0, timersPerPage, fromMs)',
  },
  {
    bug: 'the wheel skips a slot',
    file: 'shared/model/wheel.ts',
    find: '  const to = from + count\n',
    replace: '  const to = from + count - 1\n',
  },
  {
    bug: 'a status wakes its own controller',
    file: 'shared/model/stored-object.ts',
    find: "return touches(touched, 'spec', 'labels', 'annotations', 'control', 'meta', 'delete')",
    replace: "return touches(touched, 'spec', 'labels', 'annotations', 'control', 'meta', 'delete', 'status')",
  },
  {
    bug: 'a change of a child does not wake its owner',
    file: routes,
    find: 'if (owners.length === 0 || !isWatched(owns, change)) return []',
    replace: "if (change.type !== 'added') return []",
  },
  {
    bug: 'referrers are not looked up',
    file: routes,
    find: 'const referrers = await index.referrers(keyOf(change.stored.object))',
    replace: 'const referrers: readonly ObjectKey[] = []',
  },
  {
    bug: 'a change that wakes very many objects wakes none',
    file: 'shared/engine/wake/fan-out.ts',
    find: 'live && withWish(live, atMs)',
    replace: 'live',
  },
  {
    bug: 'of several removed objects of one name only the last is finalized',
    file: 'shared/engine/state/removed-record.ts',
    find: 'removed: [...known, removed] }',
    replace: 'removed: [removed] }',
  },
  {
    bug: 'the record of a repeated removal has no timer',
    file: 'shared/engine/state/removed-record.ts',
    find: 'engine: { wakeAtMs: nowMs + lookAfterMs }',
    replace: 'engine: {}',
  },
  {
    bug: 'a new object runs beside the continuing last run of its predecessor',
    file: 'shared/engine/loops/removed/runner.ts',
    find: 'if (part.isEnded()) await runPresent(',
    replace: 'if (part.isEnded() || clock.nowMs() > 0) await runPresent(',
  },
  {
    bug: 'redelivered messages of a dead process run with the others',
    file: awsReconcile,
    find: 'if (new Set(all.map(groupOf)).size < 2) return []',
    replace: 'if (new Set(all.map(groupOf)).size < 200) return []',
  },
  {
    bug: 'a dead message is ignored',
    file: 'shared/engine/loops/dead-letter.ts',
    find: 'if (controller !== undefined) return takeIn(controller, wakeUp.key)',
    replace: 'if (controller !== undefined) return',
  },
  {
    bug: 'a hot loop continues',
    file: 'shared/engine/limits/hot-loops.ts',
    find: 'return mayRun ? undefined : block(loop, object)',
    replace: 'return undefined',
  },
  {
    bug: 'a process with a continuing function is not ended',
    file: awsReconcile,
    find: 'if (!(await queue.awaitEnd(others, overrunMs))) this.#mustRetire = true',
    replace: 'await queue.awaitEnd(others, overrunMs)',
  },
  {
    bug: 'held messages are not reported, and so deleted',
    file: awsReconcile,
    find: 'return deliveries.filter((delivery) => !queue.isSettled(delivery))',
    replace: 'return deliveries.filter((delivery) => !queue.isSettled(delivery) && failed.has(delivery.wakeUp))',
  },
  {
    bug: 'a partly failed batch of the stream counts as relayed',
    file: 'shared/runtime/aws/relay.ts',
    find: 'failed = isAway(error) ? records[0]?.id : await oneByOne(records, relaying)',
    replace: 'failed = records.length > 1 ? undefined : await oneByOne(records, relaying)',
  },
  {
    bug: 'of the records that fail by themselves the last one is reported',
    file: 'shared/runtime/aws/relay.ts',
    find: 'first ??= record.id',
    replace: 'first = record.id',
  },
  {
    bug: 'the tick does not store its position',
    file: 'shared/runtime/aws/resync.ts',
    find: 'progress: after, queues',
    replace: 'progress: after.map(([name, now]) => [name, before?.progress[name] ?? now] as const), queues',
  },
  {
    bug: 'a write with an unknown result is acknowledged',
    file: 'shared/resources/conditional-writes.ts',
    find: 'const stored = await (isReleased(is) ? options.store.remove(next) : options.store.replace(next, touched))',
    replace:
      "const stored = await (isReleased(is) ? options.store.remove(next) : options.store.replace(next, touched)).catch((error: unknown) => {\n      if (hasCode(error, 'WRITE_UNKNOWN')) return next\n      throw error\n    })",
  },
  {
    bug: 'an object with a finalizer is removed',
    file: 'shared/resources/states.ts',
    find: 'return isDeleting(object) && (object.metadata.finalizers ?? []).length === 0',
    replace: 'return isDeleting(object)',
  },
  {
    bug: 'a request without a credential is allowed',
    file: 'shared/api/api.ts',
    find: 'const sender = found instanceof Promise ? await found : found',
    replace: "const sender = (await found) ?? { name: 'nobody', groups: ['system:masters'] }",
  },
  {
    bug: 'each process keeps its own rate limit',
    file: sharedPace,
    find: 'const together = gather((count) => reserve(name, count, limit))',
    replace: `let endMs = 0
  const spacingMs = 1_000 / limit.perSecond
  const together = gather(async (count) => {
    endMs = Math.max(endMs, clock.nowMs()) + count * spacingMs
    return Array.from({ length: count }, (_, i) => Math.max(clock.nowMs(), endMs - (count - i + limit.burst - 1) * spacingMs))
  })`,
  },
  {
    bug: 'two runs use one reservation',
    file: begunState,
    find: '{ ...memory, unended: unended + 1 }',
    replace: '{ ...memory, reservedMs, unended: unended + 1 }',
  },
  {
    bug: 'a late reservation stays valid',
    file: sharedPace,
    find: 'clock.nowMs() - atMs <= lateMsMax',
    replace: 'clock.nowMs() - atMs <= 100 * lateMsMax',
  },
  {
    bug: 'a reservation that another run used is used again',
    file: sharedPace,
    find: '[askedMs, engine.memory?.reservedMs].find(isGood)',
    replace: '[toldMs, engine.memory?.reservedMs].find(isGood)',
  },
  {
    bug: 'a line of reservations restarts although it is ahead',
    file: 'shared/model/reservations.ts',
    find: 'return Math.max(endUs, nowMs * 1_000) + count * spacingUsOf(rate)',
    replace: 'return nowMs * 1_000 + count * spacingUsOf(rate)',
  },
  {
    bug: 'a run without an end looks like a wait in line',
    file: admission,
    find: '?? 0) >= unendedMax',
    replace: '?? 0) >= 100 * unendedMax',
  },
  {
    bug: "an object's own limit is ignored",
    file: limits,
    find: 'if (limitedMs !== undefined) return',
    replace: 'if (limitedMs === 0) return',
  },
  {
    bug: 'a debounced change is dropped like a timer',
    file: admission,
    find: "return wakeUps.every(({ origin }) => origin !== 'change')",
    replace: 'return wakeUps.length > 0',
  },
  {
    bug: 'a paused object runs',
    file: admission,
    find: 'if (isPaused(stored.object)) return',
    replace: 'if (isPaused(stored.object) && isDeleting(stored.object)) return',
  },
  {
    bug: 'the end of a pause wakes nothing',
    file: 'shared/model/stored-object.ts',
    find: "return touches(touched, 'spec', 'labels', 'annotations', 'control', 'meta', 'delete')",
    replace: "return touches(touched, 'spec', 'labels', 'meta', 'delete')",
  },
  {
    bug: 'a tick that is cut off leaves no word of where the safety net stands',
    file: 'shared/runtime/aws/resync.ts',
    find: 'if (!isSaved) await this.#saved.save(',
    replace: 'if (!isSaved && before !== undefined && before.queues.size > 0) await this.#saved.save(',
    part: 'Definition',
  },
  {
    bug: 'a controller that returns looks at nothing',
    file: 'shared/engine/wake/aws-introduction.ts',
    find: 'return begun.woken < wheelSlots ?',
    replace: 'return begun.woken < 0 ?',
  },
  {
    bug: 'a failure that asks for a retry within a time is not kept to the budget of all',
    file: 'shared/engine/state/next-wait.ts',
    find: 'Math.max(wantedMs, allowedMs(facts))',
    replace:
      'Math.max(Math.min(wantedMs, nowMs + retryWithinMs(verdict)), retryWithinMs(verdict) < Infinity ? 0 : allowedMs(facts))',
    part: 'retryBudget',
  },
  {
    bug: 'a retry does not ask the budget of all',
    file: 'shared/engine/turn/reconcile-key.ts',
    find: 'const retryDelayMs = await reserveRetry(engine, basis.stored.engine, ran.verdict)',
    replace: 'const retryDelayMs = (await reserveRetry(engine, basis.stored.engine, ran.verdict)) && 0',
  },
  {
    bug: 'the begin of a once effect is not recorded',
    file: 'shared/engine/turn/once.ts',
    find: 'if (!isKnown) await note(',
    replace: 'if (!isKnown && known !== undefined) await note(',
  },
  {
    bug: 'a once effect whose end is recorded is done again',
    file: 'shared/engine/turn/once.ts',
    find: "if (isKnown && known.state === 'done') return",
    replace: "if (isKnown && known.state === 'done' && known.result === undefined) return",
  },
  {
    bug: 'the end of a run forgets once effects',
    file: nextState,
    find: '    once: memory.once,',
    replace: '    once: memory.notes === undefined ? undefined : memory.once,',
  },
  {
    bug: 'a predicate of the own kind is not asked',
    file: routes,
    find: ' && !passes({ kind, when }, change)) return []',
    replace: " && type === 'removed') return []",
  },
  {
    bug: 'a predicate of a watch is not asked',
    file: routes,
    find: 'isOf(change.stored.object, watched.kind) && passes(watched, change)',
    replace: 'isOf(change.stored.object, watched.kind) && watched.when !== undefined',
  },
  {
    bug: 'a predicate is asked about what speaks to the engine',
    file: routes,
    find: "if (!touches(touched, 'control', 'delete') && !passes",
    replace: 'if (!passes',
  },
  {
    bug: 'whom an object mapped to before is known by its notes alone',
    file: 'shared/engine/wake/references.ts',
    find: 'without((before && targetsOf(before.object)) ?? [], wanted)',
    replace: '[]',
  },
  {
    bug: 'whom a changed object maps to is not woken',
    file: routes,
    find: '...(maps.length > 0 ? [route(mapTargets(controller))] : []),',
    replace: '',
  },
  {
    bug: 'the end of a run forgets its notes',
    file: nextState,
    find: 'notes: withNoteChanges(memory.notes, facts.noteChanges ?? {}),',
    replace: 'notes: memory.notes,',
  },
  {
    bug: 'notes are said to be kept before they are',
    file: 'shared/engine/turn/notes.ts',
    find: 'await this.#memory.remember(',
    replace: 'if (this.#time === undefined) await this.#memory.remember(',
  },
  {
    bug: 'a deadline wakes nobody',
    file: nextWait,
    find: 'return isFree && atMs < (wait?.atMs ?? Infinity) ? {',
    replace: 'return isFree && atMs < 0 ? {',
  },
  {
    bug: 'what is expected is forgotten with the end of the run',
    file: nextState,
    find: '    expectations: facts.expectations,',
    replace: '    expectations: memory.expectations,',
  },
  {
    bug: 'a namespace goes before what is in it',
    file: 'shared/engine/loops/namespaces.ts',
    find: 'if (left.length === 0) return done()',
    replace: 'if (left.length >= 0) return done()',
  },
  {
    bug: 'what clean-ups may need goes with the custom objects of its namespace',
    file: 'shared/engine/loops/delete-all.ts',
    find: 'const stages = [kinds.filter(({ builtIn }) => !builtIn), kinds.filter(({ builtIn }) => builtIn)]',
    replace: 'const stages = [kinds]',
  },
  {
    bug: 'what is put into a namespace that is going is taken',
    file: 'shared/resources/create-resources.ts',
    find: 'if (isDeleting(stored.object)) throw',
    replace: 'if (stored.object === undefined) throw',
  },
  {
    bug: 'a definition goes before the objects of its kind',
    file: 'shared/engine/loops/lifecycles.ts',
    find: 'if ((await deleteAll(resources, kind, { isDoomed })).count > 0) return',
    replace: 'if (kind.plural === undefined) return',
  },
  {
    bug: 'the owner that a child is taken from is not woken',
    file: routes,
    find: '[controllerOf(object), engine.formerOwner]',
    replace: '[controllerOf(object)]',
    part: 'controls',
  },
  {
    bug: 'what an object refers to is not looked at when its status changes',
    file: 'shared/engine/wake/references.ts',
    find: "'meta', 'status', 'delete')",
    replace: "'meta', 'delete')",
    engine: 'local',
  },
  {
    bug: 'a write that changes the spec and an annotation counts as one of the annotation',
    file: 'shared/resources/transitions.ts',
    find: 'spec: !isMarked && before.generation !== after.generation,',
    replace:
      'spec: !isMarked && before.generation !== after.generation && equal(before.annotations, after.annotations),',
  },
  {
    bug: 'only the owner that a child is taken from is woken, not the one it is given to',
    file: routes,
    find: '[controllerOf(object), engine.formerOwner]',
    replace: '[engine.formerOwner ?? controllerOf(object)]',
  },
  {
    bug: 'nobody is woken by what its status begins to refer to',
    file: routes,
    find: "if (!touches(touched, 'references') ||",
    replace: "if (touches(touched, 'status') ||",
  },
]
