import { describe, expect, it } from 'vitest'
import { isSelected, selectionOf, type Selection } from '../../../shared/api/selection.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { callOf, plainKind } from './called.ts'
import { endOf } from './end-of.ts'

const kind = { ...plainKind, selectableFields: ['spec.color'] }
const path = '/apis/g.dev/v1/namespaces/n/ks'

function selected(query: string, of = kind): Selection {
  return selectionOf(callOf(`GET ${path}?${query}`, { kind: of }))
}

describe('a selection', () => {
  it.each([
    ['', { name: undefined, selector: undefined, isMutable: false }],
    ['labelSelector=&fieldSelector=', { name: undefined, selector: undefined, isMutable: false }],
    ['labelSelector=a', { name: undefined, isMutable: true }],
    ['fieldSelector=metadata.name%3Dx', { name: 'x', isMutable: false }],
    ['fieldSelector=metadata.name!%3Dx', { name: undefined, isMutable: false }],
    ['fieldSelector=metadata.namespace%3Dn', { name: undefined, isMutable: false }],
    ['fieldSelector=spec.color%3Dred', { name: undefined, isMutable: true }],
    ['fieldSelector=metadata.name%3Dx,spec.color%3Dred', { name: 'x', isMutable: true }],
    ['labelSelector=a&fieldSelector=metadata.name%3Dx', { name: 'x', isMutable: true }],
  ])('by %j', (query, selection) => {
    expect(selected(query)).toMatchObject({ namespace: 'n', ...selection })
  })

  it('of objects of the cluster is of no namespace', () => {
    expect(selected('', { ...kind, namespaced: false }).namespace).toBe('')
  })

  it.each([
    [`labelSelector=${'a'.repeat(4_097)}`, 'BAD_REQUEST: labelSelector is longer than 4096 characters'],
    [`fieldSelector=${'a'.repeat(4_097)}`, 'BAD_REQUEST: fieldSelector is longer than 4096 characters'],
    [
      'fieldSelector=spec.size%3D1',
      'BAD_REQUEST: field label not supported: spec.size; supported: metadata.name, metadata.namespace, spec.color',
    ],
  ])('by %.30s… is refused', (query, why) => {
    expect(endOf(() => selected(query))).toBe(why)
  })

  it('may be as long as 4,096 characters', () => {
    const names = Array.from({ length: 16 }, (_, i) => `${'a'.repeat(60)}${10 + i}`).join(',')
    const text = `k in (${names},${'b'.repeat(62)},${'c'.repeat(40)})`
    const query = new URLSearchParams({ labelSelector: text.padEnd(4_096) })
    expect(endOf(() => selected(String(query)))).toMatchObject({ isMutable: true })
  })
})

describe('an object', () => {
  const object = (namespace: string, color: string, labels = {}) =>
    ({ metadata: { name: 'x', namespace, labels }, spec: { color } }) as unknown as ApiObject
  const red = object('n', 'red', { a: '1' })
  it.each([
    ['', red, true],
    ['', object('m', 'red'), false],
    ['labelSelector=a', red, true],
    ['labelSelector=b', red, false],
    ['fieldSelector=spec.color%3Dred', red, true],
    ['fieldSelector=spec.color%3Dblue', red, false],
    ['labelSelector=a&fieldSelector=spec.color%3Dred', red, true],
    ['labelSelector=b&fieldSelector=spec.color%3Dred', red, false],
    ['labelSelector=a&fieldSelector=spec.color%3Dblue', red, false],
    ['labelSelector=a', object('m', 'red', { a: '1' }), false],
  ])('by %j: %j is selected: %s', (query, one, is) => {
    expect(isSelected(selected(query), one)).toBe(is)
  })

  it('of any namespace is selected where none is named', () => {
    const all = selectionOf(callOf('GET /apis/g.dev/v1/ks', { kind }))
    expect([isSelected(all, red), isSelected(all, object('m', 'red'))]).toEqual([true, true])
  })
})
