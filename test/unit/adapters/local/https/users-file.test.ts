import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUsersFile } from '../../../../../shared/adapters/local/https/users-file.ts'
import type { Authenticator } from '../../../../../shared/ports/authenticator.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

let directory: ReturnType<typeof temporaryDirectory>
let file: string
let reports: string[]
let authenticate: Authenticator
beforeEach(() => {
  directory = temporaryDirectory('users')
  file = join(directory.path, 'users')
  reports = []
  let nowMs = 0
  // Each look is later than the one before.
  const clock = { nowMs: () => (nowMs += 50) }
  authenticate = createUsersFile({ file, report: (why) => void reports.push(why), clock }).authenticate
})
afterEach(() => directory[Symbol.dispose]())

const hash = (token: string): string => `sha256:${createHash('sha256').update(token).digest('hex')}`
const write = (text: string): void => writeFileSync(file, text, { mode: 0o600 })

describe('a file of users', () => {
  it('knows each by the token', () => {
    write(`# people\n\nalice ${hash('a-token')} devs,ops # on call\n  bob\t${hash('b-token')}\r\n`)
    expect(authenticate('Bearer a-token')).toEqual({ name: 'alice', groups: ['devs', 'ops', 'system:authenticated'] })
    expect(authenticate('bearer b-token')).toEqual({ name: 'bob', groups: ['system:authenticated'] })
    for (const header of ['Bearer c-token', `Bearer ${hash('a-token')}`, 'Basic a-token', undefined])
      expect(authenticate(header)).toBeUndefined()
    expect(reports).toEqual([])
  })

  it('may be absent, come, change and go', () => {
    expect(authenticate('Bearer t')).toBeUndefined()
    write(`alice ${hash('t')} devs`)
    expect(authenticate('Bearer t')).toMatchObject({ name: 'alice' })
    write(`alice ${hash('other')} devs`)
    expect(authenticate('Bearer t')).toBeUndefined()
    expect(authenticate('Bearer other')).toMatchObject({ name: 'alice' })
    rmSync(file)
    expect(authenticate('Bearer other')).toBeUndefined()
    expect(reports).toEqual([])
  })

  it('lets nobody in without a token, though a line has the digest of nothing', () => {
    write(`nobody ${hash('')}`)
    for (const header of ['Bearer ', 'Basic x', '']) expect(authenticate(header)).toBeUndefined()
    expect(reports).toEqual([])
  })

  const bad: readonly (readonly [string, string])[] = [
    ['alice s3cret devs', ':2: a line is NAME sha256:DIGEST GROUP,GROUP'],
    [`alice ${hash('x').toUpperCase()}`, ':2: a line is'],
    [`alice ${hash('x')} devs ops`, ':2: a line is'],
    [`alice ${hash('t')} devs`, ':2: its token is that of another line'],
    [`system:masters ${hash('x')}`, ':2: names that begin with "system:" are not for people'],
  ]
  it.each(bad)('with a line that is wrong lets nobody in, and says where: %s', (line, why) => {
    write(`good ${hash('t')}\n${line}`)
    expect(authenticate('Bearer t')).toBeUndefined()
    expect(authenticate('Bearer t')).toBeUndefined()
    expect(reports).toEqual([expect.stringContaining(`${file}${why}`)])
    expect(reports.join()).not.toContain('s3cret')
    write(`good ${hash('t')}`)
    expect(authenticate('Bearer t')).toMatchObject({ name: 'good' })
  })

  it('with a line that is wrong is told of once in each version', () => {
    for (const text of ['wrong\n', 'wrong\n# as before\n']) {
      write(text)
      for (let i = 0; i < 3; i++) expect(authenticate('Bearer t')).toBeUndefined()
    }
    expect(reports).toEqual([1, 1].map((line) => expect.stringContaining(`${file}:${line}: a line is`)))
  })

  it('that cannot be read is told of once, in whatever version', () => {
    mkdirSync(file)
    for (const seconds of [1, 2]) {
      utimesSync(file, seconds, seconds)
      for (let i = 0; i < 3; i++) expect(authenticate('Bearer t')).toBeUndefined()
    }
    expect(reports).toEqual([expect.stringContaining('EISDIR')])
  })

  it('that cannot be looked at lets nobody in, is told of once, and is read when it can be', () => {
    write(`good ${hash('t')}`)
    expect(authenticate('Bearer t')).toMatchObject({ name: 'good' })
    rmSync(file)
    symlinkSync(file, file)
    for (let i = 0; i < 3; i++) expect(authenticate('Bearer t')).toBeUndefined()
    expect(reports).toEqual([expect.stringContaining('ELOOP')])
    rmSync(file)
    write(`good ${hash('t')}`)
    expect(authenticate('Bearer t')).toMatchObject({ name: 'good' })
  })

  it('that others may write lets nobody in', () => {
    write(`good ${hash('t')}`)
    chmodSync(file, 0o666)
    expect(authenticate('Bearer t')).toBeUndefined()
    expect(reports).toEqual([expect.stringContaining('others than its owner may write it')])
    chmodSync(file, 0o600)
    expect(authenticate('Bearer t')).toMatchObject({ name: 'good' })
  })

  it.each([
    [0o644, true],
    [0o601, true],
    [0o620, false],
    [0o602, false],
  ])('of mode %i lets people in: %s', (mode, lets) => {
    write(`good ${hash('t')}`)
    chmodSync(file, mode)
    expect(authenticate('Bearer t') !== undefined).toBe(lets)
    expect(reports).toHaveLength(lets ? 0 : 1)
  })
})

describe('a person who was let in', () => {
  let nowMs: number
  let users: ReturnType<typeof createUsersFile>
  beforeEach(() => {
    nowMs = 1_000
    users = createUsersFile({ file, report: (why) => void reports.push(why), clock: { nowMs: () => nowMs } })
  })
  const without: { readonly header?: string } = {}
  const known = (header = 'Bearer t'): boolean => users.recall(header) !== undefined

  it('is recalled by the same header, and nobody else is', () => {
    write(`alice ${hash('t')}`)
    expect([users.recall('Bearer t'), users.recall(without.header)]).toEqual([undefined, undefined])
    const alice = users.authenticate('Bearer t')
    expect(users.recall('Bearer t')).toBe(alice)
    expect([users.recall('bearer t'), users.recall('Bearer x'), users.recall(without.header)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect([users.authenticate('bearer t'), known('bearer t')]).toEqual([alice, true])
  })

  it.each([
    [49, true],
    [-49, true],
    [50, false],
    [-50, false],
  ])('and whom the file lets in no more is in %d ms later: %s', (ms, isIn) => {
    write(`alice ${hash('t')}`)
    expect(users.authenticate('Bearer t')).toBeDefined()
    rmSync(file)
    nowMs += ms
    expect([users.authenticate('Bearer t') !== undefined, known()]).toEqual([isIn, isIn])
    expect(users.authenticate('bearer t') !== undefined).toBe(isIn)
  })

  it('is looked for in the file at once while nobody is known by the token', () => {
    expect(users.authenticate('Bearer t')).toBeUndefined()
    write(`alice ${hash('t')}`)
    expect(users.authenticate('Bearer t')).toMatchObject({ name: 'alice' })
  })

  it('costs no look at the file where nobody can be found: without a header, or ahead of the first', () => {
    write('wrong')
    expect([users.authenticate(without.header), known(), users.recall(without.header)]).toEqual([
      undefined,
      false,
      undefined,
    ])
    expect(reports).toEqual([])
    expect([users.authenticate('Bearer t'), reports.length]).toEqual([undefined, 1])
  })

  it('is remembered however many come whom nobody knows', () => {
    write(`alice ${hash('t')}`)
    void users.authenticate('Bearer t')
    for (let i = 0; i < 1_001; i++) void users.authenticate(`Bearer wrong-${i}`)
    expect(known()).toBe(true)
  })

  it('is one of a thousand who are remembered', () => {
    const tokens = Array.from({ length: 1_001 }, (_, i) => `t${i}`)
    write(tokens.map((token) => `${token} ${hash(token)}\n`).join(''))
    for (const token of tokens.slice(0, 1_000)) void users.authenticate(`Bearer ${token}`)
    expect([known('Bearer t0'), known('Bearer t999')]).toEqual([true, true])
    void users.authenticate('Bearer t1000')
    expect([known('Bearer t0'), known('Bearer t999'), known('Bearer t1000')]).toEqual([false, false, true])
    expect(users.authenticate('Bearer t0')).toMatchObject({ name: 't0' })
  })
})
