import type { TypeBudget } from '../cel/type.ts'
import type { CustomResourceDefinitionVersion } from '../custom-resource-definition.ts'
import { dnsLabelFault } from '../dns-name.ts'
import { isObject } from '../json.ts'
import { compileJsonPath } from '../json-path.ts'
import {
  child,
  duplicate,
  entry,
  type FieldError,
  forbidden,
  invalid,
  fieldRequired,
  tooMany,
} from '../schema/field-error.ts'
import { checkStructural } from '../schema/structural.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import type { PrinterColumn, ScalePaths } from '../served-kind.ts'

/** One version of a kind: its schema, and the paths into it. */
export function checkVersion(
  version: CustomResourceDefinitionVersion,
  path: string,
  types: TypeBudget | undefined,
): readonly FieldError[] {
  const { name, schema, subresources, additionalPrinterColumns: columns = [] } = version
  const nameFault = dnsLabelFault(name)
  return [
    ...(nameFault === undefined ? [] : [invalid(child(path, 'name'), name, nameFault)]),
    ...checkDeprecation(version, path),
    ...checkSchema(version, child(path, 'schema.openAPIV3Schema'), types),
    ...(subresources?.scale === undefined ? [] : checkScale(subresources.scale, child(path, 'subresources.scale'))),
    ...checkColumns(columns, child(path, 'additionalPrinterColumns')),
    ...checkSelectableFields(version, schema?.openAPIV3Schema ?? {}, child(path, 'selectableFields')),
  ]
}

/** Each row of a table has a cell for each. */
const columnsMax = 64

/** How many columns there are, and where each of them looks. */
export function checkColumns(columns: readonly PrinterColumn[], path: string): readonly FieldError[] {
  return [
    ...(columns.length > columnsMax ? [tooMany(path, columns.length, columnsMax)] : []),
    ...columns
      .slice(0, columnsMax)
      .flatMap(({ jsonPath }, i) => checkPath(jsonPath, child(entry(path, i), 'jsonPath'))),
  ]
}

function checkDeprecation(
  { deprecated, deprecationWarning }: CustomResourceDefinitionVersion,
  path: string,
): readonly FieldError[] {
  const field = child(path, 'deprecationWarning')
  if (deprecationWarning === undefined) return []
  if (deprecated !== true) return [invalid(field, deprecationWarning, 'can only be set for deprecated versions')]
  if (!/[\p{C}\p{Zl}\p{Zp}]/u.test(deprecationWarning)) return []
  return [invalid(field, deprecationWarning, 'must only contain printable UTF-8 characters')]
}

function checkSchema(
  { schema, subresources }: CustomResourceDefinitionVersion,
  path: string,
  types: TypeBudget | undefined,
): readonly FieldError[] {
  const root = schema?.openAPIV3Schema
  if (root === undefined)
    return [fieldRequired(path, 'say at least type: object and x-kubernetes-preserve-unknown-fields: true')]
  const errors = checkStructural(root, path, types)
  if (errors.length > 0 || subresources?.status === undefined) return errors
  return Object.entries(root)
    .filter(([keyword, value]) => !besideStatus.has(keyword) && value !== false && value !== null)
    .map(([keyword]) => {
      const detail = 'must not be used at the root of the schema if the status subresource is enabled'
      return forbidden(child(path, keyword), detail)
    })
}

/** What the root may say although status is validated apart from the rest: nothing that speaks of both. */
const besideStatus: ReadonlySet<string> = new Set(
  [
    ['type', 'title', 'description', 'format', 'example', 'externalDocs'],
    ['required', 'properties', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-validations'],
    // Without meaning for an object, and let through by Kubernetes.
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'pattern'],
    ['items', 'minItems', 'maxItems', 'uniqueItems'],
  ].flat(),
)

function checkScale(scale: ScalePaths, path: string): readonly FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale
  return [
    ...checkPathBelow(specReplicasPath, child(path, 'specReplicasPath'), ['.spec.']),
    ...checkPathBelow(statusReplicasPath, child(path, 'statusReplicasPath'), ['.status.']),
    ...(labelSelectorPath === undefined || labelSelectorPath === ''
      ? []
      : checkPathBelow(labelSelectorPath, child(path, 'labelSelectorPath'), ['.spec.', '.status.'])),
  ]
}

function checkPathBelow(jsonPath: string, field: string, prefixes: readonly string[]): readonly FieldError[] {
  const errors = checkPath(jsonPath, field)
  if (errors.length > 0) return errors
  if (jsonPath.includes('[')) return [invalid(field, jsonPath, 'must be field names with a dot before each')]
  if (prefixes.some((prefix) => jsonPath.startsWith(prefix))) return []
  const places = prefixes.map((prefix) => prefix.slice(0, -1)).join(' or ')
  return [invalid(field, jsonPath, `should be a json path under ${prefixes.length > 1 ? 'either ' : ''}${places}`)]
}

function checkPath(jsonPath: string, field: string): readonly FieldError[] {
  if (!jsonPath) return [fieldRequired(field)]
  if (!jsonPath.startsWith('.')) return [invalid(field, jsonPath, 'must be a simple json path starting with .')]
  try {
    compileJsonPath(jsonPath)
    return []
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return [invalid(field, jsonPath, `must be a valid json path: ${error.message}`)]
  }
}

function checkSelectableFields(
  version: CustomResourceDefinitionVersion,
  schema: StructuralSchema,
  path: string,
): readonly FieldError[] {
  const paths = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath)
  return paths.flatMap((jsonPath, i) => {
    const field = child(entry(path, i), 'jsonPath')
    const fault = selectableFault(jsonPath, schema)
    const repeated = paths.indexOf(jsonPath) < i ? [duplicate(field, jsonPath)] : []
    return fault === undefined ? repeated : [...repeated, invalid(field, jsonPath, fault)]
  })
}

/** Selectable are single fields of the schema that are written as they are compared. */
function selectableFault(jsonPath: string, schema: StructuralSchema): string | undefined {
  if (!/^(?:\.[^.[\]\\]+)+$/.test(jsonPath)) return 'is an invalid path: must be field names with a dot before each'
  const names = jsonPath.slice(1).split('.')
  if (names[0] === 'metadata') return 'must not point to fields in metadata'
  // Where the schema is none, that is told as well.
  let node: unknown = schema
  for (const name of names) {
    const { properties, additionalProperties } = isObject(node) ? node : {}
    node = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties
  }
  if (!isObject(node)) return 'is an invalid path: does not refer to a valid field'
  const isText = ['string', 'boolean', 'integer'].includes(String(node['type']))
  return isText
    ? undefined
    : 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
}
