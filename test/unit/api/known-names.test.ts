import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSharedNames, type KnownNames } from '../../../shared/api/watch/known-names.ts'

it('says of each who remembers what a set of its own would say', () => {
  const who = fc.nat(3)
  const acts = fc.array(
    fc.oneof(
      {
        weight: 20,
        arbitrary: fc.record({ act: fc.constantFrom('add', 'add', 'delete'), who, name: fc.nat(70).map(String) }),
      },
      { weight: 1, arbitrary: fc.record({ act: fc.constant('clear'), who, name: fc.constant('') }) },
    ),
    { maxLength: 150, size: 'max' },
  )
  fc.assert(
    fc.property(acts, (steps) => {
      const names = createSharedNames()
      const pairs = Array.from({ length: 4 }, () => ({ known: names.open(), model: new Set<string>() }))
      for (const step of steps) {
        const { known, model } = pairs[step.who] as (typeof pairs)[number]
        if (step.act === 'delete') expect(known.delete(step.name)).toBe(model.delete(step.name))
        for (const one of [known, model]) {
          if (step.act === 'add') one.add(step.name)
          if (step.act === 'clear') one.clear()
        }
        for (const one of pairs) expect(one.known.has(step.name)).toBe(one.model.has(step.name))
      }
    }),
  )
})

it('gives a name that nobody knows any more away: what comes and goes for long takes no room', () => {
  const names = createSharedNames()
  const [one, other] = [names.open(), names.open()]
  one.add('stays')
  other.add('stays')
  expect(one.delete('stays')).toBe(true)
  for (let i = 0; i < 10_000; i++) {
    one.add(`n${i}`)
    one.delete(`n${i}`)
  }
  expect([one.has('stays'), other.has('stays'), one.has('n9999')]).toEqual([false, true, false])
})

it.each<[string, (known: KnownNames, name: string) => void]>([
  [
    'one by one',
    (known, name) => {
      known.add(name)
      known.delete(name)
    },
  ],
  [
    'with others',
    (known, name) => {
      known.add(`${name}a`)
      known.add(`${name}b`)
      known.clear()
    },
  ],
])('gives away the place of a name that is forgotten %s: who comes later takes no room for it', (_, comeAndGo) => {
  const names = createSharedNames()
  const one = names.open()
  for (let i = 0; i < 20_000; i++) comeAndGo(one, String(i))
  const before = process.memoryUsage().arrayBuffers
  const others = Array.from({ length: 500 }, () => names.open())
  for (const known of others) for (const name of ['x', 'y']) known.add(name)
  // A bit for each name that came and went would be more than a megabyte.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(500_000)
  expect(others.every((known) => known.has('x') && known.has('y'))).toBe(true)
})

it('takes a bit for each who knows one, beside the names themselves', () => {
  const names = createSharedNames()
  const all = Array.from({ length: 20_000 }, (_, i) => `g.dev/K/default/some-object-${i}`)
  const first = names.open()
  for (const name of all) first.add(name)
  const before = process.memoryUsage()
  const others: KnownNames[] = Array.from({ length: 100 }, () => names.open())
  for (const known of others) for (const name of all) known.add(name)
  const after = process.memoryUsage()
  const grown = after.heapUsed - before.heapUsed + after.external - before.external
  // A set of names takes more than a megabyte for each of them.
  expect(grown).toBeLessThan(40_000_000)
  expect(others[99]?.has(all[0] as string)).toBe(true)
})
