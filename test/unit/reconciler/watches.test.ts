import { expect, it } from 'vitest'
import { toMappedWatch, referenceWatch } from '../../../shared/reconciler/watches.ts'
import { ConfigMap, mapped, Namespace, reference, type ApiObject } from '../../../shared/index.ts'

/** Names come from what users write, and become keys. */
const object: ApiObject = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' },
}
const impossible = ['a/b', '', 'x'.repeat(254), undefined, 5, {}].map((name) => ({ name: name as string }))

const possible = { group: '', kind: 'ConfigMap', namespace: 'n', name: 'a' }

it.each(impossible)('a reference to what no object can be called, %j, is none', (given) => {
  const { targets } = referenceWatch(reference(ConfigMap, () => [given, { name: 'a' }]))
  expect(targets(object)).toEqual([possible])
})

it.each([{ namespace: 'a/b' }, { namespace: 5 as unknown as string }])('nor one into no namespace, %j', (given) => {
  const { targets } = referenceWatch(reference(ConfigMap, () => [{ name: 'a', ...given }, { name: 'a' }]))
  expect(targets(object)).toEqual([possible])
})

it.each(impossible)('nothing maps to an object that cannot be called %j', (given) => {
  const kind = { group: '', version: 'v1', kind: 'ConfigMap', namespaced: true }
  const { primaries } = toMappedWatch(
    kind,
    mapped(ConfigMap, () => given),
  )
  expect(primaries(object)).toEqual([])
})

it.each([
  ['no reference', ConfigMap, undefined, []],
  ['none of several', ConfigMap, [], []],
  ['one', ConfigMap, { name: 'a' }, [possible]],
  ['one of the longest names', ConfigMap, { name: 'x'.repeat(253) }, [{ ...possible, name: 'x'.repeat(253) }]],
  ['one of another namespace', ConfigMap, { name: 'a', namespace: 'm' }, [{ ...possible, namespace: 'm' }]],
  ['one of the cluster', Namespace, { name: 'a' }, [{ ...possible, kind: 'Namespace', namespace: '' }]],
])('%s is followed', (_what, kind, given, keys) => {
  const { targets } = referenceWatch(reference<ApiObject>(kind as never, () => given))
  expect(targets(object)).toEqual(keys)
})

it.each([[null], [[null, { name: 'a' }, undefined]]])('what is left out, %j, is no reference', (given) => {
  const { targets } = referenceWatch(reference(ConfigMap, () => given as never))
  expect(targets(object)).toEqual(given === null ? [] : [possible])
})

it.each([
  ['a text', 'a', '"a"'],
  ['texts', ['a'], '"a"'],
  ['a number', 5, '5'],
  ['a promise', Promise.resolve({ name: 'a' }), 'a promise'],
  ['a set', new Set([{ name: 'a' }]), 'Set'],
])('%s is refused where an object is to be named', (_what, given, said) => {
  const { targets } = referenceWatch(reference(ConfigMap, () => given as never))
  expect(() => targets(object)).toThrow(`a watch names objects as { name }, one or a list of them, and not as ${said}`)
})

it('of a long text a hundred characters are told where an object is to be named', () => {
  const { targets } = referenceWatch(reference(ConfigMap, () => 'x'.repeat(200) as never))
  expect(() => targets(object)).toThrow(/not as "x{99}$/)
})
