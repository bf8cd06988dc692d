import type { Life } from '../life.ts'

/** Promise 2: two runs of one object never act at the same time. A run of a function that has died acts no more. */
export function createSingleHolder(report: (violation: string) => void) {
  const holders = new Map<string, Set<Life>>()
  return {
    begins: ({ name, uid }: { readonly name: string; readonly uid: string }, life: Life): (() => void) => {
      const acting = holders.get(uid) ?? new Set()
      holders.set(uid, acting)
      const others = [...acting].filter((other) => !other.isDead())
      if (others.length > 0)
        report(`promise 2: ${life.name} runs ${name} while ${others.map((other) => other.name).join(', ')} does`)
      acting.add(life)
      return () => acting.delete(life)
    },
  }
}
