import type { Json } from '../model/json.ts'

export interface OnceOptions {
  /**
   * What the effect is about: another value than the last one of the key is another effect. Left out: once in the
   * object's life.
   */
  readonly of?: Json
}

/** What an effect is told of earlier attempts at it. */
export interface Effect {
  /** The same for every attempt: for a far side that takes idempotency keys. */
  readonly token: string
  /** An earlier attempt began and nobody knows how it ended: it threw, or the process died. Look before you act. */
  readonly mayHaveHappened: boolean
}

/** As `Context.once`. */
export type Once = <Result extends Json | void>(
  key: string,
  effect: (effect: Effect) => Promise<Result>,
  options?: OnceOptions,
) => Promise<Result>
