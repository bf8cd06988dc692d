import { bytesFromBase64, isBase64 } from '../base64.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { hasField } from '../schema/own-field.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { withTopology, type Topology } from './keyed-list.ts'
import { readFormatDuration, readTimestamp } from './times.ts'
import { listOf, mapOf, objectOf, plain, type Type } from './type.ts'
import { UntypedMap } from './untyped-value.ts'
import { CelDuration, CelFailure, Timestamp, ValueMap, type Result, type Value } from './value.ts'

/** What a schema and the values that fit it are to expressions. */
export interface SchemaShape {
  readonly type: Type
  read(json: Json): Result
}

const shapes = new WeakMap<StructuralSchema, { readonly shape: SchemaShape | undefined }>()
const resources = new WeakMap<StructuralSchema, { readonly shape: SchemaShape | undefined }>()

/** Undefined for what has no type: expressions do not see it. `isResource`: with the fields that every object has. */
export function shapeOf(schema: StructuralSchema, isResource = false): SchemaShape | undefined {
  const all = isResource ? resources : shapes
  const known = all.get(schema)
  if (known !== undefined) return known.shape
  const shape = makeShape(schema, isResource)
  all.set(schema, { shape })
  return shape
}

function makeShape(schema: StructuralSchema, isResource: boolean): SchemaShape | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString
  switch (schema.type) {
    case 'object':
      return typeof schema.additionalProperties === 'object'
        ? mapShape(schema.additionalProperties)
        : objectShape(schema, isResource)
    case 'array':
      return schema.items && listShape(schema.items, topologyIn(schema))
    case 'string':
      return texts.get(schema.format ?? '') ?? text
    case 'integer':
      return whole
    case 'number':
      return { type: plain.double, read: (json) => (typeof json === 'number' ? json : unfit(json)) }
    case 'boolean':
      return { type: plain.bool, read: (json) => (typeof json === 'boolean' ? json : unfit(json)) }
    default:
      return undefined
  }
}

/** A null, where the schema lets one be; otherwise no value of its schema. */
function unfit(json: Json): Result {
  return json === null ? null : new CelFailure('the value does not fit its schema')
}

const text: SchemaShape = { type: plain.string, read: (json) => (typeof json === 'string' ? json : unfit(json)) }
const whole: SchemaShape = {
  type: plain.int,
  read: (json) => (Number.isInteger(json) ? BigInt(json as number) : unfit(json)),
}
const intOrString: SchemaShape = {
  type: plain.dyn,
  read: (json) => (typeof json === 'string' ? json : whole.read(json)),
}

function readText(type: Type, read: (text: string) => Value | undefined): SchemaShape {
  return { type, read: (json) => (typeof json === 'string' ? (read(json) ?? unfit(json)) : unfit(json)) }
}

function timeOf(value: string): Timestamp | undefined {
  const ns = readTimestamp(value)
  return ns === undefined ? undefined : new Timestamp(ns)
}

/** What was stored before its schema asked for bytes may be any text. */
function readBytes(value: string): Uint8Array | undefined {
  return value === '' || isBase64(value) ? bytesFromBase64(value) : undefined
}

const texts: ReadonlyMap<string, SchemaShape> = new Map([
  ['byte', readText(plain.bytes, readBytes)],
  [
    'duration',
    readText(plain.duration, (value) => {
      const ns = readFormatDuration(value)
      return ns === undefined ? undefined : new CelDuration(ns)
    }),
  ],
  ['date', readText(plain.timestamp, (value) => timeOf(`${value}T00:00:00Z`))],
  ['date-time', readText(plain.timestamp, timeOf)],
])

function listShape(items: StructuralSchema, topology: Topology | undefined): SchemaShape | undefined {
  const shape = shapeOf(items)
  if (shape === undefined) return undefined
  const read = (json: Json): Result => {
    const values = Array.isArray(json) ? readAll(json, shape) : unfit(json)
    return topology !== undefined && Array.isArray(values) ? withTopology(values, topology) : values
  }
  return { type: listOf(shape.type), read }
}

function topologyIn({
  'x-kubernetes-list-type': type,
  'x-kubernetes-list-map-keys': keys = [],
}: StructuralSchema): Topology | undefined {
  if (type === 'map') return { keys: keys.map((key) => escapeField(key) ?? key) }
  return type === 'set' ? {} : undefined
}

function readAll(items: readonly Json[], { read }: SchemaShape): Result {
  const values: Value[] = []
  for (const item of items) {
    const value = read(item)
    if (value instanceof CelFailure) return value
    values.push(value)
  }
  return values
}

function mapShape(values: StructuralSchema): SchemaShape | undefined {
  const shape = shapeOf(values)
  if (shape === undefined) return undefined
  return {
    type: mapOf(plain.string, shape.type),
    read: (json) => (isObject(json) ? new JsonMap(json, shape) : unfit(json)),
  }
}

interface Field {
  readonly name: string
  readonly shape: SchemaShape
}

function objectShape(schema: StructuralSchema, isResource: boolean): SchemaShape {
  const fields = new Map<string, Field>()
  const properties = propertiesOf(schema, isResource || schema['x-kubernetes-embedded-resource'] === true)
  for (const [name, property] of Object.entries(properties)) {
    const shape = isResource && name === 'metadata' ? ownMetadata(property) : shapeOf(property)
    const escaped = escapeField(name)
    if (shape !== undefined && escaped !== undefined) fields.set(escaped, { name, shape })
  }
  const seen = new Set([...fields.values()].map(({ name }) => name))
  const type = objectOf('object', new Map([...fields].map(([name, { shape }]) => [name, shape.type])))
  return { type, read: (json) => (isObject(json) ? new JsonFields(json, { fields, seen }) : unfit(json)) }
}

/** The fields of an object, with those that every resource has. */
export function propertiesOf({ properties }: StructuralSchema, isWhole: boolean): Record<string, StructuralSchema> {
  return { ...properties, ...(isWhole ? resourceFields : {}) }
}

/** Of the metadata of an object itself no field counts that a write can change, not even a hidden one. */
function ownMetadata(schema: StructuralSchema): SchemaShape | undefined {
  const shape = shapeOf(schema)
  const names = Object.keys(schema.properties ?? {})
  const pick = (json: JsonObject): JsonObject =>
    Object.fromEntries(names.filter((name) => hasField(json, name)).map((name) => [name, json[name]]))
  return shape && { ...shape, read: (json) => shape.read(isObject(json) ? pick(json) : json) }
}

const string: StructuralSchema = { type: 'string' }
const resourceFields: Readonly<Record<string, StructuralSchema>> = {
  apiVersion: string,
  kind: string,
  metadata: { type: 'object', properties: { name: string, generateName: string } },
}

/** What was read of an object, lists and objects above all: each is read once. */
abstract class ReadMap extends ValueMap {
  readonly #known = new Map<string, Result>()

  get(key: Value): Result | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const read = this.read(key)
    if (typeof read === 'object' && read !== null) this.#known.set(key, read)
    return read
  }

  protected abstract read(key: string): Result | undefined
}

/** A map of JSON. */
class JsonMap extends ReadMap {
  readonly #json: JsonObject
  readonly #shape: SchemaShape
  #keys: readonly string[] | undefined

  constructor(json: JsonObject, shape: SchemaShape) {
    super()
    this.#json = json
    this.#shape = shape
  }

  get size(): number {
    return this.keys().length
  }

  protected read(key: string): Result | undefined {
    const value = hasField(this.#json, key) ? this.#json[key] : undefined
    return value === undefined ? undefined : this.#shape.read(value)
  }

  keys(): readonly string[] {
    return (this.#keys ??= Object.keys(this.#json))
  }
}

interface Declared {
  /** By their names in expressions. */
  readonly fields: ReadonlyMap<string, Field>
  /** Their names in JSON. */
  readonly seen: ReadonlySet<string>
}

/** An object of JSON. Expressions see the fields that its schema declares with a type. */
class JsonFields extends ReadMap {
  readonly #json: JsonObject
  readonly #declared: Declared
  #keys: readonly string[] | undefined
  #hidden: UntypedMap | undefined

  constructor(json: JsonObject, declared: Declared) {
    super()
    this.#json = json
    this.#declared = declared
  }

  /** With the fields that are hidden, as on Kubernetes. */
  get size(): number {
    return this.keys().length + this.hidden.size
  }

  override get hidden(): UntypedMap {
    const isHidden = (name: string): boolean => !this.#declared.seen.has(name) && hasField(this.#json, name)
    this.#hidden ??= new UntypedMap(this.#json, Object.keys(this.#json).filter(isHidden))
    return this.#hidden
  }

  protected read(key: string): Result | undefined {
    const field = this.#declared.fields.get(key)
    if (field === undefined || !hasField(this.#json, field.name)) return undefined
    // A field that is null is none.
    const value = this.#json[field.name] ?? null
    return value === null ? undefined : field.shape.read(value)
  }

  keys(): readonly string[] {
    this.#keys ??= [...this.#declared.fields]
      .filter(([, { name }]) => hasField(this.#json, name))
      .map(([escaped]) => escaped)
    return this.#keys
  }
}

const reserved = new Set(
  ['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'].concat(
    ['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
  ),
)

const escapes: Readonly<Record<string, string>> = { '.': '__dot__', '-': '__dash__', '/': '__slash__' }

/** A field's name as expressions write it; undefined for one that they cannot. */
export function escapeField(name: string): string | undefined {
  if (!/^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/.test(name)) return undefined
  if (reserved.has(name)) return `__${name}__`
  return name.replace(/__|[.\-/]/g, (part) => escapes[part] ?? '__underscores__')
}
