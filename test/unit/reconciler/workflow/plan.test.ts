import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createGraph, type Graph } from '../../../../shared/reconciler/workflow/graph.ts'
import {
  fatesAtTheEnd,
  fatesOf,
  nextNodes,
  type Fate,
  type NodeState,
  type Wish,
} from '../../../../shared/reconciler/workflow/plan.ts'

describe('a graph', () => {
  it('has its nodes in an order in which nothing comes before what it depends on', () => {
    const { names } = createGraph({ page: ['server'], server: ['config', 'secret'], config: [], secret: [] })
    expect(names).toEqual(['config', 'secret', 'server', 'page'])
  })

  const broken = [
    { dependsOn: { a: ['b'], b: ['c'], c: ['a'] }, says: 'a → b → c → a', because: 'a circle has no beginning' },
    { dependsOn: { a: ['a'] }, says: 'a → a', because: 'nothing waits for itself' },
    { dependsOn: { x: ['a'], a: ['b'], b: ['a'] }, says: 'circle: a → b → a', because: 'only the circle is named' },
    { dependsOn: { a: ['b'] }, says: 'shop: a depends on b', because: 'the other node is not there' },
    { dependsOn: { a: ['toString'] }, says: 'a depends on toString', because: 'what every object has is no node' },
  ]
  it.each(broken)('is refused: $because', ({ dependsOn, says }) => {
    expect(() => createGraph(dependsOn as unknown as Record<string, string[]>, 'shop')).toThrow(TypeError)
    expect(() => createGraph(dependsOn as unknown as Record<string, string[]>, 'shop')).toThrow(says)
  })
})

describe('the fate of a node', () => {
  const graph = createGraph({ config: [], server: ['config'], page: ['server'], other: [] })
  const rows: readonly {
    readonly wishes: Partial<Record<string, Wish>>
    readonly fates: string
    readonly because: string
  }[] = [
    { wishes: {}, fates: 'rrrr', because: 'all are wanted' },
    { wishes: { server: 'unwanted' }, fates: 'rddr', because: 'what depends on an unwanted node goes with it' },
    { wishes: { config: 'unwanted' }, fates: 'dddr', because: 'and what depends on that' },
    { wishes: { server: 'inactive' }, fates: 'r-dr', because: 'an inactive node is left alone, not what needs it' },
    { wishes: { server: 'unknown' }, fates: 'r-rr', because: 'nothing is deleted on a failed condition' },
    { wishes: { page: 'unwanted' }, fates: 'rrdr', because: 'nothing depends on it' },
  ]
  it.each(rows)('with $wishes: $because', ({ wishes, fates }) => {
    const found = fatesOf(
      graph,
      wishesFor(graph, (name) => wishes[name] ?? 'wanted'),
    )
    const letters = { reconcile: 'r', delete: 'd', none: '-' }
    expect(graph.names.map((name) => letters[found.get(name) ?? 'none']).join('')).toBe(fates)
  })
})

function wishesFor(graph: Graph, wish: (name: string) => Wish): ReadonlyMap<string, Wish> {
  return new Map(graph.names.map((name) => [name, wish(name)]))
}

/** Any graph of up to eight nodes: each depends on some of those before it. */
const graphs = fc
  .array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 1, maxLength: 8 })
  .map((rows) =>
    createGraph(
      Object.fromEntries(rows.map((row, i) => [`n${i}`, [...new Set(row.filter((j) => j < i))].map((j) => `n${j}`)])),
    ),
  )
const wished = fc.constantFrom<Wish>('wanted', 'wanted', 'wanted', 'unwanted', 'inactive', 'unknown')
const ends = fc.constantFrom('succeeds', 'succeeds', 'stays', 'fails')

/** Begins nodes in any order that is allowed, until none is left. */
function play(
  graph: Graph,
  { fates, wishes, endOf }: Play,
): { readonly order: readonly string[]; readonly states: ReadonlyMap<string, NodeState> } {
  const states = new Map<string, NodeState>()
  for (const [name, wish] of wishes) if (wish === 'inactive') states.set(name, 'inactive')
  for (const [name, wish] of wishes) if (wish === 'unknown') states.set(name, 'failed')
  const order: string[] = []
  for (let [name] = nextNodes(graph, fates, states); name !== undefined; [name] = nextNodes(graph, fates, states)) {
    order.push(name)
    const isDeleted = fates.get(name) === 'delete'
    const end = endOf(name)
    states.set(
      name,
      end === 'fails' ? 'failed' : end === 'stays' ? (isDeleted ? 'going' : 'notReady') : isDeleted ? 'gone' : 'ready',
    )
  }
  return { order, states }
}

interface Play {
  readonly fates: ReadonlyMap<string, Fate>
  readonly wishes: ReadonlyMap<string, Wish>
  readonly endOf: (name: string) => string
}

const plays = fc.tuple(
  graphs,
  fc.array(wished, { minLength: 8, maxLength: 8 }),
  fc.array(ends, { minLength: 8, maxLength: 8 }),
)

function ancestors(graph: Graph, name: string): readonly string[] {
  return graph.dependenciesOf(name).flatMap((one) => [one, ...ancestors(graph, one)])
}

describe('a pass', () => {
  it('makes and deletes in order, and is as complete as what failed allows', () => {
    fc.assert(
      fc.property(plays, ([graph, wishList, endList]) => {
        const at = (name: string): number => Number(name.slice(1))
        const wishes = wishesFor(graph, (name) => wishList[at(name)] ?? 'wanted')
        const fates = fatesOf(graph, wishes)
        const endOf = (name: string): string => endList[at(name)] ?? 'succeeds'
        const { order, states } = play(graph, { fates, wishes, endOf })

        for (const name of order) {
          const before = order.slice(0, order.indexOf(name))
          if (fates.get(name) === 'reconcile') {
            expect(ancestors(graph, name).every((one) => states.get(one) === 'ready' && before.includes(one))).toBe(
              true,
            )
          } else {
            const dependents = graph.dependentsOf(name)
            expect(dependents.every((one) => states.get(one) === 'gone' || states.get(one) === 'inactive')).toBe(true)
          }
        }
        for (const name of graph.names) {
          const possible =
            fates.get(name) === 'reconcile'
              ? graph.dependenciesOf(name).every((one) => states.get(one) === 'ready')
              : fates.get(name) === 'delete' &&
                graph.dependentsOf(name).every((one) => states.get(one) === 'gone' || states.get(one) === 'inactive')
          expect(order.includes(name)).toBe(possible)
        }
      }),
    )
  })

  it('makes everything that is wanted, when nothing fails', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const wishes = wishesFor(graph, () => 'wanted')
        const { order } = play(graph, { fates: fatesOf(graph, wishes), wishes, endOf: () => 'succeeds' })
        expect([...order].sort()).toEqual([...graph.names].sort())
      }),
    )
  })

  it('takes everything down at the end, in an order that reverses one in which it can be made', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const wishes = wishesFor(graph, () => 'wanted')
        const { order } = play(graph, { fates: fatesAtTheEnd(graph, wishes), wishes, endOf: () => 'succeeds' })
        const reversed = [...order].reverse()
        expect(reversed).toHaveLength(graph.names.length)
        for (const [i, name] of reversed.entries())
          expect(graph.dependenciesOf(name).every((one) => reversed.indexOf(one) < i)).toBe(true)
      }),
    )
  })

  it('leaves alone at the end what is inactive, and what nobody knows that of', () => {
    const graph = createGraph({ wanted: [], unwanted: [], inactive: [], unknown: [] })
    const wishes = new Map(graph.names.map((name) => [name, name as Wish]))
    expect(Object.fromEntries(fatesAtTheEnd(graph, wishes))).toEqual({
      wanted: 'delete',
      unwanted: 'delete',
      inactive: 'none',
      unknown: 'none',
    })
  })
})
