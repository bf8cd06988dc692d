import { expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { checkLabelSelector } from '../../../shared/resources/selector-checks.ts'

const one = (key: string, operator: string, values?: readonly string[]): JsonObject => {
  return { matchExpressions: [{ key, operator, ...(values && { values: [...values] }) }] }
}

it.each<[string, JsonObject, readonly string[]]>([
  ['is empty', {}, []],
  ['names labels', { matchLabels: { a: 'b', 'x.dev/c': 'd', Upper: 'e' } }, []],
  [
    'names labels that are none',
    { matchLabels: { 'a b': 'c', '-': 'd' } },
    ['matchLabels Invalid', 'matchLabels Invalid'],
  ],
  ['has labels of another type', { matchLabels: 'x', matchExpressions: 'x' }, []],
  ['is in', one('a', 'In', ['x']), []],
  ['is not in', one('a', 'NotIn', ['x', 'y']), []],
  ['is in nothing', one('a', 'In', []), ['matchExpressions[0].values Required']],
  ['is not in nothing', one('a', 'NotIn'), ['matchExpressions[0].values Required']],
  ['exists', one('a', 'Exists'), []],
  ['does not exist', one('a', 'DoesNotExist', []), []],
  ['exists in something', one('a', 'Exists', ['x']), ['matchExpressions[0].values Invalid']],
  ['does what nobody knows', one('a', 'Is', ['x']), ['matchExpressions[0].operator Invalid']],
  ['does nothing', { matchExpressions: [{ key: 'a' }] }, ['matchExpressions[0].operator Invalid']],
  ['has odd keys', one('a b', 'In', ['x']), ['matchExpressions[0].key Invalid']],
  ['has odd keys, and exists', one('a b', 'Exists'), ['matchExpressions[0].key Invalid']],
  [
    'has odd keys and no values',
    { matchExpressions: [...(one('a', 'Exists')['matchExpressions'] as JsonObject[]), { key: '', operator: 'In' }] },
    ['matchExpressions[1].values Required', 'matchExpressions[1].key Invalid'],
  ],
])('a selector that %s', (_what, selector, faults) => {
  const found = checkLabelSelector(selector, 's')
  expect(found.map(({ field, reason }) => `${field} ${reason.replace('FieldValue', '')}`)).toEqual(
    faults.map((fault) => `s.${fault}`),
  )
})
