import type { Attributes } from './rules.ts'

/**
 * What is known of questions, whatever name they ask for. Their parts are compared one by one, which costs less than to
 * make one text of them; and no path is ever taken for a resource.
 */
export interface QuestionMemory<Value> {
  find(wanted: Attributes): Value | undefined
  keep(wanted: Attributes, value: Value): void
}

/** Those of a path have only a verb. */
interface Answer<Value> {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly value: Value
}

/** So many questions are kept. */
const questionsMax = 200

export function createQuestionMemory<Value>(): QuestionMemory<Value> {
  const byNamespace = new Map<string, Answer<Value>[]>()
  const byPath = new Map<string, Answer<Value>[]>()
  let count = 0

  const add = (answers: Map<string, Answer<Value>[]>, key: string, answer: Answer<Value>): void => {
    const others = answers.get(key)
    if (others === undefined) answers.set(key, [answer])
    else others.push(answer)
  }

  return {
    find: (wanted) => {
      const { verb } = wanted
      if (wanted.path !== undefined) return byPath.get(wanted.path)?.find((one) => one.verb === verb)?.value
      const answers = byNamespace.get(wanted.namespace)
      const { group, resource, subresource } = wanted
      return answers?.find(
        (one) =>
          one.verb === verb && one.resource === resource && one.group === group && one.subresource === subresource,
      )?.value
    },
    keep: (wanted, value) => {
      if (count >= questionsMax) {
        byNamespace.clear()
        byPath.clear()
        count = 0
      }
      count++
      const { verb } = wanted
      if (wanted.path !== undefined)
        return add(byPath, wanted.path, { verb, group: '', resource: '', subresource: '', value })
      const { group, resource, subresource } = wanted
      add(byNamespace, wanted.namespace, { verb, group, resource, subresource, value })
    },
  }
}
