import { applyDefaults } from '../../shared/model/schema/defaulting.ts'
import type { JsonObject } from '../../shared/model/json.ts'
import { prune } from '../../shared/model/schema/prune.ts'
import { isSettled } from '../../shared/model/schema/settled.ts'
import type { StructuralSchema } from '../../shared/model/schema/structural-schema.ts'
import { interpretSchema } from '../../shared/model/schema/validate.ts'
import { Gadget, gadgetText } from './gadget.ts'

/** What it costs to know that an object of about 1 KB is pruned, complete and valid. */
export interface SchemaFigure {
  readonly name: string
  readonly ns: number
}

/** The best of ten rounds each, in processor time of this process. */
export function measureSchema(): readonly SchemaFigure[] {
  const schema = schemaOfGadget()
  const stored = Array.from({ length: rounds }, (_, i) => storedGadget(i))
  const patched = stored.map((object) => ({ ...object, spec: { ...(object['spec'] as JsonObject), revision: 7 } }))
  if (!stored.every((object) => isSettled(schema, object))) throw new Error('the gadgets do not fit their schema')
  const interpret = (object: JsonObject, old?: JsonObject): void => {
    const errors = interpretSchema(schema, applyDefaults(schema, prune(schema, object).value), old ? { old } : {})
    if (errors.length > 0) throw new Error(errors[0]?.message)
  }
  return [
    {
      name: 'a new object, by the interpreters',
      ns: nsOf(
        () => stored,
        (object) => interpret(object),
      ),
    },
    {
      name: 'a new object, by the closures',
      ns: nsOf(
        () => stored.map(copyOf),
        (object) => isSettled(schema, object),
      ),
    },
    {
      name: 'one field patched, by the interpreters',
      ns: nsOf(
        () => patched,
        (object, i) => interpret(object, stored[i]),
      ),
    },
    {
      name: 'one field patched, by the closures',
      ns: nsOf(
        () => patched.map(copyOf),
        (object, i) => isSettled(schema, object, stored[i]),
      ),
    },
  ]
}

export function schemaTable(figures: readonly SchemaFigure[]): string {
  const rows = figures.map(({ name, ns }) => `${name.padEnd(44)}${Math.round(ns).toLocaleString('en').padStart(12)}`)
  return [`${'for each object of 1 KB'.padEnd(44)}${'ns of CPU'.padStart(12)}`, ...rows].join('\n')
}

const rounds = 2_000

function nsOf(make: () => readonly JsonObject[], work: (object: JsonObject, i: number) => unknown): number {
  let best = Infinity
  for (let round = 0; round < 10; round++) {
    const objects = make()
    const started = process.cpuUsage()
    for (const [i, object] of objects.entries()) work(object, i)
    const { user, system } = process.cpuUsage(started)
    best = Math.min(best, ((user + system) * 1_000) / objects.length)
  }
  return best
}

/** Another object, of whose spec nothing is remembered. */
function copyOf(object: JsonObject): JsonObject {
  return { ...object, spec: { ...(object['spec'] as JsonObject) } }
}

function storedGadget(i: number): JsonObject {
  const { head, tail } = gadgetText(`g${i}`, i)
  const object = JSON.parse(`${head}1000000000${tail}`) as JsonObject
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Done',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  return { ...object, status: { revision: 1, openPorts: 4, observedGeneration: 1, conditions: [ready] } }
}

function schemaOfGadget(): StructuralSchema {
  const schema = Gadget.definition?.spec.versions[0]?.schema?.openAPIV3Schema
  if (schema === undefined) throw new Error('gadgets have no schema')
  return schema
}
