import type { ApiObject } from './object.ts'
import { OperatingError } from './errors.ts'
import { isObject, type Json } from './json.ts'

/** Whether an object belongs to a selection. Undefined selectors select everything. */
export type Selector = (object: ApiObject) => boolean

const requirement =
  /^\s*(?:(?<absent>!)\s*(?<gone>[^\s!=,()]+)|(?<key>[^\s!=,()]+)(?:\s*(?<op>==|=|!=)\s*(?<value>[^\s!=,()]*)|\s+(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*$/

/** A label selector: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws BAD_REQUEST naming the part that is wrong. */
export function labelSelector(text: string): Selector {
  const tests = splitRequirements(text).map(labelRequirement)
  return (object) => tests.every((test) => test(object.metadata.labels ?? {}))
}

type LabelTest = (labels: Readonly<Record<string, string>>) => boolean

function splitRequirements(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(/,(?![^(]*\))/)
}

function labelRequirement(text: string): LabelTest {
  const groups = requirement.exec(text)?.groups
  if (groups === undefined)
    throw new OperatingError('BAD_REQUEST', `unable to parse requirement: ${JSON.stringify(text)}`)
  const { gone, key = '', op, value = '', set, values = '' } = groups
  if (gone !== undefined) return (labels) => !Object.hasOwn(labels, gone)
  if (set !== undefined)
    return membership(
      key,
      set === 'in',
      values.split(',').map((v) => v.trim()),
    )
  if (op === undefined) return (labels) => Object.hasOwn(labels, key)
  return op === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value
}

function membership(key: string, wanted: boolean, values: readonly string[]): LabelTest {
  return (labels) => values.includes(labels[key] ?? '\0') === wanted
}

/** A field selector: `metadata.name=a,spec.color!=red`. Throws BAD_REQUEST for a field that is not selectable. */
export function fieldSelector(text: string, selectable: readonly string[]): Selector {
  const tests = splitRequirements(text).map((part) => fieldRequirement(part, selectable))
  return (object) => tests.every((test) => test(object))
}

function fieldRequirement(text: string, selectable: readonly string[]): Selector {
  const match = /^\s*([^\s!=]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(text)
  if (match === null) throw new OperatingError('BAD_REQUEST', `invalid field selector: ${JSON.stringify(text)}`)
  const [, field = '', op, value] = match
  if (!selectable.includes(field))
    throw new OperatingError('BAD_REQUEST', `field label not supported: ${field}; supported: ${selectable.join(', ')}`)
  return op === '!=' ? (object) => fieldText(object, field) !== value : (object) => fieldText(object, field) === value
}

function fieldText(object: ApiObject, path: string): string {
  let value: Json | undefined = object
  for (const step of path.split('.')) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  return value === undefined || value === null ? '' : String(value)
}

/** `metadata.name=X` names one object: a watch or list of it need not look at the others. */
export function namedBy(text: string | undefined): string | undefined {
  return /(?:^|,)\s*metadata\.name==?([^,]+)/.exec(text ?? '')?.[1]?.trim()
}
