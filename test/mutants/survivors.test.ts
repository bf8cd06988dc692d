import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../architecture/source.ts'
import { findMutants } from './find-mutants.ts'
import { mutantsOf } from './known.ts'
import { knownSurvivors, type KnownSurvivor } from './survivors.ts'

it('can mean one of several mutants of a line', () => {
  const text = 'export const f = (a) => a(1, 2, 1)'
  const mutants = findMutants('a.ts', text)
  const entry: KnownSurvivor = { path: 'a.ts', line: text, replacement: '2', why: '' }
  const startsOf = (one: KnownSurvivor) => mutantsOf(one, mutants, text).map(({ start }) => start)
  const [first, second] = [text.indexOf('1'), text.lastIndexOf('1')]
  expect([entry, { ...entry, nth: 2 }, { ...entry, nth: 3 }].map(startsOf)).toEqual([[first, second], [second], []])
  expect(startsOf({ ...entry, path: 'b.ts' })).toEqual([])
})

it('are in the source, and each is listed once', () => {
  const inFiles = Object.entries(Object.groupBy(knownSurvivors, ({ path }) => path))
  const listed = inFiles.flatMap(([path, entries = []]) => {
    const text = readFileSync(join(root, path), 'utf8')
    const mutants = findMutants(path, text)
    return entries.map((entry) => ({ entry, mutants: mutantsOf(entry, mutants, text) }))
  })
  expect(listed.filter(({ mutants }) => mutants.length === 0).map(({ entry }) => entry)).toEqual([])
  const all = listed.flatMap(({ mutants }) => mutants)
  const twice = all.filter((one, i) => all.indexOf(one) !== i)
  expect(twice.map(({ path, line, replacement }) => `${path}:${line} ${replacement}`)).toEqual([])
})
