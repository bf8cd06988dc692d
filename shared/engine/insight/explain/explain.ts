import { keyOf } from '../../../model/object-key.ts'
import type { ServedKind } from '../../../model/served-kind.ts'
import type { StoredObject } from '../../../model/stored-object.ts'
import { gatherFacts, type Facts, type FactsOptions } from './facts.ts'
import { action, requeue, told } from './plan-answers.ts'
import { desired, difference, observed } from './state-answers.ts'
import { advice, summary } from './summary.ts'
import { agoText, indented, named, printable } from './words.ts'

/** Explains one object, with what surrounds it as it is now. */
export function createExplain(options: FactsOptions): (kind: ServedKind, stored: StoredObject) => Promise<string> {
  return async (kind, stored) => explanation(await gatherFacts(kind, stored, options))
}

/**
 * One object for whoever is woken by it at three in the morning: the matter in a sentence, what can be done, and the
 * six questions: what is desired, what is observed, where they differ, what is done, when it runs next, what it says of
 * itself.
 */
function explanation(facts: Facts): string {
  const { object } = facts.stored
  const { uid, resourceVersion, creationTimestamp } = object.metadata
  const age = agoText(creationTimestamp, facts.nowMs) ?? 'at an unknown time'
  const lines = [
    named(keyOf(object)),
    `  ${object.apiVersion}, made ${age}, uid ${uid}, resourceVersion ${resourceVersion}`,
    '',
    ...summary(facts),
    ...indented(advice(facts)),
    ...questions.flatMap(({ question, answer }, i) => ['', `${i + 1}. ${question}`, ...indented(answer(facts))]),
  ]
  return printable(`${lines.join('\n')}\n`)
}

const questions: readonly { readonly question: string; readonly answer: (facts: Facts) => readonly string[] }[] = [
  { question: 'DESIRED: what should be?', answer: desired },
  { question: 'OBSERVED: what is there?', answer: observed },
  { question: 'DIFFERENCE: where do the two not agree?', answer: difference },
  { question: 'ACTION: what is done about it?', answer: action },
  { question: 'REQUEUE: when does it run next?', answer: requeue },
  { question: 'STATUS: what does it say of itself?', answer: told },
]
