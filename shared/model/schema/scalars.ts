import type { Json } from '../json.ts'
import { goTimePattern, notGoTime } from '../time.ts'
import { type CompiledSchema, jsonType } from './compiled-schema.ts'
import { type FieldError, invalid, numeral, quote, tooLong, typeInvalid } from './field-error.ts'
import type { Pattern } from './pattern.ts'
import { textLengthOf } from './text-length.ts'
import { isOver, keep, location, report, spend, type Walk } from './walk.ts'

/** The JSON type of a value, which is not null, as one of the bits of `jsonType`. */
export function typeOf(value: Json): number {
  if (typeof value === 'string') return jsonType.string
  if (typeof value === 'number') return isInteger(value) ? jsonType.integer : jsonType.fraction
  if (typeof value === 'boolean') return jsonType.boolean
  return Array.isArray(value) ? jsonType.array : jsonType.object
}

/** Whole and within 64 bits. */
export function isInteger(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= 2 ** 63
}

const typeNames: readonly (readonly [bit: number, name: string, format: string])[] = [
  [jsonType.object, 'object', ''],
  [jsonType.array, 'array', ''],
  [jsonType.string, 'string', ''],
  [jsonType.integer, 'integer', 'int64'],
  [jsonType.fraction, 'number', 'float64'],
  [jsonType.boolean, 'boolean', ''],
]

/** Reports that a value has not the type its schema asks for. */
export function reportType(node: CompiledSchema, value: Json, walk: Walk): void {
  report(walk, () => wrongType(node, value, location(walk)))
}

function wrongType(node: CompiledSchema, value: Json, path: string): FieldError {
  const [, name, format] = typeNames.find(([bit]) => value !== null && bit === typeOf(value)) ?? [0, 'null', '']
  const isAboutFormat = node.format !== undefined && !['null', 'string', 'array'].includes(name)
  const [wanted, found] = isAboutFormat ? [node.format, format] : [node.typeNames, name]
  return typeInvalid(path, found, `${path} in body must be of type ${wanted}: ${quote(found)}`)
}

/** To check the format of a text, for each character of it. */
const stepsOfFormat = 1

/** The keywords that speak of texts, the format among them. */
export function checkString(node: CompiledSchema, text: string, walk: Walk): void {
  if (node.forString !== undefined) checkText(node.forString, text, walk)
  if (node.matchesFormat === undefined || isOver(walk)) return
  spend(walk.budget, text.length * stepsOfFormat)
  if (node.matchesFormat(text)) return
  report(walk, () => {
    const path = location(walk)
    return typeInvalid(path, text, `${path} in body must be of type ${node.format}: ${quote(text)}`)
  })
}

function checkText(keywords: NonNullable<CompiledSchema['forString']>, text: string, walk: Walk): void {
  const { minLength, maxLength, pattern } = keywords
  if (maxLength !== undefined && text.length > maxLength && countText(text, walk) > maxLength) {
    report(walk, () => tooLong(location(walk), maxLength))
  } else if (minLength !== undefined && text.length < 2 * minLength && countText(text, walk) < minLength) {
    reportInvalid(walk, text, `should be at least ${minLength} chars long`)
  } else if (pattern !== undefined) {
    checkPattern(pattern(), text, walk)
  }
}

function countText(text: string, walk: Walk): number {
  spend(walk.budget, text.length >> 3)
  return textLengthOf(text)
}

function checkPattern(pattern: Pattern, text: string, walk: Walk): void {
  const isAffordable = spend(walk.budget, pattern.stepsPerCharacter * (1 + text.length))
  if (isAffordable && pattern.matches(text)) return
  if (!isAffordable) keep(walk, () => invalidHere(walk, text, tooMuchWork))
  else reportInvalid(walk, text, describeMismatch(pattern))
}

/** An example says more than so long an expression. */
function describeMismatch({ source }: Pattern): string {
  return source === goTimePattern ? notGoTime : `should match '${source}'`
}

function reportInvalid(walk: Walk, value: Json, fault: string): void {
  report(walk, () => invalidHere(walk, value, fault))
}

function invalidHere(walk: Walk, value: Json, fault: string): FieldError {
  const path = location(walk)
  return invalid(path, value, `${path} in body ${fault}`)
}

const tooMuchWork = 'is too long to be matched against its pattern; give the field a maxLength in its schema'

/** The keywords that speak of numbers, the formats' ranges among them. */
export function checkNumber(node: CompiledSchema, value: number, walk: Walk): void {
  if (node.format !== undefined && !fitsFormat(value, node.format)) {
    const type = node.format === 'float' ? 'number' : 'integer'
    report(walk, () => {
      const path = location(walk)
      return invalid(path, '', `Checked value must be of type ${type} with format ${node.format} in ${path}`)
    })
  }
  if (node.forNumber === undefined) return
  for (const wanted of numberFaults(node.forNumber, value)) {
    reportInvalid(walk, value, `should be ${wanted}`)
  }
}

/** Whether a number is in the range of a format. */
export function fitsFormat(value: number, format: string): boolean {
  if (format === 'int32') return !Number.isInteger(value) || (value >= -(2 ** 31) && value < 2 ** 31)
  return format !== 'float' || Number.isFinite(Math.fround(value))
}

const noFaults: readonly string[] = []

/** What a number should be and is not, in words; empty if it is all that it should be. */
export function numberFaults(keywords: NonNullable<CompiledSchema['forNumber']>, value: number): readonly string[] {
  const { minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false, multipleOf } = keywords
  let faults = noFaults
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) faults = [`a multiple of ${numeral(multipleOf)}`]
  if (minimum !== undefined && (value < minimum || (exclusiveMinimum && value === minimum))) {
    faults = [...faults, `greater than ${exclusiveMinimum ? '' : 'or equal to '}${numeral(minimum)}`]
  }
  if (maximum !== undefined && (value > maximum || (exclusiveMaximum && value === maximum))) {
    faults = [...faults, `less than ${exclusiveMaximum ? '' : 'or equal to '}${numeral(maximum)}`]
  }
  return faults
}

/** Between fractions, the last digits of the quotient are forgiven: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, factor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(factor)) return value % factor === 0
  const quotient = value / factor
  return Math.abs(quotient - Math.round(quotient)) <= Math.max(1e-9, Math.abs(quotient) * 2 ** -50)
}
