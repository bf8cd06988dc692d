import type { JsonObject } from '../../model/json.ts'
import { shorten } from '../../model/shorten.ts'
import type { RunLine } from '../../ports/run-history.ts'

/** So much of what one run says is kept with it. */
const linesMax = 50
const charactersMax = 2_000

/** What a run says, as far as it is kept. */
export class RunLog {
  readonly #lines: RunLine[] = []
  #lost = 0

  keep({ fields, ...line }: RunLine): void {
    if (this.#lines.length >= linesMax) return void this.#lost++
    const message = shorten(line.message, charactersMax)
    this.#lines.push({ ...line, message, ...(fields === undefined ? {} : { fields: cutFields(fields) }) })
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0
  }

  /** Oldest first, and at the end how many are missing. */
  get lines(): readonly RunLine[] {
    const last = this.#lines.at(-1)
    if (this.#lost === 0 || last === undefined) return this.#lines
    return [...this.#lines, { atMs: last.atMs, level: 'info', message: `${this.#lost} more lines are not kept` }]
  }
}

/** As text where they are long, so that what is left of them is not mistaken for the whole. */
function cutFields(fields: JsonObject): JsonObject {
  const text = JSON.stringify(fields)
  return text.length > charactersMax ? { fields: shorten(text, charactersMax) } : fields
}
