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

  it('is of its own version, and its owners own by its names', () => {
    const owners = [
      {
        manager: 'm',
        apiVersion: 'notes.dev/v1',
        fieldsV1: { '.': {}, 'f:content': { 'f:content': {} }, 'k:content': {} },
      },
      { manager: 'n', fieldsV1: 5 },
      'odd',
    ]
    const body = { apiVersion: 'notes.dev/v1', content: 'x', metadata: { name: 'a', managedFields: owners } }
    const shown = toTwin(body as never, twin, one) as unknown
    expect(shown).toEqual({
      apiVersion: 'v1',
      text: 'x',
      metadata: {
        name: 'a',
        managedFields: [
          { manager: 'm', apiVersion: 'v1', fieldsV1: { '.': {}, 'f:text': { 'f:content': {} }, 'k:content': {} } },
          { manager: 'n', apiVersion: 'v1', fieldsV1: 5 },
          'odd',
        ],
      },
    })
    const bare = { content: 'x', metadata: { name: 'a' } }
    expect(toTwin(bare as never, twin, one)).toStrictEqual({ text: 'x', metadata: { name: 'a' } })
    expect(toTwin({ metadata: 5 } as never, twin, one)).toStrictEqual({ metadata: 5 })
  })

  it('has no field of its own name for what is found in several places', () => {
    const selectedAt = { 'about.name': ['about.name', 'text'] }
    const twice = twinOf({ ...one, selectedAt }, 'notes.dev', { content: 'text' })
    expect(twice.selectableFields).toEqual(['content'])
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
    { given: { op: 'add', path: '/x', value: { content: 1 } }, is: { op: 'add', path: '/x', value: { content: 1 } } },
    { given: { op: 'add', path: '', value: 'content' }, is: { op: 'add', path: '', value: 'content' } },
  ])('translates the operation $given', ({ given, is }) => {
    expect(operationToTwin(given, twin, one)).toEqual(is)
  })
})
