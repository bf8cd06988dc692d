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
    path: 'shared/model/apply/last-applied.ts',
    line: 'return isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value',
    replacement: '2',
    why: 'a comparison says by its sign what it says',
  },
  {
    path: 'shared/engine/limits/hot-loops.ts',
    line: 'if (this.#younger.size >= generationMax || Math.abs(nowMs - this.#turnedAtMs) >= forgetMs) this.#turn(nowMs)',
    replacement: '>',
    why: 'one object or one millisecond more is no difference that is promised',
  },
  {
    path: 'shared/engine/limits/token-bucket.ts',
    line: 'const passedMs = this.#atMs === -Infinity ? 0 : nowMs - this.#atMs',
    replacement: '1',
    why: 'the bucket is full when it is asked for the first time',
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
]
