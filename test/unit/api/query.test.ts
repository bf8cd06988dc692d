import { describe, expect, it } from 'vitest'
import {
  checkDryRun,
  count,
  fieldManager,
  flag,
  integer,
  refuseOptions,
  textParameter,
  writeOptions,
} from '../../../shared/api/query.ts'
import type { Json } from '../../../shared/model/json.ts'
import { forbidden } from '../../../shared/model/schema/field-error.ts'
import { endOf } from './end-of.ts'
import { bareRequest, request } from './sent-request.ts'

const queryOf = (text: string) => new URLSearchParams(text)

describe('a query parameter', () => {
  it.each<[string, boolean, string | null]>([
    ['', false, null],
    ['y=1', false, null],
    ['x', true, null],
    ['x=', true, null],
    ['x=1', true, '1'],
    ['x=no', true, 'no'],
    ['x=TRUE', true, 'TRUE'],
    ['x=0', false, '0'],
    ['x=00', true, '00'],
    ['x=false', false, 'false'],
    ['x=False', false, 'False'],
  ])('in %j is, as a flag, %s, and as a text %j', (query, asFlag, asText) => {
    expect([flag(queryOf(query), 'x'), textParameter(queryOf(query), 'x') ?? null]).toEqual([asFlag, asText])
  })

  const no = (value: string, why = '') =>
    `BAD_REQUEST: unable to decode query parameter x=${value}: it must be an integer${why}`
  it.each<[string, Json, Json]>([
    ['', null, null],
    ['x=', null, null],
    ['x=0', 0, 0],
    ['x=7', 7, 7],
    ['x=%2B7', 7, 7],
    ['x=-1', -1, no('-1', ' from 0')],
    ['x=999999999999999', 999999999999999, 999999999999999],
    ['x=1000000000000000', no('1000000000000000'), no('1000000000000000')],
    ['x=1.5', no('1.5'), no('1.5')],
    ['x=1e3', no('1e3'), no('1e3')],
    ['x=-', no('-'), no('-')],
  ])('in %j is, as an integer, %j, and as a count %j', (query, asInteger, asCount) => {
    expect(endOf(() => integer(queryOf(query), 'x')) ?? null).toBe(asInteger)
    expect(endOf(() => count(queryOf(query), 'x')) ?? null).toBe(asCount)
  })
})

describe('the options of a write', () => {
  const optionsOf = (query: string) => writeOptions(request(`POST /x?${query}`), 'CreateOptions')
  const long = 'm'.repeat(128)

  it.each<[string, object]>([
    ['', { manager: 'kubectl', dryRun: false }],
    ['fieldManager=m', { manager: 'm', dryRun: false, said: { fieldManager: 'm' } }],
    [`fieldManager=${long}`, { manager: long, dryRun: false, said: { fieldManager: long } }],
    [
      'fieldManager=J%C3%BCrgens+tool',
      { manager: 'Jürgens tool', dryRun: false, said: { fieldManager: 'Jürgens tool' } },
    ],
    ['fieldManager=&fieldValidation=', { manager: 'kubectl', dryRun: false }],
    ['dryRun=All', { manager: 'kubectl', dryRun: true, said: { dryRun: ['All'] } }],
    ['dryRun=All&dryRun=All', { manager: 'kubectl', dryRun: true, said: { dryRun: ['All', 'All'] } }],
    ...['Ignore', 'Strict', 'Warn'].map((fieldValidation): [string, object] => {
      const options = { manager: 'kubectl', dryRun: false, said: { fieldValidation }, fieldValidation }
      return [`fieldValidation=${fieldValidation}`, options]
    }),
  ])('%j', (query, options) => {
    expect(optionsOf(query)).toStrictEqual(options)
  })

  const dry = 'dryRun: Unsupported value: "": supported values: "All"'
  const strict = 'fieldValidation: Unsupported value: "strict": supported values: "Ignore", "Strict", "Warn"'
  const tooLong = 'fieldManager: Too long: may not be more than 128 bytes'
  it.each([
    ['dryRun=', dry],
    ['fieldValidation=strict', strict],
    [`fieldManager=${long}m`, tooLong],
    [`fieldManager=${'%C3%BC'.repeat(65)}`, tooLong],
    ['fieldManager=a%0Ab', 'fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)'],
    ['fieldManager=%E2%80%AE', 'fieldManager: Invalid value: "\\u202e": invalid character U+202E (at position 0)'],
    [`dryRun=&fieldValidation=strict&fieldManager=${long}m`, `[${dry}, ${strict}, ${tooLong}]`],
  ])('%j are refused', (query, why) => {
    expect(endOf(() => optionsOf(query))).toBe(`INVALID: CreateOptions.meta.k8s.io "" is invalid: ${why}`)
  })

  it('tell of each value of dryRun that is not known', () => {
    expect(checkDryRun(['All', 'all', 1]).map(({ message }) => message)).toEqual([
      'Unsupported value: "all": supported values: "All"',
      'Unsupported value: 1: supported values: "All"',
    ])
  })

  it('are refused with their causes, and only if there are some', () => {
    const causes = [forbidden('x', 'because')]
    const details = { group: 'meta.k8s.io', kind: 'ListOptions', causes }
    expect(() => refuseOptions('ListOptions', causes)).toThrow(expect.objectContaining({ details }))
    expect(() => refuseOptions('ListOptions', [])).not.toThrow()
  })
})

describe('the field manager', () => {
  it.each([
    ['', 'kubectl/v1.32.0 (linux/amd64)', 'kubectl'],
    ['fieldManager=m', 'kubectl/v1', 'm'],
    ['fieldManager=', 'kubectl/v1', 'kubectl'],
    ['', 'curl', 'curl'],
    ['', '', 'unknown'],
    ['', '/v1', 'unknown'],
    ['', 'a/b/c', 'a'],
    ['', 'a'.repeat(130), 'a'.repeat(128)],
    ['', `${'a'.repeat(130)}/v1`, 'a'.repeat(128)],
  ])('of %j by %j is %j', (query, agent, manager) => {
    expect(fieldManager(request(`PUT /x?${query}`, { headers: { 'user-agent': agent } }))).toBe(manager)
  })

  it('of who says nothing is unknown', () => {
    expect(fieldManager(bareRequest('PUT /x'))).toBe('unknown')
  })
})
