import type { ObjectKey } from '../model/object-key.ts'

/**
 * Ways to find objects other than by name. An index may lag behind the store by a moment (DynamoDB's do): who acts on
 * an entry reads the object first.
 */
export interface ObjectIndex {
  /**
   * Keys of the objects that name this uid among their owners. Strong: none is missing whose write resolved before, see
   * docs/decisions/0007. It may name one that does not any more. With a limit, at most so many of them, whichever.
   */
  childrenOf(uid: string, limit?: number): Promise<readonly ObjectKey[]>

  /** Keys of the objects that refer to this one, as recorded by `setReferences`. */
  referrers(target: ObjectKey): Promise<readonly ObjectKey[]>

  /** What `referrer` refers to, as recorded. */
  references(referrer: ObjectKey): Promise<readonly ObjectKey[]>

  /** Replaces what `referrer` refers to. Ends by itself when the referrer is removed. */
  setReferences(referrer: ObjectKey, targets: readonly ObjectKey[]): Promise<void>

  /**
   * Objects of a kind that want to run (`dueAtMs` of their engine state) at or before `untilMs`, earliest first; with
   * `fromMs`, none that want to run before it.
   */
  due(kind: KindName, untilMs: number, limit: number, fromMs?: number): Promise<readonly DueTimer[]>

  /** Keys of one kind on the slots `from` (inclusive) to `to` (exclusive) of the resync wheel, see model/wheel.ts. */
  onWheel(kind: KindName, from: number, to: number): Promise<readonly ObjectKey[]>
}

export type KindName = Pick<ObjectKey, 'group' | 'kind'>

export interface DueTimer {
  readonly key: ObjectKey
  readonly dueAtMs: number
}
