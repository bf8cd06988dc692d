import { describe, expect, it } from 'vitest'
import { UnpreparedError } from '../../../shared/model/conversion.ts'
import { InvariantError, OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { awaitConversions, convertAhead, convertIfPossible } from '../../../shared/resources/await-conversion.ts'

const object = { metadata: { name: 'a' } } as unknown as ApiObject
type Prepare = (objects: readonly ApiObject[], version: string) => Promise<void>

function kindOf(prepare?: Prepare): ServedKind {
  return { version: 'v2', conversion: { ...(prepare && { prepare }) } } as unknown as ServedKind
}

describe('a step that needs conversions', () => {
  it('is made at once where nobody is asked', () => {
    expect(awaitConversions({} as ServedKind, () => 1)).toBe(1)
    expect(awaitConversions(kindOf(), () => 1)).toBe(1)
  })

  it.each([
    [0, 1],
    [1, 2],
    [99, 100],
  ])('that lacks %d is made %d times', async (lacks, times) => {
    let made = 0
    const prepared: string[] = []
    const kind = kindOf(async ([one], version) => void prepared.push(`${one?.metadata.name} ${version}`))
    const make = (): string => {
      if (made++ < lacks) throw new UnpreparedError(object, 'v1')
      return 'made'
    }
    expect(await awaitConversions(kind, make)).toBe('made')
    expect([made, prepared]).toEqual([times, Array<string>(lacks).fill('a v1')])
  })

  it('that lacks more than there can be is a slip, and others are thrown as they are', async () => {
    const kind = kindOf(async () => {})
    let made = 0
    const lacking = (): never => {
      made++
      throw new UnpreparedError(object, 'v1')
    }
    await expect(awaitConversions(kind, lacking)).rejects.toThrow(InvariantError)
    expect(made).toBe(100)
    const slip = new TypeError('a bug')
    const broken = (): never => {
      throw slip
    }
    await expect(awaitConversions(kind, broken)).rejects.toBe(slip)
  })
})

describe('objects converted ahead', () => {
  it('are given to who converts, for the version of the kind', async () => {
    const asked: unknown[] = []
    await convertAhead(
      kindOf(async (...given) => void asked.push(given)),
      [{ object, engine: {} }],
    )
    expect(asked).toEqual([[[object], 'v2']])
    await convertAhead({} as ServedKind, [{ object, engine: {} }])
  })

  it.each([
    ['cannot be converted', new OperatingError('CONVERSION_FAILED', 'no'), true],
    ['nobody could look at', new OperatingError('UNAVAILABLE', 'away'), false],
  ])('may stay as they are where they %s: %j', async (_what, error, may) => {
    const kind = kindOf(() => Promise.reject(error))
    await expect(convertAhead(kind, [])).rejects.toBe(error)
    const tried = convertIfPossible(kind, [])
    if (may) await expect(tried).resolves.toBeUndefined()
    else await expect(tried).rejects.toBe(error)
  })
})
