import { expect, it } from 'vitest'
import { reportOf } from './report.ts'

it('names the command, the commit, the counts and who survived', () => {
  const site = { start: 0, end: 1, isKey: false }
  const mutant = {
    line: 3,
    start: 0,
    end: 1,
    original: 'a <\n b',
    replacement: 'a <= b',
    site,
    variant: 'a <= b',
    isAtLoad: false,
  }
  const text = reportOf({
    command: 'npm run mutants -- --sample 3 --seed 1',
    commit: 'abc1234',
    day: '2026-11-23',
    all: 90,
    judged: [
      { mutant: { ...mutant, path: 'shared/model/a.ts' }, judgement: 'killed' },
      { mutant: { ...mutant, path: 'shared/adapters/local/queue/b.ts' }, judgement: 'timed out' },
      { mutant: { ...mutant, path: 'shared/model/schema/c.ts' }, judgement: 'survived' },
    ],
    known: [{ path: 'd.ts', line: 'x', replacement: 'y', why: 'it is so' }],
  })
  for (const part of [
    '`npm run mutants -- --sample 3 --seed 1` at abc1234, 2026-11-23: 3 of 90 mutants.',
    '| adapters/local | 1 | 1 | 0 |\n| model | 2 | 1 | 1 |\n| all | 3 | 2 | 1 |',
    '- shared/model/schema/c.ts:3  a < b  →  a <= b',
    '- `d.ts`: `x` with `y`: it is so',
  ])
    expect(text).toContain(part)
})
