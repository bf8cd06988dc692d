import * as z from 'zod'
import { defineKind, type JsonObject } from '../../../shared/index.ts'

/** A kind whose definition users bring and take away. Nobody runs its objects. */
const Tool = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Tool',
  spec: z.object({ value: z.number().int() }),
})

const { metadata, spec } = Tool.definition as unknown as { readonly metadata: JsonObject; readonly spec: JsonObject }

export const toolDefinition = { name: String(metadata['name']), spec }
