/** So much of all mutants has to be killed. */
const wantedShare = 0.95
/** So seldom is a sample refused although that share of all mutants is killed. */
const doubt = 0.01

/**
 * How many of a sample have to be killed. Of all mutants it is their share. A sample may have bad luck: it is refused
 * when fewer were killed than in all but one of a hundred samples from a program of which the tests kill that share.
 */
export function leastKilledOf(count: number, isSample: boolean): number {
  if (!isSample) return Math.ceil(count * wantedShare)
  let likely = 0
  for (let survived = count; survived > 0; survived--) {
    likely += chanceOf(survived, count)
    if (likely > doubt) return count - survived
  }
  return count
}

/** That exactly so many of a sample survive. */
function chanceOf(survived: number, count: number): number {
  let chance = wantedShare ** (count - survived) * (1 - wantedShare) ** survived
  for (let i = 0; i < survived; i++) chance *= (count - i) / (i + 1)
  return chance
}

/** The seed of samples is another one each day. */
export function seedOfDay(nowMs: number): number {
  return Math.floor(nowMs / 86_400_000)
}
