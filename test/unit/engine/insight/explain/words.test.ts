import { describe, expect, it } from 'vitest'
import type { Facts, Relative } from '../../../../../shared/engine/insight/explain/facts.ts'
import {
  ago,
  agoText,
  atMost,
  formatKey,
  indentLines,
  kubectlName,
  printable,
  relativeLines,
  section,
  until,
  withMessage,
} from '../../../../../shared/engine/insight/explain/words.ts'
import type { ApiObject } from '../../../../../shared/model/object.ts'

const nowMs = Date.parse('2026-01-01T00:00:10Z')

it.each([
  ['ago', ago(nowMs - 5_000, nowMs), '5s ago'],
  ['ago, by a clock that is ahead', ago(nowMs + 5_000, nowMs), '0s ago'],
  ['a timestamp', agoText('2026-01-01T00:00:00Z', nowMs), '10s ago'],
  ['a timestamp that stands for none', agoText('1970-01-01T00:00:00Z', nowMs), undefined],
  ['no timestamp', agoText(undefined, nowMs), undefined],
  ['what is due', until(nowMs, nowMs), 'now'],
  ['what is due in no time', until(nowMs + 1, nowMs), 'in 1s'],
  ['what is due', until(nowMs + 12_000, nowMs), 'in 12s'],
  ['a reason with a message', withMessage('Broken', 'no route'), 'Broken: no route'],
  ['a reason alone', withMessage('Broken', ''), 'Broken'],
  ['control characters', printable('a\u001b[1m\nb\u007f'), 'a\\x1b[1m\nb\\x7f'],
])('%s: %s', (_what, said, expected) => {
  expect(said).toBe(expected)
})

const key = (name: string, namespace = 'default') => ({ group: '', kind: 'ConfigMap', namespace, name })

function objectWith(ready?: object, metadata: object = {}): ApiObject {
  const status = ready && { conditions: [{ type: 'Ready', lastTransitionTime: '', ...ready }] }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...(status && { status }) } as unknown as ApiObject
}

it('says how each relative is, in columns, and how many are left out', () => {
  const shown: readonly Relative[] = [
    { key: key('a', ''), object: undefined },
    { key: key('b'), object: objectWith({}, { deletionTimestamp: 't' }) },
    { key: key('c'), object: objectWith() },
    { key: key('d'), object: objectWith({ status: 'True', reason: 'R', message: '' }) },
    { key: key('e'), object: objectWith({ status: 'False', reason: 'R', message: 'm' }) },
    { key: key('f'), object: undefined, isDamaged: true },
  ]
  const lines = [
    'ConfigMap a          does not exist',
    'ConfigMap default/b  is being deleted',
    'ConfigMap default/c  exists',
    'ConfigMap default/d  ready',
    'ConfigMap default/e  Ready=False  R: m',
    'ConfigMap default/f  is damaged and cannot be read',
  ]
  expect(relativeLines({ shown, more: 0 })).toEqual(lines)
  expect(relativeLines({ shown, more: 1 })).toEqual([...lines, 'and 1 more'])
  expect(formatKey(key('a'))).toBe('ConfigMap default/a')
})

describe('names an object as kubectl does', () => {
  it.each([
    ['', undefined, 'widgets w'],
    ['', 'n', 'widgets w -n n'],
    ['example.com', 'n', 'widgets.example.com w -n n'],
  ])('group %j, namespace %j', (group, namespace, name) => {
    const metadata = { name: 'w', ...(namespace && { namespace }) }
    expect(kubectlName({ kind: { plural: 'widgets', group }, stored: { object: { metadata } } } as Facts)).toBe(name)
  })
})

it('indents lines under their title, and cuts off what nobody reads', () => {
  expect(indentLines(['a', '', 'b'])).toEqual(['  a', '', '  b'])
  expect(section('T', [])).toEqual([])
  expect(section('T', ['a'])).toEqual(['T', '  a'])
  expect(atMost(2, ['a', 'b'])).toEqual(['a', 'b'])
  expect(atMost(2, ['a', 'b', 'c', 'd'])).toEqual(['a', 'b', '… and 2 more lines'])
})
