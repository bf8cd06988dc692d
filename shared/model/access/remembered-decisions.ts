import type { AccessBook, Asker } from './access-book.ts'
import { authorize, type Decision } from './authorize.ts'
import { createQuestionMemory, type QuestionMemory } from './question-memory.ts'
import type { Attributes } from './rules.ts'

/** The same one each time that the same user asks for the same, whatever the name. */
export class RememberedDecision implements Decision {
  readonly allowed = true
  readonly reason: string
  /** Kept here by who says the same of it each time: a slot costs less than a look into a map. */
  saying: unknown = undefined

  constructor(reason: string) {
    this.reason = reason
  }
}

/** What somebody is allowed whatever the name, as long as no role and no binding changes. */
interface Remembered {
  readonly book: AccessBook
  readonly revision: number
  readonly allowed: QuestionMemory<RememberedDecision>
}

/** With the one who asks it goes: who authenticates hands out the same user for the same token. */
const known = new WeakMap<Asker, Remembered>()

/** Decides as `authorize` does, and from memory what was allowed before. What is refused is looked at each time. */
export function authorizeAgain(asker: Asker, wanted: Attributes, book: AccessBook): Decision {
  const { allowed } = rememberedOf(asker, book)
  const before = allowed.find(wanted)
  if (before !== undefined) return before
  const general = authorize(asker, wanted.path === undefined ? { ...wanted, isOfAnyName: true } : wanted, book)
  if (!general.allowed) return wanted.path === undefined ? authorize(asker, wanted, book) : general
  const decision = new RememberedDecision(general.reason)
  allowed.keep(wanted, decision)
  return decision
}

function rememberedOf(asker: Asker, book: AccessBook): Remembered {
  const before = known.get(asker)
  if (before?.book === book && before.revision === book.revision) return before
  const remembered = { book, revision: book.revision, allowed: createQuestionMemory<RememberedDecision>() }
  known.set(asker, remembered)
  return remembered
}
