import type { Json } from '../../json.ts'
import { branchesHold } from '../check-value.ts'
import { compile, type CompiledSchema, jsonType } from '../compiled-schema.ts'
import type { StructuralSchema } from '../structural-schema.ts'
import { stepsMax } from '../walk.ts'
import { fitObject } from './fields.ts'
import { question, type Fit } from './fit.ts'
import { fitList } from './items.ts'
import { fitNumber, fitText } from './scalars.ts'

/**
 * Whether the whole object is, for the bits of `question`, as its schema wants it; see `Fit` for what the answers mean
 * and when `old` may be given. `apiVersion`, `kind` and `metadata` are known fields. The closures are made once per
 * schema.
 */
export function objectFits(schema: StructuralSchema, object: Json, asks: number, old?: Json): boolean {
  return fits(fitOfWhole(schema), object, asks, old)
}

/** How whole objects of a schema are asked. */
export function fitOfWhole(schema: StructuralSchema): Fit {
  return memoize(wholes, compile(schema), composeWhole)
}

/** The same as `objectFits`, for who has the closure at hand. */
export function fits(fit: Fit, object: Json, asks: number, old?: Json): boolean {
  return object === old || fit(object, old, { asks, steps: quickSteps })
}

/** Where more is needed, an interpreter has all of it once more. */
const quickSteps = stepsMax / 8

const parts = new WeakMap<CompiledSchema, Fit>()
const wholes = new WeakMap<CompiledSchema, Fit>()

function memoize(known: WeakMap<CompiledSchema, Fit>, node: CompiledSchema, compose: (node: CompiledSchema) => Fit) {
  let fit = known.get(node)
  if (fit === undefined) known.set(node, (fit = compose(node)))
  return fit
}

function fitOf(node: CompiledSchema): Fit {
  return memoize(parts, node, (fresh) => composeFit(fresh, fresh.isResource))
}

function composeWhole(node: CompiledSchema): Fit {
  return composeFit(node, true)
}

function composeFit(node: CompiledSchema, keepsIdentity: boolean): Fit {
  const fit = composeByType(node, keepsIdentity)
  const { branches, enum: allowed } = node
  if (branches === undefined && allowed === undefined) return fit
  return (value, old, run) => {
    if (!fit(value, old, run)) return false
    if ((run.asks & question.valid) === 0) return true
    if (allowed !== undefined && !allowed.has(value)) return false
    return branches === undefined || value === null || branchesHold(branches, value, run)
  }
}

/** A closure of one type where the schema has one, so that the usual value is a call away. */
function composeByType(node: CompiledSchema, keepsIdentity: boolean): Fit {
  const compose = composers.get(node.types)
  if (compose === undefined) return composeByValue(node, keepsIdentity)
  const fit = compose(node, keepsIdentity)
  return node.nullable ? (value, old, run) => value === null || fit(value, old, run) : fit
}

/** For a schema of several types, or of none. */
function composeByValue(node: CompiledSchema, keepsIdentity: boolean): Fit {
  const composeFor = (type: number, compose: Compose): Fit =>
    node.types === 0 || (node.types & type) !== 0 ? compose(node, keepsIdentity) : never
  const text = composeFor(jsonType.string, fitText)
  const number = composeFor(jsonType.integer | jsonType.fraction, fitNumber)
  const flag = composeFor(jsonType.boolean, composeFlag)
  const list = composeFor(jsonType.array, composeList)
  const object = composeFor(jsonType.object, composeObject)
  return (value, old, run) => {
    if (value === null) return node.nullable
    if (typeof value === 'string') return text(value, old, run)
    if (typeof value === 'number') return number(value, old, run)
    if (typeof value === 'boolean') return flag(value, old, run)
    return Array.isArray(value) ? list(value, old, run) : object(value, old, run)
  }
}

type Compose = (node: CompiledSchema, keepsIdentity: boolean) => Fit

const never: Fit = () => false
const composeFlag: Compose = () => (value) => typeof value === 'boolean'
const composeList: Compose = (node) => fitList(node, fitOf)
const composeObject: Compose = (node, keepsIdentity) => fitObject(node, { fitOf, keepsIdentity })

const composers: ReadonlyMap<number, Compose> = new Map([
  [jsonType.object, composeObject],
  [jsonType.array, composeList],
  [jsonType.string, fitText],
  [jsonType.integer, fitNumber],
  [jsonType.integer | jsonType.fraction, fitNumber],
  [jsonType.boolean, composeFlag],
])
