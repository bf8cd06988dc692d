/**
 * Refuses what an async function gives where nothing waits for it: a promise would count as the answer, such as a yes,
 * or a patch of nothing. Throws a TypeError that begins with the rule.
 */
export function refusePromise(given: unknown, rule: string): void {
  if (typeof given !== 'object' || given === null) return
  if (!('then' in given) || typeof given.then !== 'function') return
  // Nobody else hears of its failure, which would end the process.
  void Promise.resolve(given).catch(() => {})
  throw new TypeError(`${rule}, and not as a promise`)
}
