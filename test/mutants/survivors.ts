/** Mutants that no test can notice, each with the reason. Found by its file, its line's text and its replacement. */
export interface KnownSurvivor {
  readonly path: string
  /** The line that holds it, without the space around it. */
  readonly line: string
  readonly replacement: string
  /** Why the program does the same with it. */
  readonly why: string
}

export const knownSurvivors: readonly KnownSurvivor[] = [
  {
    path: 'shared/api/access/audit-line.ts',
    line: 'code = 0',
    replacement: '1',
    why: 'a note is written when its request is answered, and the answer sets the code',
  },
  {
    path: 'shared/model/selector.ts',
    line: 'for (let at = 0; at < text.length; at++) {',
    replacement: '1',
    why: 'a text that begins with a comma or a parenthesis is refused either way',
  },
  {
    path: 'shared/adapters/local/queue/merge-wake-ups.ts',
    line: 'return BigInt(a) >= BigInt(b) ? a : b',
    replacement: '>',
    why: 'of two equal versions either may be kept',
  },
  {
    path: 'shared/api/watch/texts.ts',
    line: 'if (overlap.size === 0) return false',
    replacement: 'false',
    why: 'an empty map holds nothing, and the look into it comes to the same',
  },
  {
    path: 'shared/model/schema/options.ts',
    line: 'if (size > max) break',
    replacement: 'false',
    why: 'whoever asks compares the size with the same bound: only the counting takes longer',
  },
  {
    path: 'shared/model/schema/fit/plain.ts',
    line: 'return types === jsonType.boolean ? { type: types, least: 0, most: 0 } : notPlain',
    replacement: 'false',
    why: 'what is not plain is judged by the closure, which comes to the same',
  },
  {
    path: 'shared/model/schema/fit/plain.ts',
    line: 'const least = Math.max(exclusiveMinimum ? minimum + 1 : minimum, Number.MIN_SAFE_INTEGER)',
    replacement: '2',
    why: 'a value that is not plain is judged by the closure, which comes to the same',
  },
  {
    path: 'shared/adapters/node/account-tokens.ts',
    line: 'known.delete(token)',
    replacement: 'void 0',
    why: 'the token is checked anew either way, and counted once',
  },
  {
    path: 'shared/engine/limits/hot-loops.ts',
    line: 'if (this.#younger.size >= generationMax || Math.abs(nowMs - this.#turnedAtMs) >= forgetMs) this.#turn(nowMs)',
    replacement: '>',
    why: 'one object or one millisecond more is no difference that is promised',
  },
  {
    path: 'shared/engine/limits/token-bucket.ts',
    line: 'if (this.#fill(nowMs) < 1 - epsilon) return false',
    replacement: '<=',
    why: 'a level of exactly so much is rounding, and may count or not',
  },
  {
    path: 'shared/engine/limits/hot-loops.ts',
    line: '#turnedAtMs = 0',
    replacement: '1',
    why: 'one millisecond more is no difference that is promised',
  },
  {
    path: 'shared/adapters/local/https/request-parser.ts',
    line: 'if (at > 0) drop(reading, at)',
    replacement: '>=',
    why: 'to drop nothing changes nothing',
  },
  {
    path: 'shared/adapters/local/queue/queue-time.ts',
    line: 'if (Math.abs(jumpedMs) > driftMsMax) {',
    replacement: '>=',
    why: 'a jump of exactly a second may count or not',
  },
  {
    path: 'shared/engine/state/turn.ts',
    line: 'const notBefore = ({ wakeUp: { notBeforeMs = 0 } }: Delivery): number => notBeforeMs',
    replacement: '1',
    why: 'both are long ago',
  },
  {
    path: 'shared/adapters/local/https/users-editor.ts',
    line: 'const tokenBytes = 32',
    replacement: '33',
    why: 'a byte more of chance is as good',
  },
  {
    path: 'shared/engine/state/admission.ts',
    line: "return (stored.engine.memory?.unended ?? 0) >= unendedMax ? { kind: 'stall' } : { kind: 'run' }",
    replacement: '1',
    why: 'both are fewer than five',
  },
  {
    path: 'shared/engine/state/as-read.ts',
    line: "if (findSettledParts(whole, object)['spec'] !== undefined) return object",
    replacement: 'false',
    why: 'what is settled has all defaults: only a look is spared',
  },
  {
    path: 'shared/engine/state/next-state.ts',
    line: "syncedAtMs: (verdict.kind === 'done' ? verdict.syncedAtMs : undefined) ?? memory.syncedAtMs,",
    replacement: 'true',
    why: 'no other verdict has such a time',
  },
  {
    path: 'shared/engine/state/repeated-errors.ts',
    line: 'const { error, sameErrors = 1 } = failureOf(engine) ?? {}',
    replacement: '2',
    why: 'both are fewer than five',
  },
  {
    path: 'shared/engine/limits/hot-loops.ts',
    line: 'for (const field of findChangedFields({ status: statusOf(before) }, { status: statusOf(after) }, 5))',
    replacement: '6',
    why: 'how many fields of a run are looked at is promised to nobody',
  },
  {
    path: 'shared/engine/limits/hot-loops.ts',
    line: 'changes.set(field, (changes.get(field) ?? 0) + 1)',
    replacement: '1',
    why: 'the counts are only compared with each other',
  },
  {
    path: 'shared/engine/limits/hot-loops.ts',
    line: 'changes.set(field, (changes.get(field) ?? 0) + 1)',
    replacement: '2',
    why: 'the counts are only compared with each other',
  },
  {
    path: 'shared/engine/limits/hot-loops.ts',
    line: 'isWanted: false,',
    replacement: 'true',
    why: 'asked for only while the loop is open, and what opens it sets it',
  },
  {
    path: 'shared/engine/limits/shared-pace.ts',
    line: 'for (const [i, { resolve }] of all.entries()) resolve(timesMs[i] ?? 0)',
    replacement: '1',
    why: 'a line gives as many places as were asked for',
  },
  {
    path: 'shared/engine/wake/key-order.ts',
    line: '.sort((a, b) => (a.place < b.place ? -1 : 1))',
    replacement: '<=',
    why: 'of two keys with one place either may come first',
  },
  {
    path: 'shared/engine/wake/local-wheel.ts',
    line: 'let noted = kinds.length === 0 ? wheelSlots : 0',
    replacement: 'false',
    why: 'without kinds nothing is noted either way: only the wheel is gone round',
  },
  {
    path: 'shared/engine/wake/progress.ts',
    line: 'const key = loop.waiting === 0 ? undefined : loop.keys.get(keyText(turn.key))',
    replacement: 'false',
    why: 'where nothing waits no key waits: only a look is spared',
  },
  {
    path: 'shared/engine/wake/progress.ts',
    line: 'if (key.waiting === undefined || position < key.waiting) key.waiting = position',
    replacement: '<=',
    why: 'of two equal positions either may be kept',
  },
  {
    path: 'shared/engine/wake/queue-plan.ts',
    line: 'export const planStaleMs = 60_000',
    replacement: '120000',
    why: 'so long as it is below the notice of a plan, it costs reads and no promise',
  },
  {
    path: 'shared/engine/wake/queue-plan.ts',
    line: 'if (count === 1) return 0',
    replacement: 'false',
    why: 'the highest of one score is the first: only the digest is spared',
  },
  {
    path: 'shared/engine/wake/queue-plan.ts',
    line: 'return (value ^ (value >>> 16)) >>> 0',
    replacement: '1',
    why: 'half of each score compares as the scores do, but for two in four thousand million',
  },
  {
    path: 'shared/engine/wake/queue-plan.ts',
    line: 'const before = stepAt(plan, fromMs - 1)',
    replacement: '2',
    why: 'a step of a plan lasts a quarter of an hour at least',
  },
  {
    path: 'shared/engine/wake/references.ts',
    line: 'const asking = controllers.filter(({ references, maps }) => references.length + maps.length > 0)',
    replacement: '>=',
    why: 'a controller that watches nothing so names nobody: only a look is spared',
  },
  {
    path: 'shared/engine/wake/relay.ts',
    line: 'const targets = unique(asked instanceof Promise ? await asked : asked)',
    replacement: 'true',
    why: 'what is there already may be awaited, too: only a turn of the event loop is spared',
  },
  {
    path: 'shared/engine/wake/relay.ts',
    line: 'if (targets.length === 0) continue',
    replacement: 'false',
    why: 'for nobody nothing is sent',
  },
  {
    path: 'shared/engine/wake/relay.ts',
    line: 'return targets.length < 2 ? targets : [...new Map(targets.map((target) => [keyText(target.key), target])).values()]',
    replacement: 'false',
    why: 'fewer than two are all different: only a map is spared',
  },
  {
    path: 'shared/engine/wake/saving.ts',
    line: 'let woke = false',
    replacement: 'true',
    why: 'the first time it is saved either way',
  },
  {
    path: 'shared/engine/wake/wake-reasons.ts',
    line: 'let isTold = false',
    replacement: 'true',
    why: 'each entry sets it, and without entries nobody is named',
  },
  {
    path: 'shared/reconciler/canary/decide-canary.ts',
    line: 'return (hashOf(uid) / 2 ** 32) * 100 < share',
    replacement: '<=',
    why: 'an id that falls upon the border of a share may be on either side',
  },
  {
    path: 'shared/reconciler/canary/decide-canary.ts',
    line: 'return (hash ^ (hash >>> 16)) >>> 0',
    replacement: '17',
    why: 'the lower half of the bits moves nobody by a hundredth',
  },
  {
    path: 'shared/reconciler/define-kind.ts',
    line: "if (typeof SETPOINT_SCHEMAS_CHECKED === 'undefined') workOut()",
    replacement: 'true',
    why: 'a definition comes to the same whenever it is worked out',
  },
  {
    path: 'shared/reconciler/external/rate-budget.ts',
    line: 'if (filledMs !== -Infinity && nowMs > filledMs)',
    replacement: '>=',
    why: 'to add nothing changes nothing',
  },
  {
    path: 'shared/reconciler/external/rate-budget.ts',
    line: 'if (nowMs < untilMs || missing > epsilon)',
    replacement: '>=',
    why: 'a call that is missing by exactly so much is rounding, and may count or not',
  },
  {
    path: 'shared/reconciler/external/tell.ts',
    line: '...(untilMs === Infinity ? {} : { resyncAfter: Math.max(0, untilMs - ctx.now()) }),',
    replacement: '1',
    why: 'one millisecond more is no difference that is promised',
  },
  {
    path: 'shared/reconciler/external/run-external.ts',
    line: 'return again(Math.max(0, end.untilMs - run.ctx.now()), { ready: waiting(end.reason, end.message) })',
    replacement: '1',
    why: 'one millisecond more is no difference that is promised',
  },
  {
    path: 'shared/reconciler/workflow/run-nodes.ts',
    line: 'if (dependent === undefined) return',
    replacement: 'false',
    why: 'each name of the graph is that of a node',
  },
  {
    path: 'shared/reconciler/workflow/run-nodes.ts',
    line: 'if (error instanceof InvariantError) throw error',
    replacement: 'false',
    why: 'what it is made of is thrown on at the end, too',
  },
  {
    path: 'shared/reconciler/workflow/run-nodes.ts',
    line: "progress.states.set(name, 'failed')",
    replacement: 'void 0',
    why: 'a node is begun once, and who fails throws: nobody reads the states then',
  },
]
