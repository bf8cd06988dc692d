import { describe, expect, it } from 'vitest'
import { checkMetadata } from '../../../shared/resources/metadata.ts'

/** What Kubernetes says of the keys of labels and annotations (`IsQualifiedName` in its apimachinery). */
const characters = "name part must consist of alphanumeric characters, '-', '_' or '.'"
const meta = { name: 'a', uid: '', resourceVersion: '', generation: 1, creationTimestamp: '' }

describe.each(['labels', 'annotations'] as const)('a key in %s', (field) => {
  function messages(key: string): readonly string[] {
    return checkMetadata({ ...meta, [field]: { [key]: 'v' } }).map(({ message }) => message)
  }

  it.each(['a', 'x'.repeat(63), `example.com/${'x'.repeat(63)}`, `${'a'.repeat(253)}/x`, 'A_b.c-D'])(
    'may be %s',
    (key) => {
      expect(messages(key)).toEqual([])
    },
  )

  it.each([
    { key: 'x'.repeat(64), says: ['name part must be no more than 63 characters'] },
    { key: `example.com/${'x'.repeat(64)}`, says: ['name part must be no more than 63 characters'] },
    { key: `${'a'.repeat(254)}/x`, says: ['prefix part must be no more than 253 characters'] },
    { key: 'a b', says: [characters] },
    { key: '', says: [characters] },
    { key: `${'x'.repeat(64)}!`, says: ['name part must be no more than 63 characters', characters] },
  ])('may not be $key', ({ key, says }) => {
    expect(messages(key)).toEqual(says.map((text) => expect.stringContaining(text)))
  })
})
