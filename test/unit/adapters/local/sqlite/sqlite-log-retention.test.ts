import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteDatabase, type SqliteDatabase } from '../../../../../shared/adapters/local/sqlite/sqlite-database.ts'
import {
  createLogRetention,
  type RetentionOptions,
} from '../../../../../shared/adapters/local/sqlite/sqlite-log-retention.ts'

let database: SqliteDatabase
beforeEach(() => {
  database = openSqliteDatabase(':memory:')
})
afterEach(() => database.close())

/** So many changes of one object from a number on, each ten characters and a second later than the one before. */
function changes(count: number, first = 1): void {
  const insert = database.prepare("INSERT INTO changes VALUES (?, 1, 1, ?, ?, ?, 'modified', 'spec', NULL, '', NULL)")
  for (let i = 0; i < count; i++) insert.run(first + i, i * 1_000, i === 0 ? null : first + i - 1, (i + 1) * 10)
}

const horizon = (): unknown => database.prepare('SELECT rv FROM horizon').get()?.['rv']
const left = (): readonly unknown[] =>
  database
    .prepare('SELECT rv FROM changes ORDER BY rv')
    .all()
    .map(({ rv }) => rv)

/** What the horizon is after each look at a time, with so many characters written. */
function looks(options: RetentionOptions, ...all: readonly (readonly [nowMs: number, written?: number])[]) {
  const forgetOld = createLogRetention(database, options)
  return all.map(([nowMs, written = 0]) => {
    forgetOld(nowMs, written)
    return horizon()
  })
}

describe('a change that is old', () => {
  const retentionMs = 100_000

  it('moves the horizon over itself at its time, and takes the state before it away', () => {
    changes(3)
    expect(looks({ retentionMs }, [1], [99_999], [100_000], [101_000], [101_500], [102_000])).toEqual([
      0, 0, 1, 2, 2, 3,
    ])
    expect(left()).toEqual([3])
  })

  it('is so by the first that is left, not by the time of the look', () => {
    changes(1)
    expect(looks({ retentionMs }, [500], [100_000])).toEqual([0, 1])
  })

  it('is found at its time though somebody looked a moment ago', () => {
    changes(1)
    expect(looks({ retentionMs }, [1], [99_990], [100_000])).toEqual([0, 0, 1])
  })

  it('is one of a thousand, and the next thousand have 50 ms of time', () => {
    changes(1_500, 5_000)
    const nowMs = 10_000_000
    expect(looks({ retentionMs }, [nowMs], [nowMs + 49], [nowMs + 50])).toEqual([5_999, 5_999, 6_499])
    expect(left()).toEqual([6_499])
  })

  it('is so after an hour, if nobody says otherwise', () => {
    changes(1)
    expect(looks({}, [1], [3_599_999], [3_600_000])).toEqual([0, 0, 1])
  })

  it('waits for the reader that has not come by', () => {
    changes(3)
    database
      .prepare("INSERT INTO checkpoints VALUES ('a', '2', 1, NULL), ('b', '1', 0, NULL), ('c', '10', 1, NULL)")
      .run()
    expect(looks({ retentionMs }, [1_000_000])).toEqual([2])
    expect(left()).toEqual([2, 3])
  })
})

describe('an old end of the log that cannot be read', () => {
  const retentionMs = 100_000

  /** The log, of which a statement fails for as long as there is something to throw. */
  function failing(start: string) {
    const state = { error: undefined as Error | undefined, tried: 0, onTry: (): void => {} }
    const prepare: SqliteDatabase['prepare'] = (sql) => {
      const statement = database.prepare(sql)
      if (!sql.trimStart().startsWith(start)) return statement
      const run = (value: Parameters<typeof statement.run>[0]) => {
        state.tried++
        const done = statement.run(value)
        state.onTry()
        if (state.error !== undefined) throw state.error
        return done
      }
      return { run } as unknown as typeof statement
    }
    return { state, forgetOld: createLogRetention({ ...database, prepare }, { retentionMs }) }
  }

  it.each(['DELETE FROM changes', 'UPDATE horizon'])(
    'keeps nobody from writing: it stays, and is tried again a minute later (%s)',
    (start) => {
      changes(3)
      const { state, forgetOld } = failing(start)
      state.error = Object.assign(new Error('malformed'), { errcode: 11 })
      database.prepare('BEGIN').run()
      forgetOld(1_000_000, 0)
      forgetOld(1_059_999, 0)
      database.prepare('COMMIT').run()
      expect([horizon(), left(), state.tried]).toEqual([0, [1, 2, 3], 1])
      state.error = undefined
      forgetOld(1_060_000, 0)
      expect([horizon(), left()]).toEqual([3, [3]])
    },
  )

  it('fails the write where SQLite has undone all of the commit', () => {
    changes(3)
    const { state, forgetOld } = failing('DELETE FROM changes')
    state.error = Object.assign(new Error('disk I/O error'), { errcode: 266 })
    state.onTry = () => void database.prepare('ROLLBACK').run()
    database.prepare('BEGIN').run()
    expect(() => forgetOld(1_000_000, 0)).toThrow('disk I/O error')
  })

  it('is told apart from a disk that is full, which every write has to know', () => {
    changes(3)
    const { state, forgetOld } = failing('DELETE FROM changes')
    state.error = Object.assign(new Error('database or disk is full'), { errcode: 13 })
    expect(() => forgetOld(1_000_000, 0)).toThrow('database or disk is full')
  })
})

describe('a change behind which much was written', () => {
  const retainedCharacters = 100

  it('is old at once, whatever the time is, and whoever has not come by', () => {
    changes(2)
    database.prepare("INSERT INTO checkpoints VALUES ('a', '0', 1, NULL)").run()
    expect(looks({ retainedCharacters }, [0, 109], [60, 110], [120, 119], [180, 120])).toEqual([0, 1, 1, 2])
  })

  it('is so at the first look', () => {
    changes(1)
    expect(looks({ retainedCharacters }, [0, 110])).toEqual([1])
  })

  it('is found at once though somebody looked a moment ago', () => {
    changes(1)
    expect(looks({ retainedCharacters }, [0, 50], [60, 109], [60, 110])).toEqual([0, 0, 1])
  })

  it('is so behind 512 million characters, if nobody says otherwise', () => {
    changes(1)
    expect(looks({}, [0, 512_000_009], [60, 512_000_010])).toEqual([0, 1])
  })
})

describe('a clock that was ahead for a moment', () => {
  const ahead = 10_000_000_000
  const retentionMs = 100_000

  it('and a look at it keep nothing from being forgotten at its time', () => {
    changes(1)
    const forgetOld = createLogRetention(database, { retentionMs })
    forgetOld(ahead, 0)
    changes(1, 2)
    forgetOld(1_000, 0)
    forgetOld(100_000, 0)
    expect(horizon()).toBe(2)
  })

  it('and a change by it keep nothing from being forgotten at its time', () => {
    changes(2)
    database.prepare('UPDATE changes SET at_ms = ? WHERE rv = 1').run(ahead)
    expect(looks({ retentionMs }, [1_000], [100_999], [101_000])).toEqual([0, 0, 2])
  })

  it('and more changes by it than a step looks at are forgotten once they were seen for their time', () => {
    changes(2_500)
    database.prepare('UPDATE changes SET at_ms = ? WHERE rv <= 2200').run(ahead)
    database.prepare('UPDATE changes SET at_ms = 500 WHERE rv > 2200').run()
    const forgetOld = createLogRetention(database, { retentionMs })
    const look = (nowMs: number): unknown => {
      forgetOld(nowMs, 0)
      return horizon()
    }
    expect([look(1_000), look(100_999)]).toEqual([0, 0])
    changes(1, 3_000)
    database.prepare('UPDATE changes SET at_ms = ? WHERE rv = 3000').run(ahead)
    expect([101_000, 101_050, 101_100, 101_150].map(look)).toEqual([1_000, 2_000, 2_500, 2_500])
    // What was written since has a time of its own.
    expect([look(201_099), look(201_100)]).toEqual([2_500, 3_000])
    expect(left()).toEqual([2_500, 3_000])
  })

  it('and the last change that was seen is forgotten at the same time', () => {
    changes(1_001)
    database.prepare('UPDATE changes SET at_ms = ?').run(ahead)
    expect(looks({ retentionMs }, [1_000], [101_000], [101_050])).toEqual([0, 1_000, 1_001])
  })

  it('and changes by it wait for the reader that has not come by', () => {
    changes(3)
    database.prepare('UPDATE changes SET at_ms = ?').run(ahead)
    database.prepare("INSERT INTO checkpoints VALUES ('a', '2', 1, NULL)").run()
    expect(looks({ retentionMs }, [1_000], [101_000])).toEqual([0, 2])
  })

  it('and was ahead when they were seen is no time to count from', () => {
    changes(1)
    database.prepare('UPDATE changes SET at_ms = ?').run(2 * ahead)
    expect(looks({ retentionMs }, [ahead], [1_000], [100_999], [101_000])).toEqual([0, 0, 0, 1])
  })

  it('and a look at it keep nothing from being forgotten that much was written behind', () => {
    changes(2)
    expect(looks({ retentionMs: 2 * ahead, retainedCharacters: 100 }, [ahead, 110], [60, 120])).toEqual([1, 2])
  })
})

it('a clock that was behind for a moment has nothing forgotten before its time', () => {
  const atMs = 10_000_000_000
  changes(2)
  database.prepare('UPDATE changes SET at_ms = ?').run(atMs)
  expect(looks({ retentionMs: 100_000 }, [1_000], [atMs], [atMs + 99_999], [atMs + 100_000])).toEqual([0, 0, 0, 2])
})

it('a removal goes with its time', () => {
  changes(2)
  database.prepare("UPDATE changes SET type = 'removed' WHERE rv = 2").run()
  expect(looks({}, [10_000_000])).toEqual([2])
  expect(left()).toEqual([])
})
