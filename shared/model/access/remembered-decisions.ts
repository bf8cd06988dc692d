import type { AccessBook, Asker } from './access-book.ts'
import { authorize, type Decision } from './authorize.ts'
import type { Attributes } from './rules.ts'

/** What somebody is allowed whatever the name, as long as no role and no binding changes. */
interface Remembered {
  readonly book: AccessBook
  readonly revision: number
  /** By their namespaces; apart from paths, so that no path makes the question of a resource. */
  readonly resources: Map<string, Answer[]>
  readonly paths: Map<string, Answer[]>
  count: number
}

/** Those of a path have only a verb. They are compared part by part, which costs less than to make one text of them. */
interface Answer {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly decision: Decision
}

/** With the one who asks it goes: who authenticates hands out the same user for the same token. */
const known = new WeakMap<Asker, Remembered>()

/** So many questions of one asker are kept. */
const questionsMax = 200

/** Decides as `authorize` does, and from memory what was allowed before. What is refused is looked at each time. */
export function authorizeAgain(asker: Asker, wanted: Attributes, book: AccessBook): Decision {
  const remembered = rememberedOf(asker, book)
  const before = findAnswer(remembered, wanted)
  if (before !== undefined) return before
  const general = authorize(asker, wanted.path === undefined ? { ...wanted, isOfAnyName: true } : wanted, book)
  if (!general.allowed) return wanted.path === undefined ? authorize(asker, wanted, book) : general
  const decision = { allowed: true, reason: general.reason }
  keepAnswer(remembered, wanted, decision)
  return decision
}

function rememberedOf(asker: Asker, book: AccessBook): Remembered {
  const before = known.get(asker)
  if (before?.book === book && before.revision === book.revision) return before
  const remembered = { book, revision: book.revision, resources: new Map(), paths: new Map(), count: 0 }
  known.set(asker, remembered)
  return remembered
}

function findAnswer({ resources, paths }: Remembered, wanted: Attributes): Decision | undefined {
  if (wanted.path !== undefined) return paths.get(wanted.path)?.find(({ verb }) => verb === wanted.verb)?.decision
  for (const one of resources.get(wanted.namespace) ?? nothing)
    if (
      one.verb === wanted.verb &&
      one.resource === wanted.resource &&
      one.group === wanted.group &&
      one.subresource === wanted.subresource
    )
      return one.decision
  return undefined
}

const nothing: readonly Answer[] = []

function keepAnswer(remembered: Remembered, wanted: Attributes, decision: Decision): void {
  const { resources, paths } = remembered
  if (remembered.count >= questionsMax) {
    resources.clear()
    paths.clear()
    remembered.count = 0
  }
  remembered.count++
  const { verb } = wanted
  if (wanted.path !== undefined) {
    addAnswer(paths, wanted.path, { verb, group: '', resource: '', subresource: '', decision })
    return
  }
  const { group, resource, subresource, namespace } = wanted
  addAnswer(resources, namespace, { verb, group, resource, subresource, decision })
}

function addAnswer(answers: Map<string, Answer[]>, key: string, answer: Answer): void {
  const others = answers.get(key)
  if (others === undefined) answers.set(key, [answer])
  else others.push(answer)
}
