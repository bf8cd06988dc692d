/**
 * Each folder with source says in its README what lives there; the README of a layer says what the layer may import.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, it } from 'vitest'
import { layers, type Layer } from './layers.ts'
import { root } from './source.ts'

it('each folder with source has a README: a title, and what lives there', () => {
  expect([...folders()].filter((folder) => !/^# .+\n\n\S/.test(readmeOf(folder)))).toEqual([])
})

it('the README of a layer names what the layer may import, as the table has it', () => {
  const said = Object.entries(layers).filter(([folder]) => existsSync(`${root}/${folder}/README.md`))
  expect(said.length).toBeGreaterThan(10)
  expect(said.filter(([folder, layer]) => !readmeOf(folder).includes(lineOf(layer))).map(([folder]) => folder)).toEqual(
    [],
  )
})

/** Those with a file of source in them or below; fixtures stand for other people's folders. */
function folders(): ReadonlySet<string> {
  const files = globSync('{shared,functions,infra,test}/**/*.ts', { cwd: root, exclude: ['**/fixtures/**'] })
  return new Set(files.flatMap(foldersAround))
}

function foldersAround(path: string): readonly string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? [] : [...foldersAround(folder), folder]
}

function readmeOf(folder: string): string {
  const file = `${root}/${folder}/README.md`
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

function lineOf({ mayImport, packages, pure }: Layer): string {
  const names = [...mayImport, ...packages].map((name) => `\`${name}\``).join(', ')
  const purity = pure === true ? ' It is pure: time, chance and I/O are arguments.' : ''
  return `\n- May import: ${names === '' ? 'nothing' : names}.${purity}\n`
}
