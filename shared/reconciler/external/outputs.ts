import { digest } from '../../model/digest.ts'
import { equal, type JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { canonicalJson } from '../../model/schema/canonical-json.ts'
import { Secret } from '../built-in-kinds.ts'
import type { Context } from '../context.ts'
import type { Outputs } from './external-options.ts'
import { recall, type ExternalMemory } from './memory.ts'

interface Keeping {
  readonly entity: JsonObject
  readonly ctx: Context
  /** Makes it known for good where in AWS the outputs are: a crash behind their write must not leave them there. */
  noteTarget(target: ExternalMemory['outputsAt']): Promise<void>
}

/**
 * Keeps what the far side gave out; what it returns tells later whether that is still so. What an earlier run has kept
 * elsewhere in AWS is removed first.
 */
export async function keepOutputs(
  outputs: Outputs<ApiObject>,
  object: ApiObject,
  { entity, ctx, noteTarget }: Keeping,
): Promise<string> {
  const { outputsAt: before } = recall(ctx)
  const target = outputs.to?.(object)
  const data = outputs.data(entity)
  if (!equal(before, target)) {
    if (before !== undefined) await ctx.outside.removeSecret(before)
    await noteTarget(target)
  }
  if (target !== undefined) {
    await ctx.outside.keepSecret(target, data)
    return inVault
  }
  const kept = await ctx.apply(Secret, { metadata: { name: outputs.name(object) }, stringData: data })
  return digest(canonicalJson(kept.data))
}

/** No digest: each sync reads and compares them. */
const inVault = 'vault'

export async function areOutputsKept(
  { name, to }: Outputs<ApiObject>,
  object: ApiObject,
  { memory, ctx }: { readonly memory: Pick<ExternalMemory, 'outputs' | 'outputsAt'>; readonly ctx: Context },
): Promise<boolean> {
  const target = to?.(object)
  if (target !== undefined || memory.outputsAt !== undefined) return equal(target, memory.outputsAt)
  const secret = await ctx.get(Secret, name(object))
  return secret !== undefined && digest(canonicalJson(secret.data)) === memory.outputs
}

/** Removes what was kept in AWS, as the entity is gone that it was about. */
export async function removeOutputs(ctx: Context): Promise<void> {
  const { outputsAt } = recall(ctx)
  if (outputsAt !== undefined) await ctx.outside.removeSecret(outputsAt)
}
