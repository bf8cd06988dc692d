import { OperatingError } from '../model/errors.ts'
import { forbidden, notSupported, type FieldError } from '../model/schema/field-error.ts'
import type { ListOptions } from '../resources/resources.ts'
import { flag, integer, refuseOptions, textParameter } from './query.ts'

/** How lists and watches are asked for, checked as Kubernetes checks it and refused in its words. */

/** The page of a list that is asked for. Throws BAD_REQUEST, or INVALID for parameters that do not go together. */
export function pageOptions(query: URLSearchParams): Pick<ListOptions, 'limit' | 'continue'> {
  const limit = integer(query, 'limit') ?? 0
  const token = textParameter(query, 'continue')
  refuseOptions('ListOptions', checkList(query))
  if (resourceVersion(query) !== undefined && token !== undefined)
    throw new OperatingError('BAD_REQUEST', 'specifying resource version is not allowed when using continue')
  return { ...(limit <= 0 ? {} : { limit }), ...(token === undefined ? {} : { continue: token }) }
}

/** The resourceVersion asked for; `undefined` if any will do, as 0 says too. Throws BAD_REQUEST. */
export function resourceVersion(query: URLSearchParams): string | undefined {
  const version = textParameter(query, 'resourceVersion')
  if (version === undefined || version === '0') return undefined
  if (/^[1-9]\d{0,38}$/.test(version)) return version
  throw new OperatingError(
    'BAD_REQUEST',
    `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(version)}: it must be a decimal integer, as the server gave it`,
  )
}

function checkList(query: URLSearchParams): readonly FieldError[] {
  return [
    ...checkListMatch(query),
    ...(flag(query, 'sendInitialEvents')
      ? [forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')]
      : []),
  ]
}

function checkListMatch(query: URLSearchParams): readonly FieldError[] {
  const match = textParameter(query, matchField)
  if (match === undefined) return []
  const version = textParameter(query, 'resourceVersion')
  const isExact = match === 'Exact'
  return [
    ...unless(version !== undefined, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    ...unless(
      textParameter(query, 'continue') === undefined,
      'resourceVersionMatch is forbidden when continue is provided',
    ),
    ...(isExact || match === notOlder ? [] : [notSupported(matchField, match, ['Exact', notOlder, ''])]),
    ...unless(!isExact || version !== '0', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
  ]
}

const matchField = 'resourceVersionMatch'
const notOlder = 'NotOlderThan'

function unless(holds: boolean, detail: string): readonly FieldError[] {
  return holds ? [] : [forbidden(matchField, detail)]
}

/** What is wrong with how a watch is asked for: initial events and the match of their version go together. */
export function checkWatch(query: URLSearchParams): readonly FieldError[] {
  const match = textParameter(query, matchField)
  const isWatchList = query.has('sendInitialEvents')
  return [
    ...unless(
      !isWatchList || match === notOlder,
      `sendInitialEvents requires setting resourceVersionMatch to ${notOlder}`,
    ),
    ...unless(
      isWatchList || match === undefined,
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    ),
    ...(match === undefined || match === notOlder ? [] : [notSupported(matchField, match, [notOlder])]),
  ]
}
