import { describe, expect, it } from 'vitest'
import { OperatingError, type ErrorCode } from '../../../shared/model/errors.ts'
import { isOvertakenWrite, newestTriesMax, onNewest } from '../../../shared/model/on-newest.ts'

/** Fails so often with a code, then gives the number of the try. */
async function triesAfter(failures: number, code: ErrorCode, isConflict?: (error: unknown) => boolean) {
  let calls = 0
  const attempt = async (tries: number): Promise<number> => {
    calls++
    if (tries <= failures) throw new OperatingError(code, 'no')
    return tries
  }
  const result = await onNewest(attempt, isConflict && { isConflict }).catch(
    (error: unknown) => (error as OperatingError).code,
  )
  return { calls, result }
}

describe('onNewest', () => {
  it('tries again while another writer is ahead', async () => {
    expect(await triesAfter(0, 'VERSION_CONFLICT')).toEqual({ calls: 1, result: 1 })
    expect(await triesAfter(3, 'VERSION_CONFLICT')).toEqual({ calls: 4, result: 4 })
  })

  it('gives up after its tries, with the error of the store', async () => {
    expect(await triesAfter(99, 'VERSION_CONFLICT')).toEqual({ calls: newestTriesMax, result: 'VERSION_CONFLICT' })
  })

  it('gives up after ten tries, with the error in the words of who asked', async () => {
    const errors: unknown[] = []
    const reword = (error: unknown): unknown => {
      errors.push(error)
      return new Error('reworded')
    }
    let calls = 0
    const attempt = (): never => {
      calls++
      throw new OperatingError('VERSION_CONFLICT', 'no')
    }
    await expect(onNewest(attempt, { reword })).rejects.toThrow('reworded')
    expect([calls, errors.length]).toEqual([10, 1])
  })

  it('throws every other error at once', async () => {
    expect(await triesAfter(99, 'UNAVAILABLE')).toEqual({ calls: 1, result: 'UNAVAILABLE' })
    expect(await triesAfter(99, 'NOT_FOUND')).toEqual({ calls: 1, result: 'NOT_FOUND' })
    expect(await triesAfter(1, 'NOT_FOUND', isOvertakenWrite)).toEqual({ calls: 2, result: 2 })
    expect(await triesAfter(1, 'VERSION_CONFLICT', () => false)).toEqual({ calls: 1, result: 'VERSION_CONFLICT' })
  })
})
