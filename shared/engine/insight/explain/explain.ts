import { keyOf } from '../../../model/object-key.ts'
import type { ServedKind } from '../../../model/served-kind.ts'
import type { StoredObject } from '../../../model/stored-object.ts'
import { gatherFacts, type Facts, type FactsOptions } from './facts.ts'
import { explainAction, explainRequeue, explainReports } from './plan-answers.ts'
import { explainDesired, explainDifference, explainObserved } from './state-answers.ts'
import { advise, summarize } from './summary.ts'
import { agoText, indentLines, formatKey, printable } from './words.ts'

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
    formatKey(keyOf(object)),
    `  ${object.apiVersion}, made ${age}, uid ${uid}, resourceVersion ${resourceVersion}`,
    '',
    ...summarize(facts),
    ...indentLines(advise(facts)),
    ...questions.flatMap(({ question, answer }, i) => ['', `${i + 1}. ${question}`, ...indentLines(answer(facts))]),
  ]
  return printable(`${lines.join('\n')}\n`)
}

const questions: readonly { readonly question: string; readonly answer: (facts: Facts) => readonly string[] }[] = [
  { question: 'DESIRED: what should be?', answer: explainDesired },
  { question: 'OBSERVED: what is there?', answer: explainObserved },
  { question: 'DIFFERENCE: where do the two not agree?', answer: explainDifference },
  { question: 'ACTION: what is done about it?', answer: explainAction },
  { question: 'REQUEUE: when does it run next?', answer: explainRequeue },
  { question: 'STATUS: what does it say of itself?', answer: explainReports },
]
