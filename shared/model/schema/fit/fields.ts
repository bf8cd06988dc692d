import { isObject } from '../../json.ts'
import type { CompiledSchema } from '../compiled-schema.ts'
import { hasUnknownMetadata, resourceFaults } from '../embedded-resource.ts'
import { question, type Fit } from './fit.ts'
import { isFlat } from './items.ts'
import { isPlain, notPlain, plainOf, type Plain } from './plain.ts'

/** `keepsIdentity`: apiVersion, kind and metadata count as known, as they do in every resource. */
export interface FieldsOptions {
  readonly fitOf: (node: CompiledSchema) => Fit
  readonly keepsIdentity: boolean
}

/** Whether a value is an object whose fields fit, which has the fields it must have, and no more than it may have. */
export function fitObject(node: CompiledSchema, options: FieldsOptions): Fit {
  const other = othersOf(node, options)
  const { names, entries, positions } = listFields(node, other, options)
  const { minProperties = 0, maxProperties = Infinity } = node.forObject ?? {}
  const required = requiredOf(node).size
  const withDefault = node.propertiesWithDefault.length
  return (value, old, run) => {
    if (!isObject(value)) return false
    const before = isObject(old) ? old : undefined
    let count = 0
    // How many of those it must have, and of those that have a default.
    let musts = required
    let defaults = withDefault
    let next = 0
    for (const name in value) {
      const field = value[name]
      if (field === undefined) continue
      // Fields mostly come in the order of the schema, which spares the search for most of them.
      const at = names[next] === name ? next : positions?.get(name)
      if (at !== undefined) next = at + 1
      const entry = at === undefined ? other : (entries[at] ?? other)
      count++
      musts -= entry.required
      defaults -= entry.defaults
      const was = before === undefined ? undefined : before[name]
      if (field !== was && !isPlain(field, entry.plain) && !entry.fit(field, was, run)) return false
    }
    if (node.isResource && (run.asks & question.known) !== 0 && hasUnknownMetadata(value)) return false
    if (defaults > 0 && (run.asks & question.complete) !== 0) return false
    if ((run.asks & question.valid) === 0) return true
    if (musts > 0 || count < minProperties || count > maxProperties) return false
    return !node.isResource || resourceFaults(value, '').length === 0
  }
}

/** How the values of one field are checked, and what the field counts for. */
interface Entry {
  readonly plain: Plain
  readonly fit: Fit
  readonly required: 0 | 1
  readonly defaults: 0 | 1
}

interface Fields {
  readonly names: readonly string[]
  readonly entries: readonly Entry[]
  /** Undefined if there are none. */
  readonly positions: ReadonlyMap<string, number> | undefined
}

function listFields(node: CompiledSchema, other: Entry, { fitOf, keepsIdentity }: FieldsOptions): Fields {
  const known = new Map([...node.properties].map(([name, property]) => [name, entryOf(property, fitOf)]))
  if (keepsIdentity) {
    for (const name of identity) {
      const entry = known.get(name) ?? other
      known.set(name, { ...entry, fit: exceptKnown(entry.fit) })
    }
  }
  for (const name of requiredOf(node)) known.set(name, { ...(known.get(name) ?? other), required: 1 })
  for (const [name] of node.propertiesWithDefault) known.set(name, { ...(known.get(name) ?? other), defaults: 1 })
  const names = [...known.keys()]
  const positions = names.length === 0 ? undefined : new Map(names.map((name, i) => [name, i]))
  return { names, entries: [...known.values()], positions }
}

function requiredOf({ forObject }: CompiledSchema): ReadonlySet<string> {
  return new Set(forObject?.required)
}

function othersOf(node: CompiledSchema, { fitOf }: FieldsOptions): Entry {
  if (typeof node.others === 'object') return entryOf(node.others, fitOf)
  return { plain: notPlain, fit: composeUnknown(node), required: 0, defaults: 0 }
}

function entryOf(node: CompiledSchema, fitOf: FieldsOptions['fitOf']): Entry {
  return { plain: plainOf(node), fit: fitOf(node), required: 0, defaults: 0 }
}

const identity = ['apiVersion', 'kind', 'metadata']

/** Asks all but whether fields are known. */
function exceptKnown(fit: Fit): Fit {
  return (value, old, run) => {
    const { asks } = run
    run.asks = asks & ~question.known
    const answer = run.asks === 0 || fit(value, old, run)
    run.asks = asks
    return answer
  }
}

/** For a field that the schema does not describe. */
function composeUnknown({ others, preservesUnknown }: CompiledSchema): Fit {
  const mayStay = others === 'unknown' ? preservesUnknown : undefined
  return (value, _old, { asks }) => {
    if ((asks & question.known) !== 0 && !(mayStay ?? isFlat(value))) return false
    return others !== 'refused' || (asks & question.valid) === 0
  }
}
