import type { Json } from './json.ts'
import { child, entry, fieldRequired, invalid, type FieldError } from './schema/field-error.ts'

/** The versions of AdmissionReview and of ConversionReview that webhooks are spoken to in, as Kubernetes has them. */
const spoken = ['v1', 'v1beta1'] as const
export type ReviewVersion = (typeof spoken)[number]

/** The first of a webhook's versions that is spoken. */
export function reviewVersionOf(versions: readonly string[] = []): ReviewVersion {
  return spoken.find((one) => one === versions.find(isSpoken)) ?? 'v1'
}

function isSpoken(version: unknown): boolean {
  return spoken.includes(version as ReviewVersion)
}

/** In Kubernetes' words. */
export function checkReviewVersions(versions: Json | undefined, parent: string, name: string): readonly FieldError[] {
  const field = child(parent, name)
  if (!Array.isArray(versions) || versions.length === 0)
    return [fieldRequired(field, `must specify one of ${spoken.join(', ')}`)]
  const seen = new Set<Json>()
  const repeated = versions.flatMap((version, i) =>
    seen.size === seen.add(version).size ? [invalid(entry(field, i), version, 'duplicate version')] : [],
  )
  if (versions.some(isSpoken)) return repeated
  return [...repeated, invalid(field, versions, `must include at least one of ${spoken.join(', ')}`)]
}
