import { OperatingError } from '../model/errors.ts'
import { errorsMax, invalid, listErrors, notSupported, tooLong, type FieldError } from '../model/schema/field-error.ts'
import type { WriteOptions } from '../resources/resources.ts'
import type { HttpRequest } from '../ports/http-handler.ts'

/** Query parameters as the API machinery reads them, and the options of a write. */

/** Present and neither `false` nor `0`: an empty value counts as true. */
export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

/** A parameter that is there and not empty. */
export function textParameter(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name)
  return value === null || value === '' ? undefined : value
}

/** An integer; absent is `undefined`. Throws BAD_REQUEST for anything else. */
export function integer(query: URLSearchParams, name: string): number | undefined {
  const value = textParameter(query, name)
  if (value === undefined) return undefined
  if (/^[-+]?\d{1,15}$/.test(value)) return Number(value)
  throw undecodable(name, value, 'it must be an integer')
}

/** The same from 0. */
export function count(query: URLSearchParams, name: string): number | undefined {
  const number = integer(query, name)
  if (number === undefined || number >= 0) return number
  throw undecodable(name, String(number), 'it must be an integer from 0')
}

function undecodable(name: string, value: string, why: string): OperatingError {
  return new OperatingError('BAD_REQUEST', `unable to decode query parameter ${name}=${value}: ${why}`)
}

/** The options of a write, by query and User-Agent. Throws INVALID for a value that Kubernetes does not know. */
export function writeOptions(request: HttpRequest, optionsKind: string): WriteOptions {
  const { query } = request
  const fieldValidation = textParameter(query, 'fieldValidation')
  const manager = fieldManager(request)
  refuseOptions(optionsKind, [
    ...checkDryRun(query.getAll('dryRun')),
    ...(fieldValidation === undefined || isFieldValidation(fieldValidation)
      ? []
      : [notSupported('fieldValidation', fieldValidation, fieldValidations)]),
    ...checkManager(textParameter(query, 'fieldManager')),
  ])
  return {
    manager,
    dryRun: query.has('dryRun'),
    ...saidOf(query, fieldValidation),
    ...(isFieldValidation(fieldValidation) ? { fieldValidation } : {}),
  }
}

/** The options themselves, for policies and webhooks; nothing if there are none. */
function saidOf(query: URLSearchParams, fieldValidation: string | undefined): Pick<WriteOptions, 'said'> {
  const named = textParameter(query, 'fieldManager')
  const isDry = query.has('dryRun')
  if (named === undefined && fieldValidation === undefined && !isDry) return {}
  return {
    said: {
      ...(isDry && { dryRun: query.getAll('dryRun') }),
      ...(named !== undefined && { fieldManager: named }),
      ...(fieldValidation !== undefined && { fieldValidation }),
    },
  }
}

/** People read it in `managedFields` and in conflicts. */
function checkManager(named = ''): readonly FieldError[] {
  if (plainManager.test(named)) return []
  const isLong = new TextEncoder().encode(named).length > managerLengthMax
  const at = named.search(unprintable)
  const code = named.codePointAt(at)?.toString(16).toUpperCase().padStart(4, '0')
  return [
    ...(isLong ? [tooLong('fieldManager', managerLengthMax)] : []),
    ...(at < 0 ? [] : [invalid('fieldManager', named, `invalid character U+${code} (at position ${at})`)]),
  ]
}

const fieldValidations = ['Ignore', 'Strict', 'Warn'] as const
const managerLengthMax = 128
const plainManager = /^[ -~]{0,128}$/
/** What Go's `unicode.IsPrint` leaves out. */
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u

function isFieldValidation(value: string | undefined): value is (typeof fieldValidations)[number] {
  return fieldValidations.some((known) => known === value)
}

/** What is wrong with the values of `dryRun`: `All` is the only one there is. */
export function checkDryRun(values: readonly unknown[]): readonly FieldError[] {
  const others = values.filter((value) => value !== 'All')
  return others.slice(0, errorsMax).map((value) => notSupported('dryRun', value, ['All']))
}

/** The field manager: named by the request, or else its program by the User-Agent. */
export function fieldManager(request: HttpRequest): string {
  const named = textParameter(request.query, 'fieldManager')
  if (named !== undefined) return named
  const agent = request.header('user-agent') ?? ''
  const slash = agent.indexOf('/')
  return (slash < 0 ? agent : agent.slice(0, slash)).slice(0, managerLengthMax) || 'unknown'
}

/** Throws INVALID about the options object of a request, if there are errors; it names a hundred at most. */
export function refuseOptions(optionsKind: string, errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const causes = errors.slice(0, errorsMax)
  throw new OperatingError('INVALID', `${optionsKind}.meta.k8s.io "" is invalid: ${listErrors(causes)}`, {
    details: { group: 'meta.k8s.io', kind: optionsKind, causes },
  })
}
