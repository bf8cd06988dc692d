import { expect, it } from 'vitest'
import { documentedSchema, hasDocument, readDocument, resolved } from './document.ts'
import { operations, type Schema } from './schemas.ts'

/** Our schemas say nothing that Konnect's public document does not say, and leave out no field that it requires. */

const reason =
  'SETPOINT_KONNECT_OPENAPI names no copy of the public document in the version that they were written after'
const writtenAfter = '3.15.0'

it.skipIf(!hasDocument || versionOf(readDocument()) !== writtenAfter)(
  'our schemas and the public document agree',
  { meta: { skipped: reason } },
  () => {
    const document = readDocument()
    const described = Object.entries(operations).flatMap(([operation, { request, responses }]) => [
      { operation, status: undefined, schema: request },
      ...Object.entries(responses).map(([status, schema]) => ({ operation, status: Number(status), schema })),
    ])
    const found = described.flatMap(({ operation, status, schema }) =>
      schema === undefined
        ? []
        : disagreements(document, schema, documentedSchema(document, operation, status), `${operation} ${status}:`),
    )
    expect(found).toEqual([])
    expect(described.length).toBeGreaterThan(50)
  },
)

function versionOf({ info }: Schema): unknown {
  return (info as Schema)['version']
}

/** Where ours says something else. `oneOf` and `allOf` of theirs: one of them, or all together. */
function disagreements(document: Schema, ours: Schema, given: Schema | undefined, path = ''): readonly string[] {
  const theirs = whole(document, given)
  return Object.entries(ours).flatMap(([keyword, value]) => {
    const is = theirs[keyword]
    if (keyword === 'properties')
      return Object.entries(value as Record<string, Schema>).flatMap(([field, schema]) => {
        const described = (is as Record<string, Schema> | undefined)?.[field]
        return described === undefined
          ? [`${path}.${field} is not in the document`]
          : disagreements(document, schema, described, `${path}.${field}`)
      })
    if ((keyword === 'items' || keyword === 'additionalProperties') && typeof value === 'object')
      return disagreements(document, value as Schema, is as Schema, `${path}.${keyword}`)
    // A URL or a time is told apart by the document only.
    if (keyword === 'required') return missing(value as readonly string[], is as readonly string[], path)
    return JSON.stringify(value) === JSON.stringify(is) ? [] : [`${path} ${keyword}: ${JSON.stringify(is)}`]
  })
}

function missing(ours: readonly string[], theirs: readonly string[] = [], path: string): readonly string[] {
  return [...ours, ...theirs]
    .filter((field) => !ours.includes(field) || !theirs.includes(field))
    .map((field) => `${path} required: ${field}`)
}

function whole(document: Schema, given: Schema | undefined): Schema {
  const schema = resolved(document, given) ?? {}
  const one = (schema['oneOf'] as readonly Schema[] | undefined)?.[0]
  if (one !== undefined) return whole(document, one)
  const all = (schema['allOf'] as readonly Schema[] | undefined) ?? []
  return all.reduce<Schema>((merged, part) => mergedWith(merged, whole(document, part)), schema)
}

function mergedWith(a: Schema, b: Schema): Schema {
  // A refinement without a word, such as `status: {}`, is for examples.
  const said = Object.entries((b['properties'] ?? {}) as Record<string, Schema>).filter(
    ([, schema]) => schema['type'] !== undefined || schema['$ref'] !== undefined,
  )
  const properties = { ...(a['properties'] as Schema | undefined), ...Object.fromEntries(said) }
  return { ...a, ...b, properties, required: a['required'] ?? b['required'] }
}
