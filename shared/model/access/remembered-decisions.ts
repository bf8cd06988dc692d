import type { AccessBook, Asker } from './access-book.ts'
import { authorize, type Decision } from './authorize.ts'
import type { Attributes } from './rules.ts'

/** What somebody is allowed whatever the name, as long as no role and no binding changes. */
interface Remembered {
  readonly book: AccessBook
  readonly revision: number
  readonly allowed: Map<string, Decision>
}

/** With the one who asks it goes: who authenticates hands out the same user for the same token. */
const known = new WeakMap<Asker, Remembered>()

/** So many questions of one asker are kept. */
const questionsMax = 200

/** Decides as `authorize` does, and from memory what was allowed before. What is refused is looked at each time. */
export function authorizeAgain(asker: Asker, wanted: Attributes, book: AccessBook): Decision {
  const remembered = rememberedOf(asker, book)
  const question = questionOf(wanted)
  const before = remembered.allowed.get(question)
  if (before !== undefined) return before
  const general = authorize(asker, wanted.path === undefined ? { ...wanted, isOfAnyName: true } : wanted, book)
  if (!general.allowed) return wanted.path === undefined ? authorize(asker, wanted, book) : general
  if (remembered.allowed.size >= questionsMax) remembered.allowed.clear()
  const decision = { allowed: true, reason: general.reason }
  remembered.allowed.set(question, decision)
  return decision
}

function rememberedOf(asker: Asker, book: AccessBook): Remembered {
  const before = known.get(asker)
  if (before?.book === book && before.revision === book.revision) return before
  const remembered = { book, revision: book.revision, allowed: new Map<string, Decision>() }
  known.set(asker, remembered)
  return remembered
}

/** No path makes the question of a resource, however it is written. */
function questionOf(wanted: Attributes): string {
  if (wanted.path !== undefined) return `path ${wanted.verb} ${wanted.path}`
  const { verb, group, resource, subresource, namespace } = wanted
  return `resource ${verb} ${group}/${resource}/${subresource} ${namespace}`
}
