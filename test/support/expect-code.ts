import { expect } from 'vitest'
import { OperatingError, type ErrorCode } from '../../shared/model/errors.ts'

/** Expects a rejection with this code; returns the error. */
export async function expectCode(outcome: unknown, code: ErrorCode): Promise<OperatingError> {
  const error = await Promise.resolve(outcome).then(
    () => 'it succeeded',
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(OperatingError)
  expect(error).toMatchObject({ code })
  return error as OperatingError
}
