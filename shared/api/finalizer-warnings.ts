import { findPlainFinalizers } from '../model/metadata.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { Written } from '../resources/resources.ts'

/** Warnings about new finalizers of users' own kinds that other programs may have, too, in Kubernetes' words. */
export function warnOfFinalizers({ builtIn }: ServedKind, { stored, before, outcome }: Written): readonly string[] {
  if (builtIn || outcome === 'unchanged') return []
  return findPlainFinalizers(stored.object.metadata, before?.object.metadata).map((name) => {
    const better = name.includes('.') ? 'finalizer name including a path (/)' : 'finalizer name'
    const why = `prefer a domain-qualified ${better} to avoid accidental conflicts with other finalizer writers`
    return `metadata.finalizers: ${JSON.stringify(name)}: ${why}`
  })
}
