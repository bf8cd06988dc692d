import { OperatingError } from '../model/errors.ts'
import type { Kind } from './kind.ts'

/** What a reconciler may do with the objects of a kind: `write` is to read, too. */
export type Access = 'read' | 'write'

/** A right beyond those that follow from what a reconciler owns and watches. */
export interface Grant {
  readonly kind: Kind<unknown, unknown>
  readonly access: Access
}

/** What a reconciler declares besides. */
interface Declared {
  readonly kind: Kind
  readonly owns: readonly Named[]
  readonly references: readonly Named[]
  readonly maps: readonly Named[]
}

interface Named {
  readonly kind: Kind
}

/** By `group/Kind`. */
export type Rights = ReadonlyMap<string, Grant>

/**
 * All that a reconciler declares: it writes its own kind and what it owns, reads what it watches, and has its grants.
 */
export function rightsOf({ kind, owns, references, maps }: Declared, grants: readonly Grant[]): Rights {
  const rights = new Map<string, Grant>()
  for (const watch of [...references, ...maps]) rights.set(nameOf(watch.kind), { kind: watch.kind, access: 'read' })
  for (const grant of grants) {
    const name = nameOf(grant.kind)
    if (grant.access === 'write' || !rights.has(name)) rights.set(name, grant)
  }
  for (const { kind: written } of [{ kind }, ...owns]) rights.set(nameOf(written), { kind: written, access: 'write' })
  return rights
}

/** Throws FORBIDDEN, which says what declaration is missing. */
export function requireRight(
  rights: Rights,
  { reconciler, kind, access }: Grant & { readonly reconciler: string },
): void {
  const has = rights.get(nameOf(kind))?.access
  if (has === 'write' || has === access) return
  const { kind: name, group } = kind
  const elsewhere = access === 'write' ? 'owns' : 'owns or watches'
  throw new OperatingError(
    'FORBIDDEN',
    `the reconciler ${reconciler} may not ${access} ${name} (${group || 'core'}), which it does not declare: ` +
      `add grants: [{ kind: ${name}, access: '${access}' }] to its definition, or ${name} to its ${elsewhere}`,
  )
}

function nameOf({ group, kind }: Kind<unknown, unknown>): string {
  return `${group}/${kind}`
}
