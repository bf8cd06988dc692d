import { hasCode } from '../model/errors.ts'
import type { JsonObject } from '../model/json.ts'
import type { ObjectMeta } from '../model/object.ts'
import { onNewest } from '../model/on-newest.ts'
import type { At, Context } from './context.ts'
import type { Kind } from './kind.ts'
import { refusePromise } from './refuse-promise.ts'

/** What is changed, and how. */
export interface Modification<Read> {
  readonly kind: Kind<Read, unknown>
  readonly at: string | At
  /** A merge patch of the object as it is now; `undefined` leaves it. Called anew for each try, and not awaited. */
  readonly change: (object: Read) => JsonObject | undefined
  readonly subresource?: 'status'
}

/**
 * Changes an object by a function of what it is: the patch is written only if nobody else wrote since the function saw
 * the object, and made anew from what is there if somebody did. Ten tries, then VERSION_CONFLICT: the run fails and
 * comes again. Resolves to the object as it then is, `undefined` if there is none.
 */
export async function modify<Read extends { readonly metadata: Readonly<ObjectMeta> }>(
  ctx: Pick<Context, 'get' | 'patch'>,
  { kind, at, change, subresource }: Modification<Read>,
): Promise<Read | undefined> {
  return onNewest(async () => {
    const object = await ctx.get(kind, at)
    const patch = object && change(object)
    refusePromise(patch, 'change of modify gives its patch at once')
    if (object === undefined || patch === undefined) return object
    return ctx.patch(kind, at, onVersion(patch, object), subresource && { subresource }).catch(absentIfGone)
  })
}

function absentIfGone(error: unknown): undefined {
  if (!hasCode(error, 'NOT_FOUND')) throw error
}

function onVersion(patch: JsonObject, { metadata }: { readonly metadata: Readonly<ObjectMeta> }): JsonObject {
  const { resourceVersion } = metadata
  return { ...patch, metadata: { ...(patch['metadata'] as JsonObject | undefined), resourceVersion } }
}
