import { describe, expect, it } from 'vitest'
import { checkMetadata, writableMetadata } from '../../../shared/resources/metadata.ts'

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

describe('an owner reference', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u' }

  it.each([
    { apiVersion: 5 },
    { kind: {} },
    { name: ['a'] },
    { uid: true },
    { controller: 'true' },
    { blockOwnerDeletion: 1 },
  ])('is refused with a field of another type: %j', (field) => {
    const body = { metadata: { ownerReferences: [{ ...owner, ...field }] } }
    expect(() => writableMetadata(body)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
  })

  it('may say null for what it leaves out', () => {
    const references = [{ ...owner, controller: null }]
    expect(writableMetadata({ metadata: { ownerReferences: references } })).toEqual({ ownerReferences: references })
  })

  it('is no longer than what it names can be, since it becomes a key', () => {
    const references = [{ ...owner, name: 'a'.repeat(254) }]
    expect(checkMetadata({ ...meta, ownerReferences: references })).toMatchObject([
      { field: 'metadata.ownerReferences[0].name', reason: 'FieldValueTooLong' },
    ])
  })
})
