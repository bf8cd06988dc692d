import type { ApiObject } from './object.ts'
import { hasCode, OperatingError } from './errors.ts'
import { isObject, type Json } from './json.ts'
import { isLabelValue, isQualifiedName } from './qualified-name.ts'
import type { SelectedAt, ServedKind } from './served-kind.ts'
import { shorten } from './shorten.ts'

/** Whether an object belongs to a selection. Undefined selectors select everything. */
export type Selector = (object: ApiObject) => boolean

/** A label selector: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2`. Throws BAD_REQUEST with what is wrong. */
export function labelSelector(text: string): Selector {
  const tests = splitRequirements(text).map(labelRequirement)
  return (object) => tests.every((test) => test(object.metadata.labels ?? {}))
}

type LabelTest = (labels: Readonly<Record<string, string>>) => boolean

/** Each is held against each object of a kind. */
export const requirementsMax = 100

/**
 * The parts between commas, without those in parentheses. Parentheses are not nested: what is in them ends at the first
 * that closes.
 */
function splitRequirements(text: string): readonly string[] {
  if (text.trim() === '') return []
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') at = Math.max(at, text.indexOf(')', at))
    if (text[at] !== ',') continue
    parts.push(text.slice(start, at))
    start = at + 1
  }
  parts.push(text.slice(start))
  if (parts.length <= requirementsMax) return parts
  throw new OperatingError('BAD_REQUEST', `the selector has more than ${requirementsMax} requirements`)
}

function labelRequirement(text: string): LabelTest {
  const { key, operator, rest } = requirementOf(text)
  if (operator === 'in' || operator === 'notin') {
    const values = rest.startsWith('(') && rest.endsWith(')') ? rest.slice(1, -1) : '('
    if (!isQualifiedName(key) || /[()]/.test(values)) throw unreadable(text)
    return membership(
      key,
      operator === 'in',
      values.split(',').map((value) => requireValue(value.trim(), text)),
    )
  }
  if (operator === '' && key.startsWith('!')) {
    const gone = key.slice(1).trim()
    if (!isQualifiedName(gone)) throw unreadable(text)
    return (labels) => !Object.hasOwn(labels, gone)
  }
  if (!isQualifiedName(key)) throw unreadable(text)
  if (operator === '') return (labels) => Object.hasOwn(labels, key)
  if (operator === '>' || operator === '<') return comparison(key, operator, rest, text)
  requireValue(rest, text)
  return operator === '!=' ? (labels) => labels[key] !== rest : (labels) => labels[key] === rest
}

/** The value of an object is a whole number, too; of others none is selected. */
function comparison(key: string, operator: '>' | '<', rest: string, text: string): LabelTest {
  const bound = wholeNumber(rest)
  if (bound === undefined) throw unreadable(text)
  return (labels) => {
    const value = Object.hasOwn(labels, key) ? wholeNumber(labels[key] ?? '') : undefined
    if (value === undefined) return false
    return operator === '>' ? value > bound : value < bound
  }
}

function wholeNumber(text: string): bigint | undefined {
  return /^[-+]?\d{1,19}$/.test(text) ? BigInt(text.replace('+', '')) : undefined
}

function requireValue(value: string, text: string): string {
  if (isLabelValue(value)) return value
  throw unreadable(text)
}

interface Requirement {
  readonly key: string
  readonly operator: '' | '=' | '!=' | '>' | '<' | 'in' | 'notin'
  /** What stands behind the operator. */
  readonly rest: string
}

/** A requirement in its three parts. It is cut at its first operator, so that no text is looked at twice. */
function requirementOf(text: string): Requirement {
  const trimmed = text.trim()
  const [word = ''] = /^[^\s!=<>,()]*/.exec(trimmed) ?? []
  const behind = trimmed.slice(word.length).trimStart()
  const [operator] = /^(?:==|=|!=|>|<|(?:notin|in)(?=[\s(]))/.exec(behind) ?? []
  if (operator === undefined || word === '') return { key: trimmed, operator: '', rest: '' }
  const rest = behind.slice(operator.length).trim()
  return { key: word, operator: operator === '==' ? '=' : (operator as Requirement['operator']), rest }
}

function unreadable(text: string): OperatingError {
  return new OperatingError('BAD_REQUEST', `unable to parse requirement: ${quoteShort(text)}`)
}

/** A reply does not repeat all that was sent. */
function quoteShort(text: string): string {
  return JSON.stringify(shorten(text, shownLength))
}

const shownLength = 200

function membership(key: string, wanted: boolean, values: readonly string[]): LabelTest {
  const set = new Set(values)
  return (labels) => set.has(labels[key] ?? '\0') === wanted
}

/**
 * A field selector: `metadata.name=a,spec.color!=red`. In a value a backslash stands before each comma, equals sign
 * and backslash. Throws BAD_REQUEST for a field that is not selectable.
 */
export function fieldSelector(
  text: string,
  { selectableFields, selectedAt = {} }: Pick<ServedKind, 'selectableFields' | 'selectedAt'>,
): Selector {
  const tests = fieldRequirements(text).map((one) => fieldTest(one, selectableFields, selectedAt))
  return (object) => tests.every((test) => test(object))
}

function fieldTest(
  { field, isWanted, value }: FieldRequirement,
  selectable: readonly string[],
  selectedAt: SelectedAt,
): Selector {
  if (!selectable.includes(field))
    throw new OperatingError(
      'BAD_REQUEST',
      `field label not supported: ${field.slice(0, shownLength)}; supported: ${selectable.join(', ')}`,
    )
  const places = selectedAt[field] ?? [field]
  return (object) => (firstText(object, places) === value) === isWanted
}

/** What a field is to be, or is not to be. */
interface FieldRequirement {
  readonly field: string
  readonly isWanted: boolean
  readonly value: string
}

function fieldRequirements(text: string): readonly FieldRequirement[] {
  const parts = (text.match(/(?:[^\\,]|\\[^]?)+/g) ?? []).filter((part) => part.trim() !== '')
  if (parts.length > requirementsMax)
    throw new OperatingError('BAD_REQUEST', `the selector has more than ${requirementsMax} requirements`)
  return parts.map(fieldRequirement)
}

function fieldRequirement(part: string): FieldRequirement {
  const at = part.search(/[!=]/)
  const [, operator, rest = ''] = /^(==|=|!=)([^]*)$/.exec(at < 0 ? '' : part.slice(at)) ?? []
  const said = rest.trim()
  if (operator === undefined || !/^(?:[^\\,=]|\\[\\,=])*$/.test(said))
    throw new OperatingError('BAD_REQUEST', `invalid field selector: ${quoteShort(part)}`)
  const value = said.replaceAll(/\\([\\,=])/g, '$1')
  return { field: part.slice(0, at).trim(), isWanted: operator !== '!=', value }
}

/** The fields that a selector asks for. */
export function findSelectedFields(text: string): readonly string[] {
  return fieldRequirements(text).map(({ field }) => field)
}

function firstText(object: ApiObject, places: readonly string[]): string {
  for (const place of places) {
    const text = fieldText(object, place)
    if (text !== '') return text
  }
  return ''
}

function fieldText(object: ApiObject, path: string): string {
  let value: Json | undefined = object
  for (const step of path.split('.')) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  return value === undefined || value === null ? '' : String(value)
}

/**
 * `metadata.name=X` names one object: a watch or list of it need not look at the others. A selector that cannot be read
 * names none.
 */
export function findSelectedName(text: string | undefined): string | undefined {
  const isNaming = text !== undefined && text.includes('metadata.name')
  const requirements = isNaming ? absentIfUnreadable(() => fieldRequirements(text)) : undefined
  const named = requirements?.find(({ field, isWanted }) => isWanted && field === 'metadata.name')
  return named?.value || undefined
}

function absentIfUnreadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (hasCode(error, 'BAD_REQUEST')) return undefined
    throw error
  }
}
