import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isVerifierOf, scramVerifier } from '../../../functions/reconcilers/postgres/scram.ts'
import { share } from '../../support/strength.ts'

const password = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 })

describe('a verifier', () => {
  it('is of its password and of no other', async () => {
    await fc.assert(
      fc.asyncProperty(password, password, async (one, other) => {
        const verifier = await scramVerifier(one)
        expect(await isVerifierOf(verifier, one)).toBe(true)
        expect(await isVerifierOf(verifier, other)).toBe(one === other)
      }),
      { numRuns: share(20) },
    )
  })

  const others = [
    { stored: null, because: 'a role may have no password' },
    { stored: 'md5a3556571e93b0d20722ba62be61e8c2d', because: 'an older form proves nothing' },
    { stored: 'SCRAM-SHA-256$4096:c2FsdA==$', because: 'it is cut off' },
    { stored: 'SCRAM-SHA-256$4294967297:c2FsdA==$a:b', because: 'nobody can count so many rounds' },
  ]

  it.each(others)('is not found in $stored: $because', async ({ stored }) => {
    expect(await isVerifierOf(stored, 'secret')).toBe(false)
  })
})
