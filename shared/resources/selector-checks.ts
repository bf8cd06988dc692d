import { selectorOperators } from '../model/access/aggregation.ts'
import { objectsOf, textsOf } from '../model/access/rules.ts'
import { isObject, textOf, type JsonObject } from '../model/json.ts'
import { isQualifiedName } from '../model/qualified-name.ts'
import { checkEach, fieldRequired, invalid, type FieldError } from '../model/schema/field-error.ts'

/** What is wrong with a `metav1.LabelSelector`: one that cannot be read would fit nothing, without a word. */
export function checkLabelSelector(selector: JsonObject, path: string): readonly FieldError[] {
  const { matchLabels, matchExpressions } = selector
  return [
    ...checkEach(Object.keys(isObject(matchLabels) ? matchLabels : {}), (key) =>
      checkLabelKey(key, `${path}.matchLabels`),
    ),
    ...checkEach(objectsOf(matchExpressions), (requirement, i) =>
      checkRequirement(requirement, `${path}.matchExpressions[${i}]`),
    ),
  ]
}

function checkRequirement({ key, operator, values }: JsonObject, path: string): readonly FieldError[] {
  const count = textsOf(values).length
  const keyErrors = checkLabelKey(textOf(key), `${path}.key`)
  if (operator === 'In' || operator === 'NotIn') {
    const why = "must be specified when `operator` is 'In' or 'NotIn'"
    return count > 0 ? keyErrors : [fieldRequired(`${path}.values`, why), ...keyErrors]
  }
  if (!selectorOperators.some((one) => one === operator))
    return [invalid(`${path}.operator`, operator ?? '', 'not a valid selector operator'), ...keyErrors]
  if (count === 0) return keyErrors
  const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
  return [invalid(`${path}.values`, values, why), ...keyErrors]
}

function checkLabelKey(key: string, field: string): readonly FieldError[] {
  return isQualifiedName(key.toLowerCase())
    ? []
    : [invalid(field, key, 'must be a qualified name such as example.com/key')]
}
