/** Clocks that are right differ by less. A time that is further ahead was noted by a clock that was wrong. */
export const clockErrorMsMax = 60_000
