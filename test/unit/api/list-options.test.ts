import { describe, expect, it } from 'vitest'
import { checkWatch, pageOptions, resourceVersion } from '../../../shared/api/list-options.ts'
import type { Json } from '../../../shared/model/json.ts'
import { endOf } from './end-of.ts'

const refused = (why: string) => `INVALID: ListOptions.meta.k8s.io "" is invalid: ${why}`
const forbidden = (why: string) => `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden ${why}`
const none = forbidden('unless resourceVersion is provided')
const paged = forbidden('when continue is provided')
const unknown = 'resourceVersionMatch: Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""'
const exact = 'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
const initial = 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'

describe('a page', () => {
  it.each<[string, Json]>([
    ['', {}],
    ['limit=5', { limit: 5 }],
    ['limit=1', { limit: 1 }],
    ['limit=0', {}],
    ['limit=-1', {}],
    ['continue=c', { continue: 'c' }],
    ['continue=', {}],
    ['limit=5&continue=c', { limit: 5, continue: 'c' }],
    ['continue=c&resourceVersion=0', { continue: 'c' }],
    ['resourceVersion=7', {}],
    ['resourceVersion=7&resourceVersionMatch=Exact', {}],
    ['resourceVersion=7&resourceVersionMatch=NotOlderThan', {}],
    ['resourceVersion=0&resourceVersionMatch=NotOlderThan', {}],
    ['resourceVersionMatch=', {}],
    ['sendInitialEvents=false', {}],
    ['continue=c&resourceVersion=7', 'BAD_REQUEST: specifying resource version is not allowed when using continue'],
    ['resourceVersionMatch=Exact', refused(none)],
    ['resourceVersionMatch=NotOlderThan', refused(none)],
    ['resourceVersion=7&resourceVersionMatch=x', refused(unknown)],
    ['resourceVersion=0&resourceVersionMatch=Exact', refused(exact)],
    ['resourceVersion=7&resourceVersionMatch=Exact&continue=c', refused(paged)],
    ['resourceVersionMatch=x&continue=c', refused(`[${none}, ${paged}, ${unknown}]`)],
    ['sendInitialEvents=true', refused(initial)],
    ['sendInitialEvents', refused(initial)],
  ])('asked for by %j is %j', (query, page) => {
    expect(endOf(() => pageOptions(new URLSearchParams(query)))).toStrictEqual(page)
  })
})

describe('a resource version', () => {
  const no = (value: string) =>
    `BAD_REQUEST: invalid resource version: resourceVersion: Invalid value: "${value}": it must be a decimal integer, as the server gave it`
  it.each<[string, string | null]>([
    ['', null],
    ['resourceVersion=', null],
    ['resourceVersion=0', null],
    ['resourceVersion=1', '1'],
    [`resourceVersion=${'9'.repeat(39)}`, '9'.repeat(39)],
    [`resourceVersion=${'9'.repeat(40)}`, no('9'.repeat(40))],
    ['resourceVersion=01', no('01')],
    ['resourceVersion=00', no('00')],
    ['resourceVersion=x', no('x')],
  ])('asked for by %j is %j', (query, version) => {
    expect(endOf(() => resourceVersion(new URLSearchParams(query))) ?? null).toBe(version)
  })
})

describe('a watch', () => {
  const asks = 'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
  const alone = 'Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
  const other = 'Unsupported value: "Exact": supported values: "NotOlderThan"'
  it.each([
    ['', []],
    ['resourceVersion=7', []],
    ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan', []],
    ['sendInitialEvents=false&resourceVersionMatch=NotOlderThan', []],
    ['sendInitialEvents=true', [asks]],
    ['resourceVersionMatch=NotOlderThan', [alone]],
    ['resourceVersionMatch=Exact', [alone, other]],
    ['sendInitialEvents=true&resourceVersionMatch=Exact', [asks, other]],
  ])('asked for by %j has the faults %j', (query, faults) => {
    const found = checkWatch(new URLSearchParams(query))
    expect(found.map(({ field, message }) => [field, message])).toEqual(
      faults.map((message) => ['resourceVersionMatch', message]),
    )
  })
})
