import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { addUser, listUsers, removeUser, rotateUser } from '../../../../../shared/adapters/local/https/users-editor.ts'
import { createUsersFile } from '../../../../../shared/adapters/local/https/users-file.ts'
import { changeAlone } from '../../../../../shared/adapters/local/https/users-lock.ts'
import type { OperatingError } from '../../../../../shared/model/errors.ts'
import { share } from '../../../../support/strength.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

const directory = temporaryDirectory('users')
afterAll(() => directory[Symbol.dispose]())
afterEach(() => void vi.restoreAllMocks())
let count = 0
const newFile = (): string => join(directory.path, String(count++))

describe('the file of users', () => {
  it('keeps what a person wrote beside the line that changes', () => {
    const file = newFile()
    writeFileSync(file, '# who works here\n\n')
    addUser(file, 'alice', ['a', 'b'])
    addUser(file, 'bob', [])
    const before = readFileSync(file, 'utf8').split('\n')
    rotateUser(file, 'alice')
    const after = readFileSync(file, 'utf8').split('\n')
    expect(after.map((line, i) => line === before[i])).toEqual([true, true, false, true, true])
    expect(after[2]).toMatch(/^alice sha256:[0-9a-f]{64} a,b$/)
  })

  it('is left as it is if the control plane would refuse it', () => {
    const file = newFile()
    writeFileSync(file, 'broken\n')
    expect(() => addUser(file, 'alice', [])).toThrow('a line is NAME sha256:DIGEST')
    expect(readFileSync(file, 'utf8')).toBe('broken\n')
  })

  it('lets in exactly the newest tokens of those who were added and not removed', () => {
    const change = fc.record({
      what: fc.constantFrom('add', 'rotate', 'remove'),
      name: fc.constantFrom('a', 'b.c', 'd@e'),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const file = newFile()
        const tokens = new Map<string, string>()
        const ended: string[] = []
        for (const { what, name } of changes) {
          if (tokens.has(name) === (what === 'add')) continue
          const before = tokens.get(name)
          if (before !== undefined) ended.push(before)
          if (what === 'remove') {
            removeUser(file, name)
            tokens.delete(name)
          } else tokens.set(name, what === 'add' ? addUser(file, name, ['g']) : rotateUser(file, name))
        }
        const { authenticate } = createUsersFile({
          file,
          report: (why) => {
            throw new Error(why)
          },
          clock: { nowMs: () => 0 },
        })
        for (const [name, token] of tokens) expect(authenticate(`Bearer ${token}`)).toMatchObject({ name })
        for (const token of ended) expect(authenticate(`Bearer ${token}`)).toBeUndefined()
        const listed = listUsers(file).map(({ name }) => name)
        expect(listed.toSorted()).toEqual([...tokens.keys()].toSorted())
      }),
      { numRuns: share(250) },
    )
  })

  it.each<[string, (file: string) => unknown, string | RegExp]>([
    ['', (file) => addUser(file, 'alice', []), /^alice sha256:[0-9a-f]{64}\n$/],
    ['', (file) => addUser(file, 'alice', ['a', 'b']), /^alice sha256:[0-9a-f]{64} a,b\n$/],
    ['# us', (file) => addUser(file, 'alice', []), /^# us\nalice sha256:[0-9a-f]{64}\n$/],
    ['\n# alice\n\n', (file) => addUser(file, 'alice', []), /^\n# alice\n\nalice sha256:[0-9a-f]{64}\n$/],
    [`  bob\tsha256:${'0'.repeat(64)} g # on call\n`, (file) => removeUser(file, 'bob'), ''],
    [
      `  bob\tsha256:${'0'.repeat(64)} g # on call\n`,
      (file) => rotateUser(file, 'bob'),
      /^ {2}bob\tsha256:(?!0{64})[0-9a-f]{64} g # on call\n$/,
    ],
    [
      `bob sha256:${'0'.repeat(64)} g\n# second\nbob sha256:${'1'.repeat(64)}\n`,
      (file) => rotateUser(file, 'bob'),
      /^bob sha256:(?!0{64})[0-9a-f]{64} g\n# second\n$/,
    ],
    [
      `sha256:x sha256:${'0'.repeat(64)}\n`,
      (file) => rotateUser(file, 'sha256:x'),
      /^sha256:x sha256:(?!0{64})[0-9a-f]{64}\n$/,
    ],
  ])('that is %j says afterwards what it should: %#', (before, change, after) => {
    const file = newFile()
    writeFileSync(file, before)
    change(file)
    const text = readFileSync(file, 'utf8')
    if (typeof after === 'string') expect(text).toBe(after)
    else expect(text).toMatch(after)
  })

  it.each<[string, (file: string) => unknown, string]>([
    ['a name with a space', (file) => addUser(file, 'a b', []), '"a b" is no name: '],
    ['no name', (file) => addUser(file, '', []), '"" is no name: '],
    ['a group with a comma', (file) => addUser(file, 'alice', ['a', 'b,c']), '"b,c" is no name: '],
    ['a name that is too long', (file) => addUser(file, 'a'.repeat(201), []), ' is no name: '],
    ['a name of the system', (file) => addUser(file, 'system:x', []), 'names that begin with "system:"'],
    ['a name that is there', (file) => addUser(file, 'bob', []), 'bob has a token already: '],
    ['another token for nobody', (file) => rotateUser(file, 'alice'), 'has nobody called alice: '],
    ['the end of nobody', (file) => removeUser(file, 'alice'), 'has nobody called alice: '],
    ['the end of a comment', (file) => removeUser(file, ''), 'has nobody called : '],
  ])('is left alone by %s', (_what, change, why) => {
    const file = newFile()
    addUser(file, 'bob', [])
    writeFileSync(file, `${readFileSync(file, 'utf8')}# a comment\n`)
    const before = readFileSync(file, 'utf8')
    const message = expect.stringContaining(why)
    expect(() => change(file)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', message }))
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  it('keeps what each of several commands at once was told is done', async () => {
    const file = newFile()
    const [writers, rounds] = [3, share(100)]
    for (let i = 0; i < writers; i++) for (let j = 0; j < rounds; j++) addUser(file, `gone-${i}-${j}`, [])
    const changes = Array.from({ length: writers }, async (_, i) => {
      const text = `for (let j = 0; j < ${rounds}; j++) {
        change(() => addUser(file, \`new-${i}-\${j}\`, []))
        change(() => removeUser(file, \`gone-${i}-\${j}\`))
      }`
      return (await once(script(file, text), 'exit')) as unknown
    })
    expect(await Promise.all(changes)).toEqual(Array.from({ length: writers }, () => [0, null]))
    const names = listUsers(file).map(({ name }) => name)
    expect(names.filter((name) => name.startsWith('gone'))).toEqual([])
    expect(new Set(names).size).toBe(writers * rounds)
  })

  it('waits for nobody whose command was killed', async () => {
    const file = newFile()
    const killed = script(file, `addUser(file, 'alice', [], () => process.kill(process.pid, 'SIGKILL'))`)
    expect(await once(killed, 'exit')).toEqual([null, 'SIGKILL'])
    addUser(file, 'bob', [])
    expect(listUsers(file).map(({ name }) => name)).toEqual(['alice', 'bob'])
  })

  it('says who stands in the way, and of what, and changes nothing', () => {
    const file = newFile()
    const code = (change: () => unknown) => {
      try {
        return change()
      } catch (error) {
        return `${(error as OperatingError).code} ${(error as Error).message}`
      }
    }
    const inner = changeAlone(file, () => code(() => changeAlone(file, () => 'changed', 1)))
    expect(inner).toBe(`THROTTLED another command is changing ${file}: try again`)
    expect(changeAlone(file, () => 'changed', 1)).toBe('changed')
    const nowhere = join(file, 'users')
    const lockNowhere = () => code(() => changeAlone(nowhere, () => 'changed'))
    expect(lockNowhere()).toContain(`UNAVAILABLE cannot lock ${nowhere}: ENOENT`)
    writeFileSync(file, '')
    expect(lockNowhere()).toContain(`UNAVAILABLE cannot lock ${nowhere}: ENOTDIR`)
    expect(statSync(`${file}.lock`)).toMatchObject({ mode: 0o100600, size: 0 })
  })

  it('does not call its lock none where something else is in the way', () => {
    const file = newFile()
    mkdirSync(`${file}.lock-journal`)
    expect(() => addUser(file, 'alice', [])).toThrow(/cannot lock (?!.*is no lock)/)
  })

  it.each<[string, (lock: string) => void]>([
    ['another file', (lock) => writeFileSync(lock, 'garbage')],
    ['a directory', (lock) => mkdirSync(lock)],
  ])('names its lock where that is %s, and is changed once it is removed', (_, make) => {
    const file = newFile()
    make(`${file}.lock`)
    expect(() => addUser(file, 'alice', [])).toThrow(
      `cannot lock ${file}: ${file}.lock is no lock, and may be removed: `,
    )
    rmSync(`${file}.lock`, { recursive: true })
    addUser(file, 'alice', [])
    expect(listUsers(file)).toHaveLength(1)
  })

  it.skipIf(process.getuid?.() !== 0)(
    'has a lock that the account of its directory may open if root makes it; nobody else gives theirs away',
    { meta: { skipped: 'only root gives files away' } },
    () => {
      const ownerOfLock = (maker: number): readonly number[] => {
        const path = newFile()
        mkdirSync(path)
        chownSync(path, 65_534, 65_533)
        const asked = vi.spyOn(process as Required<typeof process>, 'getuid').mockReturnValue(maker)
        changeAlone(join(path, 'users'), () => asked.mockRestore())
        const { uid, gid } = statSync(join(path, 'users.lock'))
        return [uid, gid]
      }
      const { uid, gid } = statSync(directory.path)
      expect([ownerOfLock(0), ownerOfLock(65_534)]).toEqual([
        [65_534, 65_533],
        [uid, gid],
      ])
    },
  )

  it.skipIf(!existsSync('/dev/fd'))(
    'is changed as often as anybody likes: nothing is left open',
    { meta: { skipped: 'only Unix shows what is open' } },
    () => {
      const before = readdirSync('/dev/fd').length
      for (let i = 0; i < 100; i++) changeAlone(newFile(), () => 'changed')
      // Other tests of this process may have files open, too.
      expect(readdirSync('/dev/fd').length).toBeLessThan(before + 50)
    },
  )

  it('is as it was if a token could not be handed out, and the next change is made', () => {
    const file = newFile()
    addUser(file, 'alice', [])
    const before = readFileSync(file, 'utf8')
    const refuse = (): never => {
      throw new Error('no room')
    }
    expect(() => addUser(file, 'bob', [], refuse)).toThrow('no room')
    expect(() => rotateUser(file, 'alice', refuse)).toThrow('no room')
    expect(readFileSync(file, 'utf8')).toBe(before)
    const handed: string[] = []
    expect([addUser(file, 'bob', [], (token) => handed.push(token))]).toEqual(handed)
  })

  it('takes names of 200 letters, and gives tokens of 32 bytes, each another one', () => {
    const file = newFile()
    const tokens = ['a', 'b'].map((letter) => addUser(file, letter.repeat(200), ['g']))
    expect(tokens.map((token) => Buffer.from(token, 'base64url').length)).toEqual([32, 32])
    expect(tokens[0]).not.toBe(tokens[1])
    expect(listUsers(file).map(({ groups }) => groups)).toEqual([0, 1].map(() => ['g', 'system:authenticated']))
    expect(listUsers(newFile())).toEqual([])
  })
})

/** Another process that changes a file of users; who finds somebody else at it tries again. */
function script(file: string, text: string): ChildProcess {
  const editor = import.meta.resolve('../../../../../shared/adapters/local/https/users-editor.ts')
  const code = `import { addUser, removeUser } from ${JSON.stringify(editor)}
    const file = ${JSON.stringify(file)}
    const change = (act) => {
      try {
        return act()
      } catch (error) {
        if (error.code !== 'THROTTLED') throw error
        change(act)
      }
    }
    ${text}`
  return spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'ignore', 'inherit'] })
}
