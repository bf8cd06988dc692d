import { describe, expect, it } from 'vitest'
import {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  matchesLabels,
  not,
  or,
  resourceVersionChanged,
  type ObservedChange,
  type Part,
  type Predicate,
} from '../../../shared/index.ts'

function change(type: ObservedChange['type'], touched: readonly Part[], labels: object = {}): ObservedChange<unknown> {
  return { type, touched, object: { metadata: { name: 'a', labels } } }
}

const parts: readonly Part[] = ['spec', 'delete', 'labels', 'annotations', 'control', 'meta', 'status', 'engine']

describe('a predicate', () => {
  it.each<[string, Predicate<unknown>, readonly Part[]]>([
    ['generationChanged', generationChanged, ['spec', 'delete']],
    ['labelsChanged', labelsChanged, ['labels']],
    ['annotationsChanged', annotationsChanged, ['annotations']],
    ['resourceVersionChanged', resourceVersionChanged, parts],
  ])('%s lets creation and removal pass, and its own parts', (_name, passes, own) => {
    expect([passes(change('added', ['spec'])), passes(change('removed', []))]).toEqual([true, true])
    expect(parts.filter((part) => passes(change('modified', [part])))).toEqual(own)
    expect(passes(change('modified', []))).toBe(own === parts)
  })

  it('of what is not lets creation and removal pass, too: an object that is never run waits for ever', () => {
    const passes = (type: 'added' | 'modified' | 'removed', ...touched: readonly ('spec' | 'labels')[]) =>
      not(labelsChanged)({ type, touched, object: {} })
    expect([passes('added', 'labels'), passes('removed', 'labels')]).toEqual([true, true])
    expect([passes('modified', 'labels'), passes('modified', 'spec')]).toEqual([false, true])
  })

  it('of labels looks at what they are now', () => {
    const passes = matchesLabels('app=web,!legacy')
    expect(passes(change('modified', ['status'], { app: 'web' }))).toBe(true)
    expect(passes(change('modified', ['labels'], { app: 'web', legacy: '' }))).toBe(false)
    expect(() => matchesLabels('app=(')).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
  })

  it.each([
    [[true, true], true, true],
    [[true, false], false, true],
    [[false, false], false, false],
    [[], true, false],
  ])('of %j: all %j, one of them %j', (given, all, one) => {
    const some = given.map((is) => () => is)
    const any = change('modified', [])
    expect([and(...some)(any), or(...some)(any)]).toEqual([all, one])
    expect(not(and(...some))(any)).toBe(!all)
  })
})
