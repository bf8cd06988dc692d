import type { CustomResourceDefinition } from '../../model/custom-resource-definition.ts'
import { keyOf } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import { compareSchemas, type FieldChange } from '../../model/schema/compare-schemas.ts'
import type { StructuralSchema } from '../../model/schema/structural-schema.ts'
import type { Kind } from '../../reconciler/kind.ts'
import { findSpecFaults } from '../state/as-read.ts'

/** What a new schema of a kind means for its stored objects. */
export interface SchemaReport {
  readonly kind: string
  readonly changes: readonly FieldChange[]
  /** How many objects were looked at. */
  readonly objects: number
  /** How many of them the reconciler could not be given. */
  readonly invalid: number
  /** The first of these, each with what is wrong, and no value of it. */
  readonly examples: readonly string[]
  readonly advice: string
}

const examplesMax = 10

/**
 * Compares the definition that is stored with the one that a reconciler brings, and holds objects against the second.
 * They come page by page, because they may be large. Undefined: nothing changed that matters to them, and no page is
 * asked for.
 */
export async function reportSchemaChange(
  kind: Kind<unknown, unknown>,
  stored: Pick<CustomResourceDefinition, 'spec'> | undefined,
  pages: AsyncIterable<readonly ApiObject[]> | Iterable<readonly ApiObject[]>,
): Promise<SchemaReport | undefined> {
  const changes = findSchemaChanges(kind, stored)
  if (changes.length === 0) return undefined
  let [objects, invalid] = [0, 0]
  const examples: string[] = []
  for await (const page of pages) {
    const unfit = page.flatMap((object) => findUnfit(kind, object) ?? [])
    objects += page.length
    invalid += unfit.length
    examples.push(...unfit.slice(0, examplesMax - examples.length))
  }
  const advice = invalid === 0 ? 'every object that was looked at fits' : whatToDo
  return { kind: `${kind.kind}.${kind.group}`, changes, objects, invalid, examples, advice }
}

/** What is wrong with the object, ahead of it its name; undefined if nothing is. */
function findUnfit(kind: Kind<unknown, unknown>, object: ApiObject): string | undefined {
  const faults = findSpecFaults(kind, object)
  const { namespace, name } = keyOf(object)
  return faults === undefined ? undefined : `${namespace === '' ? '' : `${namespace}/`}${name}: ${faults}`
}

/** What differs between the stored definition and the reconciler's, without the status, which is its own. */
export function findSchemaChanges(
  { definition, version }: Kind<unknown, unknown>,
  stored: Pick<CustomResourceDefinition, 'spec'> | undefined,
): readonly FieldChange[] {
  const [before, after] = [stored, definition].map((one) => desiredSchema(one, version))
  return before === undefined || after === undefined ? [] : compareSchemas(before, after)
}

function desiredSchema(
  definition: Pick<CustomResourceDefinition, 'spec'> | undefined,
  version: string,
): StructuralSchema | undefined {
  const { versions = [] } = definition?.spec ?? {}
  const schema = (versions.find(({ name }) => name === version) ?? versions[0])?.schema?.openAPIV3Schema
  if (schema === undefined) return undefined
  const { status: _, metadata: __, apiVersion: ___, kind: ____, ...properties } = schema.properties ?? {}
  return { ...schema, properties }
}

const whatToDo =
  'these objects stop with SpecInvalid and keep what is stored: patch each so that it fits, or give new fields a default'
