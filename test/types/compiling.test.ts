import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { manyKinds } from './many-kinds.ts'
import { longOnly } from '../support/strength.ts'

/**
 * What the compiler has to do for those who write reconcilers: editing stays fast however many kinds a project has.
 * Counted in instantiations of types, which are the same on every machine; time is for the eye.
 */

const root = resolve(import.meta.dirname, '../..')
const framework = join(root, 'shared/index.ts')
let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'setpoint-types-'))
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Compilation {
  readonly errors: readonly string[]
  readonly instantiations: number
  readonly checkSeconds: number
  readonly memoryMb: number
}

/** Compiles these files and what they import, from nothing. */
function compile(sources: ReadonlyMap<string, string>): Compilation {
  for (const [name, text] of sources) writeFileSync(join(directory, name), text)
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: options,
    files: [...sources.keys()],
    include: [],
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', directory, '--extendedDiagnostics'], {
    encoding: 'utf8',
    maxBuffer: 1e9,
  })
  const figure = (name: string): number => Number(new RegExp(`^${name}: +([\\d.]+)`, 'm').exec(stdout)?.[1])
  return {
    errors: stdout.split('\n').filter((line) => line.includes('error TS')),
    instantiations: figure('Instantiations'),
    checkSeconds: figure('Check time'),
    memoryMb: figure('Memory used') / 1024,
  }
}

const options = { incremental: false, tsBuildInfoFile: null, typeRoots: [join(root, 'node_modules/@types')] }

const ofOne = (text: string): ReadonlyMap<string, string> => new Map([['main.ts', text]])

describe('the compiler', () => {
  it(
    'takes two hundred kinds and their reconcilers, at a price per kind that is small and stays the same',
    longOnly,
    () => {
      const nothing = compile(ofOne(`export * from '${framework}'`))
      const few = compile(manyKinds(20, framework))
      const many = compile(manyKinds(200, framework))
      expect([nothing.errors, few.errors, many.errors]).toEqual([[], [], []])
      const perKind = (many.instantiations - few.instantiations) / 180
      const first = (few.instantiations - nothing.instantiations) / 20
      console.log(
        `200 kinds: ${many.instantiations} instantiations, ${perKind.toFixed(0)} for each further kind (the first 20: ${first.toFixed(0)} each); ` +
          `check ${many.checkSeconds} s, without a kind ${nothing.checkSeconds} s; ${many.memoryMb.toFixed(0)} MB`,
      )
      // Each field and each call costs its share; what must not come is a price that grows with the number of kinds.
      expect(perKind).toBeLessThan(4_000)
      expect(perKind).toBeLessThan(first)
      expect(many.instantiations).toBeLessThan(1_500_000)
    },
  )

  it('finds what is wrong among them: the bound is not met by looking away', longOnly, () => {
    const [[name, source] = ['', '']] = manyKinds(1, framework)
    const wrong = [
      { find: "z.enum(['small', 'medium', 'large']).default('small')", replace: "z.enum(['small']).default('large')" },
      { find: 'readyReplicas: ready', replace: "readyReplicas: 'all'" },
      { find: 'node.ready', replace: 'node.steady' },
      { find: "deletionPolicy: 'Retain'", replace: "deletionPolicy: 'Keep'" },
    ]
    for (const { find } of wrong) expect(source).toContain(find)
    // Each in a file of its own, all compiled at once: the compiler starts once.
    const files = wrong.map(({ find, replace }, i) => [`${i}-${name}`, source.replace(find, replace)] as const)
    const errors = compile(new Map(files)).errors.map((line) => /^(?:.*\/)?(\d)-/.exec(line)?.[1] ?? line)
    expect(errors.toSorted((a, b) => a.localeCompare(b))).toEqual(wrong.map((_, i) => String(i)))
  })
})
