import { type CompiledSchema, jsonType } from '../compiled-schema.ts'
import { fitsFormat, isInteger, numberFaults } from '../scalars.ts'
import { textLengthOf } from '../text-length.ts'
import { question, type Fit } from './fit.ts'

/** Whether a value is a text with the length, the pattern and the format that its schema asks for. */
export function fitText({ forString, matchesFormat }: CompiledSchema): Fit {
  const { minLength = 0, maxLength = Infinity, pattern } = forString ?? {}
  return (text, _old, run) => {
    if (typeof text !== 'string') return false
    if ((run.asks & question.valid) === 0) return true
    if (text.length > maxLength && textLengthOf(text) > maxLength) return false
    if (text.length < 2 * minLength && textLengthOf(text) < minLength) return false
    if (matchesFormat?.(text) === false) return false
    if (pattern === undefined) return true
    const { matches, stepsPerCharacter } = pattern()
    run.steps -= stepsPerCharacter * text.length
    return run.steps >= 0 && matches(text)
  }
}

/** Whether a value is a number of the type, the format and the range that its schema asks for. */
export function fitNumber({ types, format, forNumber }: CompiledSchema): Fit {
  const takesFractions = types === 0 || (types & jsonType.fraction) !== 0
  return (value, _old, run) => {
    if (typeof value !== 'number') return false
    if ((run.asks & question.valid) === 0) return true
    if (!takesFractions && !isInteger(value)) return false
    if (format !== undefined && !fitsFormat(value, format)) return false
    return forNumber === undefined || numberFaults(forNumber, value).length === 0
  }
}
