import { OperatingError } from '../../../shared/model/errors.ts'

/** What a call comes to: what it gives, or in which words it is refused. */
export function endOf(work: () => unknown): unknown {
  try {
    const value = work()
    return value instanceof Promise ? value.catch(wordsOf) : value
  } catch (error) {
    return wordsOf(error)
  }
}

function wordsOf(error: unknown): unknown {
  return error instanceof OperatingError ? `${error.code}: ${error.message}` : error
}
