import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { builtInKinds } from '../../../shared/resources/built-in-kinds.ts'
import { firstState } from '../../../shared/resources/states.ts'
import { normalizeBody } from '../../../shared/resources/strategies.ts'
import { newObject } from '../../../shared/resources/transitions.ts'

/** Bodies of built-in kinds of which one part is of another type: the writer is told so, whatever else reads them. */

const odd: readonly Json[] = ['x', 5, null, [], {}, ['x'], [null], [{}], { x: 5 }]

/** Something of a schema in which everything is as it is to be. */
function wholeOf(schema: StructuralSchema): Json {
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, field]) => [name, wholeOf(field)]))
    case 'array':
      return [wholeOf(schema.items ?? {})]
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    default:
      return schema.enum?.[0] ?? 'x'
  }
}

/** The same, with one part of it, at any depth, in each odd way. */
function* oddOf(schema: StructuralSchema): Generator<Json> {
  yield* odd
  const { properties = {}, items } = schema
  const whole = wholeOf(schema)
  for (const [name, field] of Object.entries(properties))
    for (const part of oddOf(field)) {
      yield { ...(whole as JsonObject), [name]: part }
      yield { [name]: part }
    }
  if (items !== undefined) for (const part of oddOf(items)) yield [part]
}

function* bodiesOf({ schema }: ServedKind): Generator<JsonObject> {
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    if (!['metadata', 'apiVersion', 'kind', 'status'].includes(name))
      for (const part of oddOf(field)) yield { [name]: part }
}

describe.each(builtInKinds.map((kind) => ({ kind, name: `${kind.group}/${kind.version} ${kind.kind}` })))(
  'a body of $name',
  ({ kind }) => {
    it('of which one part is of another type is refused, or taken, and never breaks anything', () => {
      for (const content of bodiesOf(kind))
        expect([undefined, 'INVALID', 'BAD_REQUEST']).toContain(refusalOf(kind, content))
    })
  },
)

/** The code that the writer is told; undefined if the body is taken. */
function refusalOf(kind: ServedKind, content: JsonObject): unknown {
  const birth = { namespace: 'n', nowMs: 0, uid: 'u', suffix: '' }
  try {
    const body = normalizeBody(kind, { metadata: { name: 'a' }, ...content })
    firstState(kind, newObject(kind, body, birth), { nowMs: 0, definitions: [] })
    return undefined
  } catch (error) {
    return error instanceof OperatingError ? error.code : `${JSON.stringify(content)}: ${String(error)}`
  }
}
