import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nanosPerOne, parseQuantity } from '../../../shared/model/quantity.ts'

describe('a quantity', () => {
  it.each([
    ['0', 0n],
    ['1', 1_000_000_000n],
    ['-1', -1_000_000_000n],
    ['+1', 1_000_000_000n],
    ['1.5', 1_500_000_000n],
    ['1.', 1_000_000_000n],
    ['.5', 500_000_000n],
    ['-.25', -250_000_000n],
    ['1n', 1n],
    ['1u', 1_000n],
    ['100m', 100_000_000n],
    ['1k', 10n ** 12n],
    ['1M', 10n ** 15n],
    ['1G', 10n ** 18n],
    ['1T', 10n ** 21n],
    ['1P', 10n ** 24n],
    ['1E', 10n ** 27n],
    ['1Ki', 1_024n * nanosPerOne],
    ['1Mi', (1n << 20n) * nanosPerOne],
    ['1Gi', (1n << 30n) * nanosPerOne],
    ['1Ti', (1n << 40n) * nanosPerOne],
    ['1Pi', (1n << 50n) * nanosPerOne],
    ['1Ei', (1n << 60n) * nanosPerOne],
    ['1.5Gi', (3n << 29n) * nanosPerOne],
    ['1e3', 10n ** 12n],
    ['1E-3', 1_000_000n],
    ['12.5e+1', 125_000_000_000n],
    ['1e0', 1_000_000_000n],
    // Rounded up, away from zero.
    ['0.1n', 1n],
    ['-0.1n', -1n],
    ['1.1n', 2n],
    ['0.0000000001', 1n],
    ['1e-10', 1n],
    ['0'.repeat(99) + '1', 1_000_000_000n],
  ])('%s is %d thousand-millionths', (text, nanos) => {
    expect(parseQuantity(text)).toBe(nanos)
  })

  it.each(['', '.', '-', 'k', '1x', '1ki', '1K', '1 k', '1e', '1e100', '1.2.3', '1Kii', '0'.repeat(100) + '1'])(
    'is none of %j',
    (text) => {
      expect(parseQuantity(text)).toBeUndefined()
    },
  )

  it('is the same in smaller units', () => {
    fc.assert(
      fc.property(fc.integer(), (count) => {
        expect(parseQuantity(`${count}000m`)).toBe(parseQuantity(`${count}`))
        expect(parseQuantity(`${count}k`)).toBe(parseQuantity(`${count}e3`))
      }),
    )
  })
})
