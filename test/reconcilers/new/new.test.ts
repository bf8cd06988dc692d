import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runProgram } from '../../support/program.ts'
import { copySources } from '../../support/source-copy.ts'
import { longOnly } from '../../support/strength.ts'

/** In a copy of the tree, where every check of `npm test` is run on what was written. */

const directory = copySources('new')
const copy = directory.path

afterAll(() => directory[Symbol.dispose]())

const scaffold = (...args: readonly string[]) =>
  runProgram(process.execPath, [join(copy, 'functions/reconcilers/new/new.ts'), ...args], { cwd: copy })
const check = (command: string, ...args: readonly string[]) =>
  runProgram(join(copy, 'node_modules/.bin', command), args, {
    cwd: copy,
    env: { PATH: `${join(copy, 'node_modules/.bin')}:${process.env['PATH']}` },
  })
const list = () => readFileSync(join(copy, 'functions/reconcilers/own.ts'), 'utf8')

/** As test/run.ts has them. */
const checks = [
  ['tsc', '--incremental', 'false', '--tsBuildInfoFile', 'null'],
  ['oxlint', '--type-aware'],
  ['oxfmt', '--list-different', 'functions', 'examples', 'test/reconcilers'],
  ['knip', '--no-progress'],
] as const

describe('npm run new', () => {
  it('writes reconcilers that pass every check of npm test as they are', longOnly, async () => {
    expect(await scaffold('example.dev/v1/DnsRecord')).toMatchObject({ code: 0, stderr: '' })
    expect(
      await scaffold('teams.example.dev/v1beta1/VeryLongNameOfAPolicyThatBreaksLinesOfCodeInManyPlacesHTTP'),
    ).toMatchObject({ code: 0 })
    expect(await scaffold('example.dev/v1/Class')).toMatchObject({ code: 0 })
    const names = ['dns-record', 'class', 'very-long-name-of-a-policy-that-breaks-lines-of-code-in-many-places-http']
    // What a check says of other files is not this test's affair.
    const ours = new RegExp(`(reconcilers|examples)/(${names.join('|')})[./]|reconcilers/own\\.ts`)
    for (const [command, ...args] of checks) {
      const { code, stdout, stderr } = await check(command, ...args)
      expect([command, stderr, code !== null && code <= 2]).toEqual([command, '', true])
      expect(stdout).not.toMatch(ours)
    }
    const tests = await check('node', 'test/run.ts', ...names.map((name) => `test/reconcilers/${name}/`))
    expect(tests.stdout).toMatch(/\n6 passed, 0 failed, 0 skipped\n$/)
    expect(list()).toMatch(/\[\n {2}dnsRecordReconciler,\n.*,\n {2}classReconciler,\n\]/s)
  })

  it.each([
    [[], 'usage: npm run new'],
    [['DnsRecord'], 'usage: npm run new'],
    [['example.dev/v1/A', 'b'], 'usage: npm run new'],
    [['example/v1/A'], 'group "example"'],
    [['Example.dev/v1/A'], 'group "Example.dev"'],
    [['../x.dev/v1/A'], 'usage'],
    [['example.dev/1/A'], 'version "1"'],
    [['example.dev/v1/dnsRecord'], 'kind "dnsRecord"'],
    [['example.dev/v1/Dns-Record'], 'kind "Dns-Record"'],
    [['example.dev/v1/ConfigMap'], 'kind ConfigMap'],
    [['example.dev/v1/Promise'], 'kind Promise'],
    [['other.dev/v1/PostgresDatabase'], 'functions/reconcilers/postgres/kinds.ts has a kind PostgresDatabase already'],
  ] as const)('refuses %j in a line, and writes nothing', async (args, message) => {
    const before = list()
    const ended = await scaffold(...args)
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toContain(message)
    expect(ended.stderr).not.toContain('    at ')
    expect(list()).toBe(before)
  })

  it('writes over nothing', async () => {
    writeFileSync(join(copy, 'examples/mine.yaml'), 'mine')
    expect(await scaffold('example.dev/v1/Mine')).toMatchObject({
      code: 1,
      stderr: 'examples/mine.yaml is there already: nothing was written\n',
    })
    expect(readFileSync(join(copy, 'examples/mine.yaml'), 'utf8')).toBe('mine')
    expect(existsSync(join(copy, 'functions/reconcilers/mine'))).toBe(false)
    rmSync(join(copy, 'examples/mine.yaml'))
    expect(await scaffold('example.dev/v1/Mine')).toMatchObject({ code: 0 })
    const readmes = ['functions', 'test'].map((folder) => join(copy, folder, 'reconcilers/mine/README.md'))
    expect(readmes.filter((file) => !existsSync(file))).toEqual([])
    expect(await scaffold('example.dev/v1/Mine')).toMatchObject({
      code: 1,
      stderr: 'functions/reconcilers/mine is there already: nothing was written\n',
    })
  })

  it('says so when the list is no longer one that it can add to', async () => {
    writeFileSync(join(copy, 'functions/reconcilers/own.ts'), 'export const mine = 1\n')
    expect(await scaffold('example.dev/v1/Other')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no list') as string,
    })
    expect(existsSync(join(copy, 'functions/reconcilers/other'))).toBe(false)
  })
})
