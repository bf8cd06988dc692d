import { withExplicitOwners } from './apply/sole-writer.ts'
import { conversionFailed, functionsLacking } from './conversion-failed.ts'
import type { Conversion } from './conversion.ts'
import { hasCode, type OperatingError } from './errors.ts'
import { foreignPart } from './foreign-part.ts'
import { copyJson, isObject, type Json, type JsonObject } from './json.ts'
import { apiVersionOf, parseApiVersion, type ApiObject } from './object.ts'
import { applyDefaults } from './schema/defaulting.ts'
import { describeFaults } from './schema/spec-faults.ts'
import type { StructuralSchema } from './schema/structural-schema.ts'
import { engineStatusFields } from './status-fields.ts'

/** What a conversion function is given, and what it makes of it. */
export interface VersionedContent {
  readonly metadata: ApiObject['metadata']
  readonly spec: JsonObject
  readonly status?: JsonObject
}

/** What it makes is anything until it has been looked at. */
export type Convert = (content: VersionedContent) => unknown

/** One version beside the one that objects are stored in. */
export interface ConvertedVersion {
  readonly name: string
  /** Of the whole object. */
  readonly schema: StructuralSchema
  /** To the version that objects are stored in. */
  readonly upgrade: Convert
  /** Back. */
  readonly downgrade: Convert
  /** Its status is that of the stored version, and goes along unchanged. */
  readonly sharesStatus: boolean
}

export interface ConversionOptions extends Pick<Conversion, 'group' | 'kind' | 'version' | 'schema'> {
  readonly others: readonly ConvertedVersion[]
}

/** A conversion over functions. Each state of an object is converted once to a version, for as long as it is held. */
export function createConversion({ others, ...stored }: ConversionOptions): Conversion {
  const { group, kind, version, schema } = stored
  const known = new WeakMap<ApiObject, Map<string, ApiObject>>()

  const find = (name: string, object: ApiObject, to: string): ConvertedVersion => {
    const found = others.find((other) => other.name === name)
    if (found === undefined) throw functionsLacking(stored, object, to)
    return found
  }

  const make = (object: ApiObject, from: string, to: string): ApiObject => {
    if (from === version) {
      const { downgrade: convert, sharesStatus } = find(to, object, to)
      return step(object, { ...stored, from: schema, to, convert, sharesStatus })
    }
    const { upgrade: convert, sharesStatus, schema: old } = find(from, object, to)
    const current = step(object, { ...stored, from: old, to: version, convert, sharesStatus })
    return to === version ? current : make(current, version, to)
  }

  const convert: Conversion['convert'] = (object, to) => {
    const from = parseApiVersion(object.apiVersion).version
    if (from === to) return object
    const made = known.get(object)
    const before = made?.get(to)
    if (before !== undefined) return before
    const converted = make(object, from, to)
    if (made === undefined) known.set(object, new Map([[to, converted]]))
    else made.set(to, converted)
    return converted
  }

  const findFault: Conversion['findFault'] = (object, to) => {
    let fault: string | undefined
    try {
      convert(object, to)
    } catch (error) {
      if (!hasCode(error, 'CONVERSION_FAILED')) throw error
      fault = error.message
    }
    return fault
  }

  const schemaOf: Conversion['schemaOf'] = (name) =>
    name === version ? schema : others.find((other) => other.name === name)?.schema

  const lacks = (name: string): boolean => schemaOf(name) === undefined

  return { group, kind, version, schema, schemaOf, convert, findFault, lacks }
}

interface Step {
  readonly group: string
  readonly kind: string
  /** Of the object as it is given. */
  readonly from: StructuralSchema
  readonly to: string
  readonly convert: Convert
  readonly sharesStatus: boolean
}

/** The object made by one function: content by the function, identity and metadata as they were. */
function step(given: ApiObject, { group, kind, from, to, convert, sharesStatus }: Step): ApiObject {
  const fail = (why: string, cause?: unknown): OperatingError =>
    conversionFailed({ group, kind }, { object: given, to, why, cause })
  const faults = describeFaults(from, given)
  if (faults !== undefined) throw fail(faults)
  const object = withExplicitOwners({ schema: from, hasStatus: true }, applyDefaults(from, given))
  const { apiVersion: _, kind: __, spec = {}, status, metadata, ...rest } = object
  let made: unknown
  try {
    made = convert(copyJson({ metadata, spec, ...(status === undefined ? {} : { status }) }))
  } catch (error) {
    throw fail(error instanceof Error ? error.message : String(error), error)
  }
  if (!isObject(made) || !isObject(made['spec'])) throw fail('the function returned no object with a spec')
  const { spec: madeSpec, status: madeStatus } = made
  const foreign = foreignPart(madeSpec, 'spec') ?? foreignPart(madeStatus ?? {}, 'status')
  if (foreign !== undefined) throw fail(foreign)
  const nextStatus = sharesStatus ? status : statusOf(status, madeStatus)
  return {
    apiVersion: apiVersionOf(group, to),
    kind,
    metadata,
    ...rest,
    spec: copyJson(madeSpec),
    ...(nextStatus === undefined ? {} : { status: nextStatus }),
  }
}

/** What every status has of the engine goes along; all else is what the function made. */
function statusOf(status: JsonObject | undefined, made: Json | undefined): JsonObject | undefined {
  if (status === undefined) return undefined
  const next = isObject(made) ? copyJson(made) : {}
  for (const field of engineStatusFields) if (status[field] !== undefined) next[field] = status[field]
  return next
}
