import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileJsonPath } from '../../../shared/model/json-path.ts'
import { processorMs } from '../../support/processor-time.ts'
import type { Json } from '../../../shared/model/json.ts'
import { share } from '../../support/strength.ts'

const object = {
  metadata: { name: 'demo', labels: { 'app.kubernetes.io/name': 'x', tier: 'front' } },
  spec: {
    replicas: 3,
    ports: [
      { name: 'http', port: 80, tls: false },
      { name: 'https', port: 443, tls: true },
      { name: 'admin', port: 9000, hosts: ['a', 'b'] },
    ],
    none: null,
    empty: [],
    'a b': 1,
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', reason: "it's so" },
      { type: 'Stalled', status: 'False' },
    ],
  },
}

interface Row {
  readonly path: string
  readonly values: readonly Json[]
}

/** Compared with client-go's `util/jsonpath` 0.32, which kubectl and the table convertor use. */
const rows: readonly Row[] = [
  { path: '.spec.replicas', values: [3] },
  { path: '$.spec.replicas', values: [3] },
  { path: '.spec.nope.deeper', values: [] },
  { path: '.spec.none', values: [null] },
  { path: '.spec.none.deeper', values: [] },
  { path: '.spec.constructor', values: [] },
  { path: '.spec.a\\ b', values: [1] },
  { path: '.', values: [object] },
  { path: ".metadata.labels['app\\.kubernetes\\.io/name']", values: ['x'] },
  { path: '.metadata.labels.app\\.kubernetes\\.io/name', values: ['x'] },
  { path: ".metadata.labels['app.kubernetes.io/name']", values: [] },
  { path: ".metadata['labels']['tier']", values: ['front'] },
  { path: ".metadata.labels['tier','tier']", values: ['front', 'front'] },
  { path: '.spec.ports[0].name', values: ['http'] },
  { path: '.spec.ports[-1].name', values: ['admin'] },
  { path: '.spec.ports[7].name', values: [] },
  { path: '.spec.empty[0]', values: [] },
  { path: '.spec.replicas[0]', values: [] },
  { path: '.spec.ports[*].port', values: [80, 443, 9000] },
  { path: '.spec.ports.*.port', values: [80, 443, 9000] },
  { path: '.spec.ports[0,2].port', values: [80, 9000] },
  { path: '.spec.ports[1:].port', values: [443, 9000] },
  { path: '.spec.ports[:-1].port', values: [80, 443] },
  { path: '.spec.ports[::2].port', values: [80, 9000] },
  { path: '.metadata.labels.*', values: ['x', 'front'] },
  { path: '..port', values: [80, 443, 9000] },
  { path: '.spec..hosts[*]', values: ['a', 'b'] },
  { path: '.status.conditions[?(@.type=="Ready")].status', values: ['True'] },
  { path: ".status.conditions[?(@.type=='Ready')].status", values: ['True'] },
  { path: '.status.conditions[?(@.type != "Ready")].status', values: ['False'] },
  { path: '.status.conditions[?(@.reason=="it\'s so")].type', values: ['Ready'] },
  { path: '.spec.ports[?(@.port>=443)].name', values: ['https', 'admin'] },
  { path: '.spec.ports[?(443>@.port)].name', values: ['http'] },
  { path: '.spec.ports[?(@.name<"http")].name', values: ['admin'] },
  { path: '.spec.ports[?(@.tls==true)].name', values: ['https'] },
  { path: '.spec.ports[?(@.hosts)].name', values: ['admin'] },
  { path: '.spec.ports[?(@.hosts[0]=="a")].name', values: ['admin'] },
  { path: '.spec.ports[?(@.nope=="")].name', values: [] },
  { path: '.spec.ports[?(@.nope!="")].name', values: [] },
  { path: '.spec.ports[?(@.hosts!="a")].name', values: [] },
  { path: '.spec.ports[?(@.name!=@.hosts)].name', values: [] },
  { path: '.spec.ports[?(@.tls!=@.tls)].name', values: [] },
  { path: '.spec.ports[?(@.name!=@.hosts[*])].name', values: [] },
  { path: '.spec.ports[?(@.port=="80")].name', values: [] },
  { path: '.spec[?(@.port==80)]', values: [] },
  { path: '.spec.ports[?(@.port<=443)].name', values: ['http', 'https'] },
  { path: '.spec.ports[?(@.port<443)].name', values: ['http'] },
  { path: '.spec.ports[?(@.port>443)].name', values: ['admin'] },
  { path: '.spec.ports[?(@.name>"http")].name', values: ['https'] },
  { path: '.spec.ports[?(@.port>"8")].name', values: [] },
  { path: '.spec.ports[?(@.tls<true)].name', values: [] },
  { path: '.spec.ports[?(@.hosts[*]!="x")].name', values: [] },
  { path: '.spec.ports[ 0 ].name', values: ['http'] },
  { path: ".metadata[ 'name' ]", values: ['demo'] },
  { path: ".metadata[ 'name' , 'nope' ]", values: ['demo'] },
  { path: '.spec.replicas[0:]', values: [] },
  { path: '.metadata.name[0:1]', values: [] },
  { path: '..[1].port', values: [443] },
  { path: '$', values: [object] },
  { path: "['spec'].replicas", values: [3] },
]

describe('a JSON path', () => {
  it.each(rows)('$path leads to $values', ({ path, values }) => {
    expect(compileJsonPath(path)(object)).toEqual(values)
  })

  const faults = [
    { path: '', message: 'at 1: a path begins with a dot' },
    { path: 'spec', message: 'at 1: a path begins with a dot' },
    { path: '.spec.', message: 'at 7: expected the name of a field' },
    { path: '.spec..', message: 'at 8: expected the name of a field' },
    { path: '...spec', message: 'at 3: expected a name after ".."' },
    { path: '.spec[', message: 'at 7: expected a position, a slice, "*" or a name in quotes' },
    { path: '.spec[a]', message: 'at 7: expected a position' },
    { path: '.spec["a"]', message: "names in brackets stand in single quotes: ['name']" },
    { path: ".spec['a'", message: 'at 10: expected "]"' },
    { path: ".spec['a", message: 'expected a closing quote' },
    { path: ".spec['a b']", message: 'a b is no name of a field' },
    { path: '.spec[0:1:0]', message: 'the step of a slice must be above 0' },
    { path: '.spec[?(@.a=1)]', message: 'expected one of == != < <= > >=, not =' },
    { path: '.spec[?(@.a==)]', message: 'expected a value, or a path that begins with "@"' },
    { path: '.spec[?(@.a=="x)]', message: 'expected a closing quote' },
    { path: '.spec[?(@.a==1]', message: 'expected ")]"' },
    { path: '.spec{', message: 'at 6: expected a dot or "["' },
    { path: '.spec[?('.repeat(200), message: 'a path has at most 1000 characters' },
  ]

  it.each(faults)('$path is refused: $message', ({ path, message }) => {
    expect(() => compileJsonPath(path)).toThrow(SyntaxError)
    expect(() => compileJsonPath(path)).toThrow(message)
  })

  it('takes signs of comparisons for parts of names, but in filters', () => {
    const odd = { 'a=b': 1, 'c!(d)': [{ e: 2 }] }
    const paths = ['.a=b', "['a=b']", '.c!(d)[0].e', '.c!(d)[?(@.e==2)].e']
    expect(paths.map((path) => compileJsonPath(path)(odd))).toEqual([[1], [1], [2], [2]])
  })

  it('has a thousand characters at most', () => {
    const longest = `.${'a'.repeat(999)}`
    expect(compileJsonPath(longest)({ [longest.slice(1)]: 1 })).toEqual([1])
    expect(() => compileJsonPath(`${longest}a`)).toThrow('a path has at most 1000 characters')
  })

  const numbers = Array.from({ length: 1_001 }, (_, i) => i)
  const many = { list: numbers, map: Object.fromEntries(numbers.map((i) => [`n${i}`, i])), gone: undefined }
  it.each([
    ['.list[*]', 1_000],
    ['.list[0:1000]', 1_000],
    ['.list[0:]', 1_000],
    ['.list[::2]', 501],
    ['.map.*', 1_000],
    ['.list[*]', 1_000],
    ['.*', 2],
  ])('%s finds so many values: %d', (path, count) => {
    const found = compileJsonPath(path)(many, { values: 10_000 })
    expect(found).toHaveLength(count)
    expect(found).not.toContain(undefined)
  })

  const small = { a: { b: 1 }, l: [1, 2, 3], d: { a: 4 } }
  it.each<[string, number, readonly Json[], readonly Json[]]>([
    ['.a.b', 2, [1], []],
    ['.l[*]', 3, [1, 2, 3], []],
    ['.l[0,1]', 4, [1, 2], [1]],
    ['.l[0:3:3]', 4, [1], [1]],
    ['.l[?(@>0)]', 5, [1, 2, 3], [1, 2]],
    ['.l[?(@>2)]', 5, [3], []],
    ['..b', 14, [1], [1]],
    ['.d..a', 5, [4], []],
  ])('a search by %s looks at %d values, and finds less where it may look at fewer', (path, cost, found, less) => {
    const search = (values: number) => {
      const work = { values }
      return { found: compileJsonPath(path)(small, work), left: work.values }
    }
    expect(search(cost)).toEqual({ found, left: 0 })
    expect(search(cost - 1).found).toEqual(less)
  })

  it('shares the work of several searches, of a thousand values if nobody says otherwise', () => {
    const work = { values: 3 }
    const path = compileJsonPath('.a.b')
    expect([path(small, work), path(small, work)]).toEqual([[1], []])
    const each = compileJsonPath('.l[*].x')
    const items = (count: number) => ({ l: Array.from({ length: count }, (_, i) => ({ x: i })) })
    expect([each(items(997)).length, each(items(998)).length]).toEqual([997, 997])
  })

  it('leaves no way to find very many values, nor to take long', () => {
    const deep: Json = JSON.parse(`${'{"a":['.repeat(1_000)}1${']}'.repeat(1_000)}`) as Json
    const tookMs = processorMs(() => expect(compileJsonPath('..*..*..*..*')(deep).length).toBeLessThanOrEqual(10_000))
    expect(tookMs).toBeLessThan(1_000)
  })

  it('either compiles and leads somewhere or is refused with a SyntaxError, whatever it is made of', () => {
    const part = fc.constantFrom(
      '.',
      '..',
      'a',
      'spec',
      '[',
      ']',
      '*',
      '0',
      '-1',
      ':',
      ',',
      "'",
      '"',
      '[?(',
      ')]',
      '@',
      '$',
      '==',
      '<',
      '\\',
      ' ',
      'true',
      '(',
      '{',
      'ä',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
          fc.string(),
        ),
        (path) => {
          expect(leads(path)).toBeTypeOf('boolean')
        },
      ),
      { numRuns: share(5_000) },
    )
  })
})

function leads(path: string): boolean {
  try {
    return compileJsonPath(path)(object).length > 0
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
