import type { Overload, OverloadsByName } from './overload.ts'
import type { Expression } from './expression.ts'
import type { Meter } from './meter.ts'
import type { Bindings, Type } from './type.ts'
import { CelFailure, type Result, type Value } from './value.ts'

/** An expression that was checked, ready to run. */
export interface Built {
  readonly type: Type
  readonly run: ProgramStep
  /** It is the same in every run. */
  readonly isConstant?: boolean
  /** Of a call: what it calls, as far as the types of its arguments say. */
  readonly called?: Called
}

export interface Called {
  /** With what stands before the dot, if that is no value: `sets.contains`. */
  readonly name: string
  /** On a value: `value.name(…)`. */
  readonly isMember: boolean
  readonly overloads: readonly Overload[]
}

export type ProgramStep = (frame: Frame) => Result

/** What a run of an expression has. */
export interface Frame {
  /** Values of variables, by their places. */
  readonly slots: Result[]
  readonly meter: Meter
}

/** What an expression is checked with. */
export interface Scope {
  readonly functions: OverloadsByName
  readonly variables: ReadonlyMap<string, Variable>
  readonly bindings: Bindings
  /** Lists and maps may hold values of several types. */
  readonly allowsMixed?: boolean
  /** The types of objects that the expression may make. */
  readonly constructs?: Constructs
  /** Each part of the expression goes here, once it is checked. */
  readonly note?: (expression: Expression, built: Built) => void
  /** What is wrong with a text as a pattern. */
  checkPattern(source: string): string | undefined
}

/** The type of that name; undefined if objects of it cannot be made. */
export type Constructs = (name: string) => Type | undefined

export interface Variable {
  readonly type: Type
  readonly slot: number
}

/** What a step of a run costs, in steps of the meter. */
const stepCost = 3

/** Checks a part of an expression. */
export type Build = (expression: Expression, scope: Scope) => Built

export function constant(type: Type, value: Value): Built {
  return { type, run: () => value, isConstant: true }
}

/** A scope with one variable more. Each has a place of its own. */
export function withVariable(scope: Scope, name: string, type: Type): { readonly inner: Scope; readonly slot: number } {
  const slot = [...scope.variables.values()].reduce((most, one) => Math.max(most, one.slot + 1), 0)
  // One that is hidden keeps its place: others may use it while this one runs.
  const hidden = scope.variables.get(name)
  const kept = hidden === undefined ? [] : [[` ${hidden.slot}`, hidden] as const]
  const variables = new Map([...scope.variables, ...kept, [name, { type, slot }]])
  return { inner: { ...scope, variables }, slot }
}

export function metered(step: ProgramStep): ProgramStep {
  return (frame) => {
    frame.meter.spend(stepCost)
    return step(frame)
  }
}

export function mapResult(value: Result, next: (value: Value) => Result): Result {
  return value instanceof CelFailure ? value : next(value)
}
