import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { addUser, listUsers, removeUser, rotateUser } from '../../../../../shared/adapters/local/https/users-editor.ts'
import { createUsersFile } from '../../../../../shared/adapters/local/https/users-file.ts'
import { share } from '../../../../support/strength.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

const directory = temporaryDirectory('users')
afterAll(() => directory[Symbol.dispose]())
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
})
