import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { authenticatedGroup } from '../../../model/access/authorize.ts'
import { bearerToken } from '../../../model/access/bearer-token.ts'
import { hasCode, OperatingError } from '../../../model/errors.ts'
import type { Authenticator, User } from '../../../ports/authenticator.ts'
import type { Clock } from '../../../ports/clock.ts'
import { readIfThere } from '../../node/atomic-file.ts'

export interface UsersFileOptions {
  readonly file: string
  /** Told once of each version of the file that cannot be taken, and once while the file cannot be read. */
  readonly report: (why: string) => void
  readonly clock: Pick<Clock, 'nowMs'>
}

/**
 * What the file lets in no more stays in for so long at the latest: a look at it costs as much as to let somebody in.
 * Ahead of a refusal there is always a look.
 */
const lookMs = 50

interface UsersFile {
  readonly authenticate: Authenticator
  /** Whom `authenticate` has let in with the same header, and would again: without a look at the token. */
  recall(authorization: string | undefined): User | undefined
}

/**
 * Knows the people of a file by the digests of their tokens. The file is read again when it has changed, and nobody of
 * it is let in while a line of it is wrong: that line may be the one that takes a right away.
 */
export function createUsersFile({ file, report, clock }: UsersFileOptions): UsersFile {
  let known: ReadonlyMap<string, User> = new Map()
  /** Of those that are known, by the header that they send: a digest takes as long as the rest of the way in. */
  const remembered = new Map<string, User>()
  let version = ''
  let lookedAtMs = -Infinity
  let unread = ''

  const refresh = (): void => {
    lookedAtMs = clock.nowMs()
    const now = versionOf(file)
    if (now === version) return
    version = now
    remembered.clear()
    try {
      known = readUsers(file)
      unread = ''
    } catch (error) {
      known = new Map()
      if (hasCode(error, 'BAD_REQUEST')) return report(error.message)
      // It may be there by the next look, in the same version.
      version = ''
      const why = (error as Error).message
      if (why !== unread) report(why)
      unread = why
    }
  }

  const find = (authorization: string): User | undefined => {
    const token = bearerToken(authorization)
    if (token === '') return
    // How close a wrong token came, a digest does not tell.
    const digest = digestOf(token)
    if (!known.has(digest)) refresh()
    const user = known.get(digest)
    if (user === undefined) return
    if (remembered.size >= rememberedMax) remembered.clear()
    remembered.set(authorization, user)
    return user
  }

  const recall = (authorization: string): User | undefined => {
    if (Math.abs(clock.nowMs() - lookedAtMs) >= lookMs) refresh()
    return remembered.get(authorization)
  }

  return {
    authenticate: (authorization) =>
      authorization === undefined ? undefined : (recall(authorization) ?? find(authorization)),
    recall: (authorization) =>
      authorization === undefined || remembered.size === 0 ? undefined : recall(authorization),
  }
}

const rememberedMax = 1_000

/** Any change of the file moves one of these; a file that is not there, or not to be looked at, has a version, too. */
function versionOf(file: string): string {
  try {
    const { mtimeMs, ctimeMs, ino, size, mode } = statSync(file)
    return [mtimeMs, ctimeMs, ino, size, mode].join(' ')
  } catch (error) {
    return (error as Error).message
  }
}

function readUsers(file: string): ReadonlyMap<string, User> {
  const text = readIfThere(file)
  if (text === undefined) return new Map()
  const { mode } = statSync(file)
  if ((mode & 0o022) !== 0) throw refusal(file, 'others than its owner may write it: chmod 600')
  return parseUsers(text, file)
}

/** How a line of the file has a token. */
export function digestOf(token: string): string {
  return hash('sha256', token, 'hex')
}

/** The users by the digests of their tokens. Throws BAD_REQUEST with the place of the first line that is wrong. */
export function parseUsers(text: string, file: string): ReadonlyMap<string, User> {
  const users = new Map<string, User>()
  for (const [i, line] of text.split('\n').entries()) {
    const [said = ''] = line.split('#', 1)
    const [name = '', credential = '', groups = '', ...rest] = said.trim().split(/\s+/)
    if (name === '') continue
    const [, digest] = /^sha256:([0-9a-f]{64})$/.exec(credential) ?? []
    const place = `${file}:${i + 1}`
    if (digest === undefined || rest.length > 0) throw refusal(place, 'a line is NAME sha256:DIGEST GROUP,GROUP')
    if (isReserved(name)) throw refusal(place, reservedNames)
    if (users.has(digest)) throw refusal(place, 'its token is that of another line')
    const named = groups.split(',').filter((group) => group !== '')
    users.set(digest, { name, groups: [...new Set([...named, authenticatedGroup])] })
  }
  return users
}

export const reservedNames = 'names that begin with "system:" are not for people'

export function isReserved(name: string): boolean {
  return name.startsWith('system:')
}

function refusal(place: string, why: string): OperatingError {
  return new OperatingError(
    'BAD_REQUEST',
    `${place}: ${why}; until this is corrected, all users of the file are refused`,
  )
}
