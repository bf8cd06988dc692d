import { equal } from '../json.ts'
import { child, entry, type FieldError, forbidden, invalid, fieldRequired } from './field-error.ts'
import { checkUniqueItems } from './list-keywords.ts'
import { compilePattern } from './pattern.ts'
import type { StructuralSchema } from './structural-schema.ts'

/**
 * What may stand inside `allOf`, `anyOf`, `oneOf` and `not`: restrictions of values whose structure is said outside of
 * them. As in Kubernetes, only the branches of the root must keep to fields that are described there.
 */
export function checkBranches(
  schema: StructuralSchema,
  { path, level }: { readonly path: string; readonly level: string },
): readonly FieldError[] {
  const structure = level === 'root' ? { schema, path } : undefined
  return toBranches(schema, path, true).flatMap((branch) => {
    // The second spelling of "an integer or a string" hides in the first branch of allOf.
    const mayNameTypes = branch.path === entry(child(path, 'allOf'), 0)
    return checkBranch(branch, structure, mayNameTypes)
  })
}

interface Node {
  readonly schema: StructuralSchema
  readonly path: string
}

interface Branch extends Node {
  readonly mayNameType: boolean
}

function toBranches(
  { allOf = [], anyOf = [], oneOf = [], not }: StructuralSchema,
  path: string,
  mayNameTypes: boolean,
): Branch[] {
  const mayNameType = mayNameTypes && equal(anyOf, [{ type: 'integer' }, { type: 'string' }])
  const branchesOf = (keyword: string, schemas: readonly StructuralSchema[]): Branch[] =>
    schemas.map((schema, i) => ({
      schema,
      path: entry(child(path, keyword), i),
      mayNameType: mayNameType && keyword === 'anyOf',
    }))
  const refused = not === undefined ? [] : [{ schema: not, path: child(path, 'not'), mayNameType: false }]
  return [...branchesOf('allOf', allOf), ...branchesOf('anyOf', anyOf), ...branchesOf('oneOf', oneOf), ...refused]
}

/**
 * `structure` is the node that describes the same value outside; undefined if that is not asked for or has been
 * reported as absent.
 */
function checkBranch(branch: Branch, structure?: Node, mayNameTypes = false): FieldError[] {
  const { schema, path } = branch
  const { items, properties = {} } = schema
  const errors = [...checkStructureKeywords(branch), ...checkUniqueItems(schema, path), ...checkPattern(schema, path)]
  for (const inner of toBranches(schema, path, mayNameTypes)) errors.push(...checkBranch(inner, structure))
  if (items !== undefined) {
    const inner = { schema: items, path: child(path, 'items') }
    errors.push(
      ...checkCounterpart(inner, structure && { schema: structure.schema.items, path: child(structure.path, 'items') }),
    )
  }
  for (const [name, property] of Object.entries(properties)) {
    const inner = { schema: property, path: entry(child(path, 'properties'), name) }
    if (name === 'metadata') errors.push(forbidden(inner.path, 'must not be specified in a nested context'))
    errors.push(...checkCounterpart(inner, structure && propertyOf(structure, name)))
  }
  return errors
}

interface Counterpart {
  readonly schema: StructuralSchema | undefined
  readonly path: string
}

function propertyOf({ schema, path }: Node, name: string): Counterpart {
  const { properties = {} } = schema
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined
  return { schema: property, path: entry(child(path, 'properties'), name) }
}

function checkCounterpart(inner: Node, outside: Counterpart | undefined): FieldError[] {
  const branch = { ...inner, mayNameType: false }
  const { schema, path } = outside ?? {}
  if (path === undefined) return checkBranch(branch)
  if (schema !== undefined) return checkBranch(branch, { schema, path })
  return [fieldRequired(path, `because it is defined in ${inner.path}`), ...checkBranch(branch)]
}

const empty = 'must be empty to be structural'
const undefinedHere = 'must be undefined to be structural'
const falseHere = 'must be false to be structural'

const structureKeywords: readonly (readonly [keyword: keyof StructuralSchema, detail: string])[] = [
  ['type', empty],
  ['title', empty],
  ['description', empty],
  ['default', undefinedHere],
  ['nullable', falseHere],
  ['additionalProperties', undefinedHere],
  ['x-kubernetes-preserve-unknown-fields', falseHere],
  ['x-kubernetes-embedded-resource', falseHere],
  ['x-kubernetes-int-or-string', falseHere],
  ['x-kubernetes-list-type', undefinedHere],
  ['x-kubernetes-list-map-keys', empty],
  ['x-kubernetes-map-type', undefinedHere],
  ['x-kubernetes-validations', empty],
]

function checkStructureKeywords({ schema, path, mayNameType }: Branch): FieldError[] {
  const present = structureKeywords.filter(([keyword]) => {
    const value = schema[keyword]
    const isEmpty =
      value === undefined || value === false || value === '' || (Array.isArray(value) && value.length === 0)
    return !isEmpty && !(keyword === 'type' && mayNameType)
  })
  return present.map(([keyword, detail]) =>
    forbidden(child(path, keyword), `${detail}; say it outside of allOf, anyOf, oneOf and not`),
  )
}

/** Also for the structure itself: a pattern must compile wherever it stands. */
export function checkPattern({ pattern }: StructuralSchema, path: string): readonly FieldError[] {
  if (pattern === undefined) return []
  try {
    compilePattern(pattern)
    return []
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return [invalid(child(path, 'pattern'), pattern, `must be a valid regular expression, but isn't: ${why}`)]
  }
}
