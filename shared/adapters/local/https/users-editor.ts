import { randomBytes } from 'node:crypto'
import { OperatingError } from '../../../model/errors.ts'
import { readIfThere, writeAtomically } from '../../node/atomic-file.ts'
import { digestOf, isReserved, parseUsers, reservedNames } from './users-file.ts'
import { changeAlone } from './users-lock.ts'

/**
 * These functions change the file of users, one call at a time. A call that throws leaves the file as it was. The error
 * is BAD_REQUEST for what a person can mend.
 */

/** Takes a person's token to them. What it throws undoes the change: a token that nobody was given lets nobody in. */
type HandOut = (token: string) => void

/** Adds a person, and returns their token, which is kept nowhere. */
export function addUser(file: string, name: string, groups: readonly string[], handOut?: HandOut): string {
  for (const word of [name, ...groups]) requireWord(word)
  if (isReserved(name)) throw new OperatingError('BAD_REQUEST', `${name}: ${reservedNames}`)
  const list = groups.length === 0 ? '' : ` ${groups.join(',')}`
  return giveToken(file, handOut, (lines, digest) => {
    if (lines.some((line) => nameIn(line) === name))
      throw new OperatingError('BAD_REQUEST', `${name} has a token already: rotate gives another, remove takes it away`)
    return [...lines, `${name} sha256:${digest}${list}`]
  })
}

/** Gives a person another token; the one of before ends at once, and so does every other one of theirs. */
export function rotateUser(file: string, name: string, handOut?: HandOut): string {
  return giveToken(file, handOut, (lines, digest) => {
    requireThere(lines, name, file)
    const first = lines.findIndex((line) => nameIn(line) === name)
    const left = lines.filter((line, i) => i <= first || nameIn(line) !== name)
    return left.with(first, (lines[first] ?? '').replace(/(?<=\S\s+)sha256:\S*/, `sha256:${digest}`))
  })
}

/** The person's token ends at once. */
export function removeUser(file: string, name: string): void {
  changeAlone(file, () => {
    const lines = linesIn(readText(file))
    requireThere(lines, name, file)
    write(
      file,
      lines.filter((line) => nameIn(line) !== name),
    )
  })
}

function giveToken(
  file: string,
  handOut: HandOut | undefined,
  change: (lines: readonly string[], digest: string) => readonly string[],
): string {
  const token = newToken()
  changeAlone(file, () => {
    const before = readText(file)
    write(file, change(linesIn(before), digestOf(token)))
    try {
      handOut?.(token)
    } catch (error) {
      writeUsers(file, before)
      throw error
    }
  })
  return token
}

/** Each person's name and groups. */
export function listUsers(file: string): readonly { readonly name: string; readonly groups: readonly string[] }[] {
  return [...parseUsers(readText(file), file).values()]
}

const tokenBytes = 32

function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

function readText(file: string): string {
  return readIfThere(file) ?? ''
}

function linesIn(text: string): readonly string[] {
  return text.split('\n').filter((line, i, all) => line !== '' || i < all.length - 1)
}

/** A comment has no name. */
function nameIn(line: string): string {
  return line.split('#', 1)[0]?.trim().split(/\s+/)[0] ?? ''
}

function requireWord(word: string): void {
  if (/^[\w.@:/+-]{1,200}$/.test(word)) return
  const why = 'a name is made of letters, digits and . _ @ : / + -'
  throw new OperatingError('BAD_REQUEST', `${JSON.stringify(word)} is no name: ${why}`)
}

function requireThere(lines: readonly string[], name: string, file: string): void {
  if (name !== '' && lines.some((line) => nameIn(line) === name)) return
  throw new OperatingError('BAD_REQUEST', `${file} has nobody called ${name}: setpoint token list shows who is there`)
}

/** What the control plane would refuse is not written. */
function write(file: string, lines: readonly string[]): void {
  const text = lines.map((line) => `${line}\n`).join('')
  parseUsers(text, file)
  writeUsers(file, text)
}

/** Root may do so, too: it is the account of the control plane that has to read it. */
function writeUsers(file: string, text: string): void {
  writeAtomically(file, text, 'directory')
}
