/**
 * Orders versions as clients prefer them, the best first: `v10`, `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`, and then
 * all other names by the alphabet. It is Kubernetes' order, whichever version objects are stored in.
 */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [rankOf(one), rankOf(other)]
  for (const [place, rank] of b.entries()) {
    const difference = rank - (a[place] ?? 0)
    if (difference !== 0) return difference
  }
  return one < other ? -1 : Number(one > other)
}

/** How stable it is, and its numbers. */
function rankOf(version: string): readonly number[] {
  const [, major, stage, minor] = pattern.exec(version) ?? []
  if (major === undefined) return [0, 0, 0]
  return [stages.indexOf(stage), Number(major), Number(minor ?? 0)]
}

const pattern = /^v([0-9]+)(?:(alpha|beta)([0-9]+))?$/
const stages = [null, 'alpha', 'beta', undefined]
