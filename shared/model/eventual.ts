/**
 * A value that is at hand, or comes. To await a value that is at hand costs a turn of the microtask queue, and what a
 * change of an object needs is nearly always at hand: the hot path asks before it awaits.
 */
export type Eventual<Value> = Value | Promise<Value>

/** Goes on with a value: at once if it is at hand. */
export function proceed<Value, Result>(
  value: Eventual<Value>,
  use: (value: Value) => Eventual<Result>,
): Eventual<Result> {
  return value instanceof Promise ? value.then(use) : use(value)
}
