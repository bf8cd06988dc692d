import { digest } from '../../model/digest.ts'
import { equal, type JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { canonicalJson } from '../../model/schema/canonical-json.ts'
import { Secret } from '../built-in-kinds.ts'
import type { Context } from '../context.ts'
import type { SecretTarget } from '../vault.ts'
import type { Outputs } from './external-options.ts'
import { recall, note, type ExternalMemory } from './memory.ts'

/** What tells later whether the outputs are where they were put, and as they were. */
export type KeptOutputs = Pick<ExternalMemory, 'outputs' | 'outputsAt'>

/** Keeps what the far side gave out. What an earlier run has kept elsewhere in AWS is removed. */
export async function keepOutputs(
  outputs: Outputs<ApiObject>,
  object: ApiObject,
  { entity, ctx }: { readonly entity: JsonObject; readonly ctx: Context },
): Promise<KeptOutputs> {
  const { outputsAt: before } = recall(ctx)
  const target = outputs.to?.(object)
  const data = outputs.data(entity)
  if (target !== undefined) {
    // Noted ahead of the write: a run that ends in between must not leave it behind.
    if (before === undefined) note(ctx, { ...recall(ctx), outputsAt: target })
    await ctx.outside.keepSecret(target, data)
  }
  if (before !== undefined && !equal(before, target)) await ctx.outside.removeSecret(before as SecretTarget)
  if (target !== undefined) return { outputs: inVault, outputsAt: target }
  const kept = await ctx.apply(Secret, { metadata: { name: outputs.name(object) }, stringData: data })
  return { outputs: digest(canonicalJson(kept.data)) }
}

/** No digest: each sync reads and compares them. */
const inVault = 'vault'

export async function areOutputsKept(
  { name, to }: Outputs<ApiObject>,
  object: ApiObject,
  { kept, ctx }: { readonly kept: KeptOutputs; readonly ctx: Context },
): Promise<boolean> {
  const target = to?.(object)
  if (target !== undefined || kept.outputsAt !== undefined) return equal(target, kept.outputsAt)
  const secret = await ctx.get(Secret, name(object))
  return secret !== undefined && digest(canonicalJson(secret.data)) === kept.outputs
}

/** Removes what was kept in AWS, as the entity is gone that it was about. */
export async function removeOutputs(ctx: Context): Promise<void> {
  const { outputsAt } = recall(ctx)
  if (outputsAt !== undefined) await ctx.outside.removeSecret(outputsAt)
}
