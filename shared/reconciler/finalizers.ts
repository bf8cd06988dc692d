import type { ObjectMeta } from '../model/object.ts'
import type { Context } from './context.ts'
import type { Kind } from './kind.ts'
import { modify } from './modify.ts'

/** Which finalizer, of which object. */
export interface HeldObject<Read> {
  readonly kind: Kind<Read, unknown>
  readonly object: Read
  readonly finalizer: string
}

interface WithMetadata {
  readonly metadata: Readonly<ObjectMeta>
}

/**
 * Finalizers by hand, for reconcilers that hold some of their objects only; with `cleanup` the engine does it. May be
 * called again and again: an object that has the finalizer is not written, and one that is being deleted takes no new
 * one.
 */
export async function addFinalizer<Read extends WithMetadata>(
  ctx: Pick<Context, 'get' | 'patch'>,
  { kind, object, finalizer }: HeldObject<Read>,
): Promise<void> {
  await changeFinalizers(ctx, {
    kind,
    object,
    change: ({ finalizers = [], deletionTimestamp }) =>
      deletionTimestamp !== undefined || finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer],
  })
}

/** Takes a finalizer away, and with the last one a deleted object. An object without it is not written. */
export async function removeFinalizer<Read extends WithMetadata>(
  ctx: Pick<Context, 'get' | 'patch'>,
  { kind, object, finalizer }: HeldObject<Read>,
): Promise<void> {
  await changeFinalizers(ctx, {
    kind,
    object,
    change: ({ finalizers = [] }) => finalizers.filter((name) => name !== finalizer),
  })
}

interface Change<Read> extends Pick<HeldObject<Read>, 'kind' | 'object'> {
  readonly change: (live: Readonly<ObjectMeta>) => readonly string[]
}

async function changeFinalizers<Read extends WithMetadata>(
  ctx: Pick<Context, 'get' | 'patch'>,
  { kind, object: { metadata: given }, change }: Change<Read>,
): Promise<void> {
  await modify(ctx, {
    kind,
    at: { name: given.name, ...(given.namespace !== undefined && { namespace: given.namespace }) },
    change: (live) => {
      const { uid, finalizers = [] } = live.metadata
      const next = change(live.metadata)
      if (uid !== given.uid || next.length === finalizers.length) return
      return { metadata: { finalizers: [...next] } }
    },
  })
}
