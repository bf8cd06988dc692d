import { parseJson } from '../model/parse-json.ts'
import { findChangedFields } from '../model/changed-fields.ts'
import type { Conversion } from '../model/conversion.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import { apiVersionOf, type ApiObject } from '../model/object.ts'
import { applyDefaults } from '../model/schema/defaulting.ts'
import { describeFaults } from '../model/schema/spec-faults.ts'
import type { Random } from '../ports/random.ts'
import type { Kind } from '../reconciler/kind.ts'
import { drawValue } from './draw-value.ts'
import { createSeededRandom } from './seeded-random.ts'
import { reportedPart } from '../model/status-fields.ts'

export interface ConversionChecks {
  /** Objects of each version. Default 200. */
  readonly runs?: number
  /** Of all chance. Default 1. */
  readonly seed?: number
  /** Makes a spec of a version whose patterns or rules chance does not meet. It is given numbers from 0 to below 1. */
  readonly draw?: { readonly [version: string]: (next: () => number) => object }
  /** Fields that the kind's version has and older ones do not, such as `spec.zones`. */
  readonly hidden?: readonly string[]
}

/**
 * Draws objects of each version of a kind, and converts them to the other and back: every conversion gives what fits
 * its version, and every way back gives what there was. Throws an Error with the first object that is lost on the way.
 */
export function checkConversions(kind: Kind<unknown, unknown>, options: ConversionChecks = {}): void {
  const { conversion, definition, version } = kind
  if (conversion === undefined || definition === undefined)
    throw new TypeError(`${kind.kind} has no olderVersions: there is nothing to convert`)
  for (const { name } of definition.spec.versions) {
    if (name === version) continue
    checkWay({ conversion, from: name, by: version, hidden: [] }, options)
    checkWay({ conversion, from: version, by: name, hidden: options.hidden ?? [] }, options)
  }
}

interface Way {
  readonly conversion: Conversion
  readonly from: string
  readonly by: string
  readonly hidden: readonly string[]
}

function checkWay(way: Way, { runs = 200, seed = 1, draw = {} }: ConversionChecks): void {
  const random = createSeededRandom(seed)
  for (let i = 0; i < runs; i++) checkOne(way, drawObject(way, draw[way.from], random))
}

function checkOne({ conversion, from, by, hidden }: Way, object: ApiObject): void {
  const there = conversion.convert(object, by)
  const faults = describeFaults(conversion.schemaOf(by) ?? {}, there)
  const name = `${conversion.kind} ${from} → ${by}`
  const shown = JSON.stringify(contentOf(object, []))
  if (faults !== undefined) throw new Error(`${name} makes what does not fit ${by}: ${faults}: of ${shown}`)
  const back = contentOf(conversion.convert(there, from), hidden)
  const changed = findChangedFields(contentOf(object, hidden), back, fieldsMax)
  if (changed.length === 0) return
  throw new Error(`${name} → ${from} changes ${changed.join(', ')}: ${shown} comes back as ${JSON.stringify(back)}`)
}

const fieldsMax = 5
const drawsMax = 200

function drawObject(
  { conversion, from }: Way,
  draw: NonNullable<ConversionChecks['draw']>[string] | undefined,
  random: Random,
): ApiObject {
  const { group, kind } = conversion
  const schema = conversion.schemaOf(from) ?? {}
  const { spec = {}, status = {} } = schema.properties ?? {}
  const metadata = {
    name: 'drawn',
    namespace: 'default',
    uid: 'drawn',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
  }
  let faults: string | undefined
  for (let i = 0; i < drawsMax; i++) {
    const drawn = draw === undefined ? drawValue(spec, random) : draw(() => random.next())
    const object = applyDefaults(schema, {
      apiVersion: apiVersionOf(group, from),
      kind,
      metadata,
      spec: parseJson(JSON.stringify(drawn)) as JsonObject,
      status: drawValue({ type: 'object', properties: reportedPart(status.properties ?? {}) }, random) as JsonObject,
    } satisfies ApiObject)
    faults = describeFaults(schema, object)
    if (faults === undefined) return object
  }
  throw new Error(`chance makes no ${kind} of ${from} that fits (${faults}): give draw: { ${from}: (next) => spec }`)
}

/** What functions convert, without what one of the versions does not have. */
function contentOf({ spec = {}, status = {} }: ApiObject, hidden: readonly string[]): JsonObject {
  return hidden.reduce<JsonObject>((content, path) => withoutField(content, path.split('.')), {
    spec,
    status: reportedPart(status),
  })
}

function withoutField(content: JsonObject, [field = '', ...rest]: readonly string[]): JsonObject {
  const { [field]: value, ...others } = content
  if (rest.length === 0) return others
  return isObject(value) ? { ...content, [field]: withoutField(value, rest) } : content
}
