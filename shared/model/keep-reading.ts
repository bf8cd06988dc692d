/** What is read once, and kept until it is old or has changed. Whoever asks meanwhile waits for the same reading. */
export interface KeptReading<Value> {
  /** At once; undefined if nothing is read, or only what is older than `maxAgeMs`, or `oldestMs`. */
  peek(oldestMs?: number): Value | undefined
  /** Not older than `maxAgeMs`, or `oldestMs`. Rejects as the reading did; the next call reads again. */
  get(oldestMs?: number): Promise<Value>
  /** It has changed: what is kept or being read no longer counts. */
  forget(): void
}

export interface KeepOptions<Value> {
  readonly read: () => Promise<Value>
  readonly clock: { nowMs(): number }
  /** Infinity where every change calls `forget`. */
  readonly maxAgeMs: number
}

export function keepReading<Value>({ read, clock, maxAgeMs }: KeepOptions<Value>): KeptReading<Value> {
  let reading: Promise<Value> | undefined
  /** What it came to. */
  let known: Value | undefined
  let readAtMs = 0

  // A clock that was put back says nothing of the age.
  const isOld = (oldestMs: number): boolean => oldestMs !== Infinity && Math.abs(clock.nowMs() - readAtMs) > oldestMs

  const forget = (): void => {
    reading = undefined
    known = undefined
  }

  const keep = async (begun: Promise<Value>): Promise<void> => {
    try {
      const value = await begun
      if (reading === begun) known = value
    } catch {
      // Whoever waits for it is told why.
      if (reading === begun) forget()
    }
  }

  return {
    peek: (oldestMs = maxAgeMs) => (known === undefined || isOld(oldestMs) ? undefined : known),
    get: (oldestMs = maxAgeMs) => {
      if (reading !== undefined && !isOld(oldestMs)) return reading
      readAtMs = clock.nowMs()
      known = undefined
      reading = read()
      void keep(reading)
      return reading
    },
    forget,
  }
}
