import type { Json, Owner } from '../../../shared/index.ts'

/**
 * How entities are marked as an object's, as Kong's own operator does it: by labels of control planes, by tags of all
 * else.
 */

const uidMark = 'k8s-uid'

/** What the marks are called. No tag of a spec begins with one of them, or it would say whose the entity is. */
export const markNames = [uidMark, 'k8s-kind', 'k8s-namespace', 'k8s-name', 'managed-by'] as const

function marks({ uid, kind, namespace, name }: Owner): Readonly<Record<(typeof markNames)[number], string>> {
  return { [uidMark]: uid, 'k8s-kind': kind, 'k8s-namespace': namespace, 'k8s-name': name, 'managed-by': 'setpoint' }
}

/** A label's value has at most 63 characters and no dot or dash at its ends. */
export function ownerLabels(owner: Owner): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(marks(owner)).map(([mark, value]) => [mark, value.slice(0, 63).replace(/[^a-zA-Z0-9]+$/, '')]),
  )
}

/** A tag has at most 128 characters. */
export function ownerTags(owner: Owner): readonly string[] {
  return Object.entries(marks(owner)).map(([mark, value]) => `${mark}:${value}`.slice(0, 128))
}

/** The one tag to look for. */
export function uidTag({ uid }: Owner): string {
  return `${uidMark}:${uid}`
}

export function uidInLabels(labels: Json | undefined): string | undefined {
  const uid = typeof labels === 'object' && labels !== null && !Array.isArray(labels) ? labels[uidMark] : undefined
  return typeof uid === 'string' ? uid : undefined
}

export function uidInTags(tags: Json | undefined): string | undefined {
  const found = (Array.isArray(tags) ? tags : []).find(
    (tag) => typeof tag === 'string' && tag.startsWith(`${uidMark}:`),
  )
  return typeof found === 'string' ? found.slice(uidMark.length + 1) : undefined
}
