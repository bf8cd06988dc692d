import { OperatingError } from '../model/errors.ts'
import type { ApiObject } from '../model/object.ts'
import { fieldSelector, findSelectedFields, findSelectedName, labelSelector, type Selector } from '../model/selector.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { Call } from './call.ts'
import { textParameter } from './query.ts'

/** Which objects of a kind a list, a watch or a delete of many is about. */
export interface Selection {
  /** Empty for all namespaces. */
  readonly namespace: string
  /** The one name it can match, if the field selector gives one. */
  readonly name: string | undefined
  /** What an object must fulfil beside standing in the namespace; absent if nothing. */
  readonly selector: Selector | undefined
  /** An object may enter or leave by a change: it is selected by more than its name. */
  readonly isMutable: boolean
}

const selectorLengthMax = 4_096

/**
 * The selection of a request. Throws BAD_REQUEST for a selector that cannot be read or names a field that is not
 * selectable.
 */
export function selectionOf({ request: { query }, info, kind }: Call): Selection {
  const labels = selectorText(query, 'labelSelector')
  const fields = selectorText(query, 'fieldSelector')
  const tests = [
    ...(labels === undefined ? [] : [labelSelector(labels)]),
    ...(fields === undefined ? [] : [fieldSelector(fields, { ...kind, selectableFields: selectableFields(kind) })]),
  ]
  return {
    namespace: kind.namespaced ? info.namespace : '',
    name: findSelectedName(fields),
    selector: tests.length === 0 ? undefined : (object) => tests.every((test) => test(object)),
    isMutable: labels !== undefined || (fields !== undefined && !namesOnly(fields)),
  }
}

function selectorText(query: URLSearchParams, name: string): string | undefined {
  const selector = textParameter(query, name)
  if (selector !== undefined && selector.length > selectorLengthMax) {
    throw new OperatingError('BAD_REQUEST', `${name} is longer than ${selectorLengthMax} characters`)
  }
  return selector
}

const immutableFields: readonly string[] = ['metadata.name', 'metadata.namespace']

function selectableFields(kind: ServedKind): readonly string[] {
  return [...immutableFields, ...kind.selectableFields]
}

function namesOnly(fields: string): boolean {
  return findSelectedFields(fields).every((field) => immutableFields.includes(field))
}

/** Whether the selection holds the object as it is. */
export function isSelected({ namespace, selector }: Selection, object: ApiObject): boolean {
  return (namespace === '' || object.metadata.namespace === namespace) && (selector === undefined || selector(object))
}
