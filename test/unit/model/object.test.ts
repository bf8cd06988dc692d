import { expect, it } from 'vitest'
import { hideGeneration } from '../../../shared/model/hide-generation.ts'
import { objectText, parseObjectText } from '../../../shared/model/object-text.ts'
import { apiVersionOf, controllerOf, isDeleting, parseApiVersion } from '../../../shared/model/object.ts'
import { defineBuiltInKind, storedAs, workVersionOf } from '../../../shared/model/served-kind.ts'
import { touches, wakesItself, withVersion, type Part } from '../../../shared/model/stored-object.ts'
import { twinOf } from '../../../shared/model/twin.ts'
import { storedWidget } from '../../support/stored-object.ts'

it.each([
  ['v1', '', 'v1'],
  ['apps/v1', 'apps', 'v1'],
  ['a.dev/v1beta1', 'a.dev', 'v1beta1'],
])('the apiVersion %s is of group %j and version %s', (apiVersion, group, version) => {
  expect(parseApiVersion(apiVersion)).toEqual({ group, version })
  expect(apiVersionOf(group, version)).toBe(apiVersion)
})

it('a version behind a slash alone is of no group', () => {
  expect(parseApiVersion('/v1')).toEqual({ group: '', version: 'v1' })
})

it.each([
  [undefined, undefined],
  [[], undefined],
  [[{ name: 'a' }, { name: 'b', controller: false }], undefined],
  [[{ name: 'a' }, { name: 'b', controller: true }], 'b'],
])('of the owners %j the controller is %j', (owners, name) => {
  const ownerReferences = owners?.map((owner) => ({ apiVersion: 'v1', kind: 'K', uid: 'u', ...owner }))
  const { object } = storedWidget('w', ownerReferences && { ownerReferences })
  expect(controllerOf(object)?.name).toBe(name)
})

it('an object is being deleted from the moment that somebody asked', () => {
  expect(isDeleting(storedWidget('w').object)).toBe(false)
  expect(isDeleting(storedWidget('w', { deletionTimestamp: '' }).object)).toBe(true)
})

it('the text of an object is made once', () => {
  const { object } = storedWidget('w')
  const text = objectText(object)
  expect(JSON.parse(text)).toEqual(object)
  Object.assign(object, { kind: 'Changed' })
  expect(objectText(object)).toBe(text)
  const spaced = ` ${text}`
  expect(objectText(parseObjectText(spaced))).toBe(spaced)
})

it.each<[Part, boolean]>([
  ['spec', true],
  ['labels', true],
  ['annotations', true],
  ['control', true],
  ['meta', true],
  ['delete', true],
  ['fields', false],
  ['status', false],
  ['engine', false],
  ['timer', false],
])('a write that touches %s wakes the own controller: %s', (part, wakes) => {
  expect([wakesItself([part]), wakesItself(['fields', part]), wakesItself([])]).toEqual([wakes, wakes, false])
  expect([touches([part], part, 'spec'), touches([part])]).toEqual([true, false])
})

it('a version is written into a copy', () => {
  const stored = storedWidget('w')
  const { object, engine } = withVersion(stored, 7)
  const metadata = { ...stored.object.metadata, resourceVersion: '7' }
  expect([object, engine]).toEqual([{ ...stored.object, metadata }, stored.engine])
})

const kind = defineBuiltInKind({ group: '', kind: 'Note', plural: 'notes', namespaced: true, schema: {} })

it('a kind that comes with the control plane has what most of them have', () => {
  expect(kind).toEqual({
    group: '',
    version: 'v1',
    storageVersion: 'v1',
    kind: 'Note',
    listKind: 'NoteList',
    plural: 'notes',
    singular: 'note',
    shortNames: [],
    categories: [],
    namespaced: true,
    schema: {},
    hasStatus: false,
    columns: [],
    selectableFields: [],
    builtIn: true,
  })
  const twin = twinOf(kind, 'notes.dev', {})
  expect([storedAs(kind), storedAs(twin).group]).toEqual([kind, ''])
  const older = { ...kind, version: 'v1', storageVersion: 'v2' }
  expect([workVersionOf(older), workVersionOf({ ...older, conversion: {} as never })]).toEqual(['v2', 'v1'])
})

it.each([
  ['is shown', {}, {}, true],
  ['is hidden', { hidesGeneration: true as const }, {}, false],
  [
    'is hidden, and an owner that looks like it is shown',
    { hidesGeneration: true as const },
    { ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'o', uid: 'u', generation: 1 } as never] },
    false,
  ],
])('a generation %s', (_how, hides, metadata, isShown) => {
  const { object } = storedWidget('w')
  const { generation, ...others } = object.metadata
  const whole = { ...object, metadata: { ...others, ...metadata, generation, labels: { a: ',"generation":1' } } }
  const text = JSON.stringify({ cells: [1], object: whole })
  const shown = JSON.parse(hideGeneration(text, { ...kind, ...hides }, whole)) as unknown
  const hidden = { ...object, metadata: { ...others, ...metadata, labels: { a: ',"generation":1' } } }
  expect(shown).toEqual({ cells: [1], object: isShown ? whole : hidden })
  expect(hideGeneration('{}', { ...kind, ...hides }, whole)).toBe('{}')
})
