import type { ApiObject } from './object.ts'
import { OperatingError } from './errors.ts'
import { isObject, type Json } from './json.ts'

/** Whether an object belongs to a selection. Undefined selectors select everything. */
export type Selector = (object: ApiObject) => boolean

/** A label selector: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws BAD_REQUEST naming the part that is wrong. */
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
    if (key === '' || /[()]/.test(values)) throw unreadable(text)
    return membership(
      key,
      operator === 'in',
      values.split(',').map((value) => value.trim()),
    )
  }
  if (operator === '' && key.startsWith('!')) {
    const gone = key.slice(1).trim()
    if (!isWord(gone)) throw unreadable(text)
    return (labels) => !Object.hasOwn(labels, gone)
  }
  if (!isWord(key) || (rest !== '' && !isWord(rest))) throw unreadable(text)
  if (operator === '') return (labels) => Object.hasOwn(labels, key)
  return operator === '!=' ? (labels) => labels[key] !== rest : (labels) => labels[key] === rest
}

interface Requirement {
  readonly key: string
  readonly operator: '' | '=' | '!=' | 'in' | 'notin'
  /** What stands behind the operator. */
  readonly rest: string
}

/** A requirement in its three parts. It is cut at its first operator, so that no text is looked at twice. */
function requirementOf(text: string): Requirement {
  const trimmed = text.trim()
  const [word = ''] = /^[^\s!=,()]*/.exec(trimmed) ?? []
  const behind = trimmed.slice(word.length).trimStart()
  const [operator] = /^(?:==|=|!=|(?:notin|in)(?=[\s(]))/.exec(behind) ?? []
  if (operator === undefined || word === '') return { key: trimmed, operator: '', rest: '' }
  const rest = behind.slice(operator.length).trim()
  return { key: word, operator: operator === '==' ? '=' : (operator as Requirement['operator']), rest }
}

function isWord(text: string): boolean {
  return /^[^\s!=,()]+$/.test(text)
}

function unreadable(text: string): OperatingError {
  return new OperatingError('BAD_REQUEST', `unable to parse requirement: ${quoteShort(text)}`)
}

/** A reply does not repeat all that was sent. */
function quoteShort(text: string): string {
  return JSON.stringify(text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`)
}

const shownLength = 200

function membership(key: string, wanted: boolean, values: readonly string[]): LabelTest {
  const set = new Set(values)
  return (labels) => set.has(labels[key] ?? '\0') === wanted
}

/** A field selector: `metadata.name=a,spec.color!=red`. Throws BAD_REQUEST for a field that is not selectable. */
export function fieldSelector(text: string, selectable: readonly string[]): Selector {
  const tests = splitRequirements(text).map((part) => fieldRequirement(part, selectable))
  return (object) => tests.every((test) => test(object))
}

function fieldRequirement(text: string, selectable: readonly string[]): Selector {
  const { key: field, operator, rest: value } = requirementOf(text)
  if (operator !== '=' && operator !== '!=')
    throw new OperatingError('BAD_REQUEST', `invalid field selector: ${quoteShort(text)}`)
  if (!selectable.includes(field))
    throw new OperatingError(
      'BAD_REQUEST',
      `field label not supported: ${field.slice(0, shownLength)}; supported: ${selectable.join(', ')}`,
    )
  return operator === '!='
    ? (object) => fieldText(object, field) !== value
    : (object) => fieldText(object, field) === value
}

function fieldText(object: ApiObject, path: string): string {
  let value: Json | undefined = object
  for (const step of path.split('.')) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  return value === undefined || value === null ? '' : String(value)
}

/** `metadata.name=X` names one object: a watch or list of it need not look at the others. */
export function findSelectedName(text: string | undefined): string | undefined {
  return /(?:^|,)\s*metadata\.name==?([^,]+)/.exec(text ?? '')?.[1]?.trim()
}
