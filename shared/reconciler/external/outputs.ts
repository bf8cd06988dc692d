import { digest } from '../../model/digest.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { canonicalJson } from '../../model/schema/canonical-json.ts'
import { Secret } from '../built-in-kinds.ts'
import type { Context } from '../context.ts'
import type { Outputs } from './external-options.ts'

/** Keeps what the far side gave out in a Secret; what it returns tells later whether that is still so. */
export async function keepOutputs(
  { name, data }: Outputs<ApiObject>,
  object: ApiObject,
  { entity, ctx }: { readonly entity: JsonObject; readonly ctx: Context },
): Promise<string> {
  const kept = await ctx.apply(Secret, { metadata: { name: name(object) }, stringData: data(entity) })
  return digest(canonicalJson(kept.data))
}

export async function areOutputsKept(
  { name }: Outputs<ApiObject>,
  object: ApiObject,
  { kept, ctx }: { readonly kept: string; readonly ctx: Context },
): Promise<boolean> {
  const secret = await ctx.get(Secret, name(object))
  return secret !== undefined && digest(canonicalJson(secret.data)) === kept
}
