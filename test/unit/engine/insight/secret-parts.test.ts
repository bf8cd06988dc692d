import { expect, it } from 'vitest'
import { secretPartsOf } from '../../../../shared/engine/insight/secret-parts.ts'

/** Which parts of a value are secret by themselves, the whole first. */

const login = Buffer.from('orders:another1').toString('base64')
const quoted = (value: unknown, times: number): string =>
  times === 0 ? String(value) : JSON.stringify({ d: quoted(value, times - 1) })

it.each<[string, string, readonly string[]]>([
  ['a word', ' hunter2\n', []],
  ['lines', 'a-line-of-16-chr\na-line-of-15-ch\n-----BEGIN A KEY-----\n', ['a-line-of-16-chr']],
  ['one line of a key', '-----a-line-of-16-characters', []],
  ['a list of texts', '["one", 2, null, ["three"]]', ['one', '2', 'three']],
  ['a document', '{"a": "one", "b": {"c": true, "d": "two"}}', ['one', 'two']],
  ['what only begins like a document', '{"a": one', []],
  ['what would be JSON, and is no document', '"one"', []],
  ['a number', '17', []],
  ['a login', `{"auth": "${login}"}`, [login, 'another1']],
  ['a login that is none', '{"auth": "é"}', ['é']],
  ['a login that is a number', '{"auth": 5}', ['5']],
  ['a login by another name', `{"other": "${login}"}`, [login]],
  ['a URI', 'https://user:p%40ss@host', ['p@ss']],
  ['a URI with a token', 'https://token@host', ['token']],
  ['an assignment', 'a=1;password=one&b=2', ['one']],
  ['a quoted assignment', 'token: "one two"', ['one two']],
  ['an assignment that is wrongly escaped', 'secret=%zz', ['%zz']],
])('%s: %j', (_what, value, parts) => {
  const [whole, ...others] = secretPartsOf(value)
  expect([whole, others]).toEqual([value.trim(), parts])
})

it('documents in documents are read, three of them', () => {
  for (const [times, isRead] of [
    [1, true],
    [3, true],
    [4, false],
  ] as const)
    expect(secretPartsOf(quoted('inmost', times)).includes('inmost'), `${times}`).toBe(isRead)
})
