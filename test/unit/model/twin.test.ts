import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineBuiltInKind } from '../../../shared/model/served-kind.ts'
import { operationToTwin, toTwin, twinOf } from '../../../shared/model/twin.ts'

const one = defineBuiltInKind({
  group: '',
  kind: 'Note',
  plural: 'notes',
  namespaced: true,
  selectableFields: ['text', 'about.name'],
  schema: { type: 'object', properties: { text: { type: 'string' }, about: { type: 'object' } } },
})
const other = twinOf(one, 'notes.dev', { content: 'text', regarding: 'about' })
const twin = other.twin ?? expect.fail('it is a twin')

describe('a twin', () => {
  it('has the names of its own group', () => {
    expect(other).toMatchObject({ group: 'notes.dev', selectableFields: ['content', 'regarding.name'] })
    expect(Object.keys(other.schema.properties ?? {})).toEqual(['content', 'regarding'])
  })

  it('says the same twice translated', () => {
    const field = fc.constantFrom('text', 'content', 'about', 'regarding', 'else')
    const body = fc.dictionary(field, fc.jsonValue()).map((fields) => ({ ...fields, apiVersion: 'v1' }) as never)
    fc.assert(
      fc.property(body, (given) => {
        expect(toTwin(toTwin(given, twin, other), twin, one)).toEqual(given)
      }),
    )
  })

  it.each([
    { given: { op: 'add', path: '/content', value: 1 }, is: { op: 'add', path: '/text', value: 1 } },
    { given: { op: 'move', from: '/regarding/a', path: '/x' }, is: { op: 'move', from: '/about/a', path: '/x' } },
    { given: { op: 'replace', path: '', value: { content: 1 } }, is: { op: 'replace', path: '', value: { text: 1 } } },
    { given: { op: 'test', path: '/metadata/content' }, is: { op: 'test', path: '/metadata/content' } },
    { given: { op: 'remove', path: 7 }, is: { op: 'remove', path: 7 } },
  ])('translates the operation $given', ({ given, is }) => {
    expect(operationToTwin(given, twin, one)).toEqual(is)
  })
})
