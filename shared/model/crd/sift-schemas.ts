import { changeFields, changeItems, changePart } from '../change-parts.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { isKeyword } from '../schema/keywords.ts'

/** A definition as Kubernetes' types hold it, without changing the one given. Its schemas may hold anything. */

/** Without what a schema says with null, such as `description:` in YAML: it is said by nobody. */
export function withoutNullKeywords(definition: JsonObject): JsonObject {
  return changeSchemas(definition, (node) => {
    const said = withoutNulls(node)
    return changePart(said, 'x-kubernetes-validations', (rules) => changeItems(rules, withoutNulls))
  })
}

/** As many as a reply has room for. */
const mostReported = 100

/** The definition without unknown keywords, and the paths of these keywords: at most the first hundred. */
export function siftKeywords(definition: JsonObject): {
  readonly body: JsonObject
  readonly unknown: readonly string[]
} {
  const unknown: string[] = []
  const body = changeSchemas(definition, (node, path) => {
    const strange = Object.keys(node).filter((keyword) => !isKeyword(keyword))
    if (strange.length === 0) return node
    for (const keyword of strange) if (unknown.length < mostReported) unknown.push(`${path}.${keyword}`)
    return Object.fromEntries(Object.entries(node).filter(([keyword]) => isKeyword(keyword)))
  })
  return { body, unknown: unknown.toSorted() }
}

type Change = (node: JsonObject, path: string) => Json

function changeSchemas(definition: JsonObject, change: Change): JsonObject {
  return changePart(definition, 'spec', (spec) =>
    changePart(spec, 'versions', (versions) =>
      changeItems(versions, (version, i) =>
        changePart(version, 'schema', (schema) =>
          changePart(schema, 'openAPIV3Schema', (root) =>
            changeNode(root, `spec.versions[${i}].schema.openAPIV3Schema`, change),
          ),
        ),
      ),
    ),
  ) as JsonObject
}

/** A node and all below it, where other schemas stand in it. */
function changeNode(node: Json, path: string, change: Change): Json {
  if (!isObject(node)) return node
  let changed: Json = change(node, path)
  changed = changePart(changed, 'properties', (fields) =>
    changeFields(fields, (field, name) => changeNode(field, `${path}.properties.${name}`, change)),
  )
  for (const keyword of ['items', 'not', 'additionalProperties'])
    changed = changePart(changed, keyword, (one) => changeNode(one, `${path}.${keyword}`, change))
  for (const keyword of ['allOf', 'anyOf', 'oneOf'])
    changed = changePart(changed, keyword, (branches) =>
      changeItems(branches, (one, i) => changeNode(one, `${path}.${keyword}[${i}]`, change)),
    )
  return changed
}

function withoutNulls(part: Json): Json {
  if (!isObject(part)) return part
  const said = Object.entries(part).filter(([, value]) => value !== null)
  return said.length === Object.keys(part).length ? part : Object.fromEntries(said)
}
