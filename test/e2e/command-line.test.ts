import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { pick, longOnly } from '../support/strength.ts'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it.each(
  pick([
    ['demo', '--limit', 'abc', '--limit: "abc" is no whole number from 1 on'],
    ['simulation', '--seeds', 'x', '--seeds: "x" is no whole number from 0 on'],
    ['simulation', '--seeds', '5..1', '--seeds: "5..1" has no seed in it'],
    [
      'simulation',
      '--sed',
      '1',
      "Unknown option '--sed'\nusage: npm run sim -- [--engine aws] [--seed …] [--seeds …] ",
    ],
    ['simulation', '--seed', 'abc', '--seed: "abc" is no whole number from 0 on'],
    ['cost', '--objects', 'abc', '--objects: "abc" is no number from 0 on'],
    ['cost', '--resync', 'soon', '--resync: "soon" is no duration, such as 10h'],
    ['chaos', '--rounds', 'abc', '--rounds: "abc" is no whole number from 1 on'],
    ['chaos', '--troubles', 'kill,flood', '--troubles: "flood" is none of kill, full disk, clock jump'],
  ]),
)('%s %s %s is refused in a line: nothing to do is not all well', async (program, option, value, says) => {
  const { code, stderr } = await runProgram(process.execPath, [`test/${program}/main.ts`, option, value])
  expect(code).toBe(1)
  expect(stderr.startsWith(says)).toBe(true)
  expect(stderr).not.toContain('    at ')
})

it('a fleet is refused, too, where a number is none', longOnly, async () => {
  const { code, stderr } = await runProgram(process.execPath, ['test/aws/fleet-main.ts', '--faults', '5'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: '--faults: "5" is no number from 0 to 1\n' })
})

it.each(
  pick([
    ['acceptance', 'test/acceptance-table/main.ts'],
    ['bench', 'test/bench/main.ts'],
    ['build', 'infra/packaging/build.ts'],
    ['bundles', 'test/bench/bundles.ts'],
    ['chaos', 'test/chaos/main.ts'],
    ['cost', 'test/cost/main.ts'],
    ['demo', 'test/demo/main.ts'],
    ['fleet', 'test/aws/fleet-main.ts'],
    ['fuzz', 'test/fuzz/main.ts'],
    ['new', 'functions/reconcilers/new/new.ts'],
    ['preview', 'test/infra/preview/main.ts'],
    ['restore', 'functions/reconcilers/backup/restore.ts'],
    ['test', 'test/run.ts'],
    ['sim', 'test/simulation/main.ts'],
    ['test:wire', 'test/wire/main.ts'],
  ]),
)('npm run %s -- --help says how it is used, does nothing and ends with 0', async (name, file) => {
  const { code, stdout, stderr } = await runProgram(process.execPath, [file, '--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(new RegExp(`^usage: npm (run )?${name}\\b`))
})

const wrongUrl = 'the URL of the database is not a PostgreSQL URL, or names no database\nusage: '

it.each(
  pick([
    [['--to', 'postgresql://a@127.0.0.1:1/b'], 'one dump must be named\nusage: npm run restore -- DUMP'],
    [['a', 'b'], 'one dump must be named\nusage: '],
    [['a', '--form', 'b'], "Unknown option '--form'\n"],
    [['a', '--to', ''], 'no database is named\nusage: '],
    [['a', '--to', 'nonsense'], wrongUrl],
    [['a', '--to', 'https://a:secret@b/c'], wrongUrl],
    [['a', '--to', 'postgresql://a:secret@b/'], wrongUrl],
    [['.', '--to', 'postgresql://a@127.0.0.1:1/b'], 'cannot read .: EISDIR: '],
    [['/nowhere/x', '--to', 'postgresql://a@127.0.0.1:1/b'], 'cannot read /nowhere/x: ENOENT: '],
    [['s3://nowhere/x', '--to', 'postgresql://a@127.0.0.1:1/b'], 'cannot read s3://nowhere/x: Region is missing\n'],
  ]),
)('npm run restore -- %j is refused in a line', async (args, says) => {
  const { code, stdout, stderr } = await runProgram(
    process.execPath,
    ['functions/reconcilers/backup/restore.ts', ...args],
    {
      env: { DATABASE_URL: '', AWS_REGION: undefined, AWS_DEFAULT_REGION: undefined, AWS_CONFIG_FILE: '/nowhere' },
    },
  )
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr.startsWith(`restore: ${says}`)).toBe(true)
  expect(stderr).not.toMatch(/ {4}at |secret/)
})

it('npm run restore takes an address of IPv6', async () => {
  using directory = temporaryDirectory('restore')
  const dump = join(directory.path, 'x.sql.gz')
  const header = { database: 'd', version: '18', takenAt: '2026-01-01', leftOut: [] }
  writeFileSync(dump, gzipSync(`-- setpoint dump 1 ${JSON.stringify(header)}\n`))
  const args = ['functions/reconcilers/backup/restore.ts', dump, '--to', 'postgresql://a:b@[::1]:1/c']
  // Where a machine has no IPv6, the word is another, and the address the same.
  expect((await runProgram(process.execPath, args)).stderr).toMatch(/^restore: cannot restore "c": connect \w+ ::1:1/)
})

it('npm run build takes nothing away that no build has made', async () => {
  using directory = temporaryDirectory('build')
  const work = join(directory.path, 'work')
  mkdirSync(work)
  writeFileSync(join(work, 'thesis.txt'), 'three years')
  for (const place of [work, '.']) {
    const { code, stdout } = await runProgram(process.execPath, ['infra/packaging/build.ts', place])
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: `${place} holds other things than an earlier build: name a directory that is new or empty\n`,
    })
  }
  expect(readdirSync(work)).toEqual(['thesis.txt'])
})
