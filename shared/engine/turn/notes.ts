import { refuseForeign } from '../../model/foreign-part.ts'
import { copyJson, equal, type Json } from '../../model/json.ts'
import { withMemory, withNoteChanges, type Memory, type NoteChanges } from '../../model/engine-state.ts'
import type { Notes } from '../../reconciler/notes.ts'
import type { ContextCalls } from './context-calls.ts'
import type { RunMemory } from './run-memory.ts'
import type { RunTime } from './run-times.ts'

const lengthMax = 4_096
const unchanged: NoteChanges = {}

/** The notes of one run. */
export class RunNotes implements Notes {
  readonly #memory: RunMemory
  readonly #time: RunTime
  readonly #calls: ContextCalls
  /** As they were when the run began, or when they were last kept. */
  #before: NonNullable<Memory['notes']>
  #noted: NonNullable<Memory['notes']>
  /** What keeps are about to write, or may have written before they failed. */
  #unsure: readonly NoteChanges[] = []

  constructor(memory: RunMemory, time: RunTime, calls: ContextCalls) {
    this.#memory = memory
    this.#time = time
    this.#calls = calls
    this.#before = memory.live().engine.memory?.notes ?? {}
    this.#noted = this.#before
  }

  /** The answer is a copy. A change of it is noted by `set` alone. */
  get(key: string): Json | undefined {
    return Object.hasOwn(this.#noted, key) ? copyJson(this.#noted[key]) : undefined
  }

  set(key: string, value: Json | undefined): void {
    if (value !== undefined) refuseForeign(value, key, 'notes')
    const { [key]: _, ...others } = this.#noted
    const next = value === undefined ? others : { ...others, [key]: copyJson(value) }
    if (JSON.stringify(next).length > lengthMax)
      throw new TypeError(`notes: an object keeps ${lengthMax} characters at most; note what identifies a thing`)
    this.#noted = next
  }

  keep(): Promise<void> {
    return this.#calls.track('notes.keep', this.#keep())
  }

  async #keep(): Promise<void> {
    this.#time.throwIfOver()
    const [kept, changes] = [this.#noted, this.changes()]
    this.#unsure = [...this.#unsure, changes]
    await this.#memory.remember((engine) =>
      withMemory(engine, { ...engine.memory, notes: withNoteChanges(engine.memory?.notes, changes) }),
    )
    this.#before = kept
    // It has written what those before it may have written.
    this.#unsure = this.#unsure.slice(this.#unsure.indexOf(changes) + 1)
  }

  all(): NonNullable<Memory['notes']> {
    return this.#noted
  }

  /** What is another than it was and not yet kept, and what a keep may have stored without an answer. */
  changes(): NoteChanges {
    const [before, noted] = [this.#before, this.#noted]
    const unsure = new Set(this.#unsure.flatMap(Object.keys))
    if (before === noted && unsure.size === 0) return unchanged
    const keys = [...new Set([...Object.keys(before), ...Object.keys(noted), ...unsure])]
    const valueIn = (notes: typeof noted, key: string): Json | undefined =>
      Object.hasOwn(notes, key) ? notes[key] : undefined
    const changed = keys.filter((key) => unsure.has(key) || !equal(valueIn(before, key), valueIn(noted, key)))
    return Object.fromEntries(changed.map((key) => [key, valueIn(noted, key)]))
  }
}
