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
  return { kind: `${kind.kind}.${kind.group}`, changes, ...(await reportFit(kind, pages)) }
}

/** Holds objects against the definition that a reconciler brings, whether or not it changes anything. */
export async function reportFit(
  kind: Kind<unknown, unknown>,
  pages: AsyncIterable<readonly ApiObject[]> | Iterable<readonly ApiObject[]>,
): Promise<Omit<SchemaReport, 'kind' | 'changes'>> {
  let [objects, invalid] = [0, 0]
  const examples: string[] = []
  for await (const page of pages) {
    const unfit = page.flatMap((object) => findUnfit(kind, object) ?? [])
    objects += page.length
    invalid += unfit.length
    examples.push(...unfit.slice(0, examplesMax - examples.length))
  }
  return { objects, invalid, examples, advice: invalid === 0 ? 'every object that was looked at fits' : whatToDo }
}

/** What is wrong with the object, ahead of it its name; undefined if nothing is. */
function findUnfit(kind: Kind<unknown, unknown>, object: ApiObject): string | undefined {
  const faults = findSpecFaults(kind, object)
  const { namespace, name } = keyOf(object)
  return faults === undefined ? undefined : `${namespace === '' ? '' : `${namespace}/`}${name}: ${faults}`
}

/**
 * What differs between the stored definition and the reconciler's, without the status, which is its own. A version that
 * the reconciler still converts is compared with the same one of before.
 */
export function findSchemaChanges(
  { definition, version, conversion }: Kind<unknown, unknown>,
  stored: Pick<CustomResourceDefinition, 'spec'> | undefined,
): readonly FieldChange[] {
  const [before, after] = [stored, definition].map((one) => versionOf(one, version))
  if (before?.schema === undefined || after?.schema === undefined) return []
  const older = before.name === version ? undefined : conversion?.schemaOf(before.name)
  const changes = compareSchemas(desiredPart(before.schema), desiredPart(older ?? after.schema))
  return older === undefined ? changes : [{ path: before.name, says: `is converted to ${version}` }, ...changes]
}

/** That version of a definition, or the first if it has none of the name. */
function versionOf(definition: Pick<CustomResourceDefinition, 'spec'> | undefined, version: string) {
  const { versions = [] } = definition?.spec ?? {}
  const found = versions.find(({ name }) => name === version) ?? versions[0]
  return found && { name: found.name, schema: found.schema?.openAPIV3Schema }
}

function desiredPart(schema: StructuralSchema): StructuralSchema {
  const { status: _, metadata: __, apiVersion: ___, kind: ____, ...properties } = schema.properties ?? {}
  return { ...schema, properties }
}

const whatToDo =
  'these objects stop with SpecInvalid and keep what is stored: patch each so that it fits, or give new fields a default'
