import { describe, expect, it } from 'vitest'
import type { ApiObject } from '../../../shared/model/object.ts'
import {
  fieldSelector,
  findSelectedFields,
  findSelectedName,
  labelSelector,
  requirementsMax,
} from '../../../shared/model/selector.ts'

function labelled(labels: Record<string, string>): ApiObject {
  const metadata = { name: 'a', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '', labels }
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec: { color: 'red, or so' } }
}

describe('a label selector', () => {
  const object = labelled({ app: 'web', 'example.com/tier': 'front', empty: '', rank: '7' })
  const rows: readonly { text: string; selects: boolean }[] = [
    { text: '', selects: true },
    { text: '  ', selects: true },
    { text: 'app', selects: true },
    { text: 'other', selects: false },
    { text: '!app', selects: false },
    { text: '! other', selects: true },
    { text: 'app=web', selects: true },
    { text: 'app==web', selects: true },
    { text: ' app = web ', selects: true },
    { text: 'app=api', selects: false },
    { text: 'app!=api', selects: true },
    { text: 'app!=web', selects: false },
    { text: 'other!=web', selects: true },
    { text: 'empty=', selects: true },
    { text: 'other=', selects: false },
    { text: 'app in (api, web)', selects: true },
    { text: 'app in(web)', selects: true },
    { text: 'app in (api)', selects: false },
    { text: 'app notin (api)', selects: true },
    { text: 'app notin (api,web)', selects: false },
    { text: 'other notin (web)', selects: true },
    { text: 'other in ()', selects: false },
    { text: 'empty in ()', selects: true },
    { text: 'app=web,example.com/tier in (front,back),!other', selects: true },
    { text: 'app=web,example.com/tier in (back)', selects: false },
    { text: 'in=web', selects: false },
    { text: 'rank>6', selects: true },
    { text: 'rank > 7', selects: false },
    { text: 'rank<8,rank>-1', selects: true },
    { text: 'rank<7', selects: false },
    { text: 'app>1', selects: false },
    { text: 'other<1', selects: false },
  ]
  it.each(rows)('$text: $selects', ({ text, selects }) => {
    expect(labelSelector(text)(object)).toBe(selects)
  })

  const refused = [
    '=',
    '=a',
    'a=b=c',
    'a b',
    'a in',
    'a in b',
    'a in (b',
    'a in b)',
    'a in ((b))',
    'a,',
    ',a',
    '!',
    '!a=b',
    '!!a',
    'a!b',
    'a=(b)',
    'a/b/c=d',
    'a>b',
    'a>',
    '>1',
    'a=b?c',
    '-a',
    `a=${'b'.repeat(64)}`,
    'a in (b?)',
    '-a in (b)',
    'a/b/c notin (d)',
    '!a/b/c',
  ]
  it.each(refused)('%j is refused', (text) => {
    expect(() => labelSelector(text)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
  })

  it('has a limit, since each requirement is held against each object', () => {
    const texts = Array.from({ length: requirementsMax + 1 }, (_, i) => `a${i}`)
    expect(() => labelSelector(texts.join())).toThrow('more than 100 requirements')
    expect(labelSelector(texts.slice(1).join())(object)).toBe(false)
  })
})

describe('a field selector', () => {
  const selectable = ['metadata.name', 'spec.color']
  it.each([
    { text: 'metadata.name=a', selects: true },
    { text: 'metadata.name==b', selects: false },
    { text: 'metadata.name != b , spec.color!=blue', selects: true },
    { text: 'metadata.name=a,spec.color=blue', selects: false },
    { text: 'spec.color=red\\, or so', selects: true },
    { text: 'spec.color!=red\\, or so', selects: false },
    { text: 'metadata.name=a,', selects: true },
  ])('$text: $selects', ({ text, selects }) => {
    expect(fieldSelector(text, { selectableFields: selectable })(labelled({}))).toBe(selects)
  })

  it.each([
    'metadata.name',
    'metadata.name in (a)',
    'spec.size=1',
    '=a',
    'a b=c',
    'metadata.name=a=b',
    'spec.color=a\\b',
  ])('%j is refused', (text) => {
    expect(() => fieldSelector(text, { selectableFields: selectable })).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST' }),
    )
  })
})

describe('a field that is looked for', () => {
  const object = labelled({})
  const whole = { ...object, spec: { ...object.spec, none: null, size: 3 } }
  const paths = ['spec.nope', 'spec.none', 'spec.size', 'spec.constructor', 'spec.color.length', 'spec.nope.deeper']
  it.each([
    ['spec.nope=', true],
    ['spec.none=', true],
    ['spec.none=null', false],
    ['spec.size=3', true],
    ['spec.constructor=', true],
    ['spec.color.length=', true],
    ['spec.nope.deeper=', true],
    ['spec.nope=undefined', false],
  ])('%s: %s', (text, selects) => {
    expect(fieldSelector(text, { selectableFields: paths })(whole)).toBe(selects)
  })

  it('is found at the first of its places that holds something', () => {
    const at = (...places: readonly string[]) => ({ selectableFields: ['x'], selectedAt: { x: places } })
    expect(fieldSelector('x=3', at('spec.none', 'spec.size', 'metadata.name'))(whole)).toBe(true)
    expect(fieldSelector('x=a', at('metadata.name', 'spec.size'))(whole)).toBe(true)
    expect(fieldSelector('x=', at('spec.none', 'spec.nope'))(whole)).toBe(true)
    expect(fieldSelector('x=', at())(whole)).toBe(true)
  })

  it.each([
    ['', []],
    ['a=b,c!=d', ['a', 'c']],
    [' a = b ', ['a']],
    ['=b', ['']],
  ])('in %j is %j', (text, fields) => {
    expect(findSelectedFields(text)).toEqual(fields)
  })

  it('is one of a hundred at most', () => {
    const text = (count: number): string => Array(count).fill('a=b').join()
    expect(findSelectedFields(text(100))).toHaveLength(100)
    expect(() => findSelectedFields(text(101))).toThrow('the selector has more than 100 requirements')
  })
})

it.each([
  [200, '"' + 'x'.repeat(200) + '"'],
  [201, '"' + 'x'.repeat(200) + '…"'],
])('what cannot be read is shown as far as 200 characters, of %d', (length, shown) => {
  const text = 'x'.repeat(length)
  expect(() => labelSelector(text)).toThrow(`unable to parse requirement: ${shown}`)
  expect(() => findSelectedFields(text)).toThrow(`invalid field selector: ${shown}`)
  const unknown = `field label not supported: ${'x'.repeat(200)}; supported: a, b`
  expect(() => fieldSelector(`${text}=1`, { selectableFields: ['a', 'b'] })).toThrow(unknown)
})

describe('the name that a field selector names', () => {
  it.each([
    ['metadata.name=a', 'a'],
    ['spec.color=red,metadata.name==a', 'a'],
    ['metadata.name!=a', undefined],
    ['spec.color=red\\,metadata.name\\=a', undefined],
    ['metadata.name', undefined],
    ['spec.color=red,metadata.name!=a', undefined],
    ['metadata.name=', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('of %j is %j', (text, name) => {
    expect(findSelectedName(text)).toBe(name)
  })
})
