import { rm } from 'node:fs/promises'
import { PostgresFailure } from '../failure.ts'
import { readIfPresent, replaceFile } from './files.ts'
import type { Home } from './home.ts'
import { findPostmaster } from './postmaster.ts'

/**
 * Some settings show only at a start that the server cannot use them: more reserved connections than there are, a
 * library that is not there. Then those with which it last came up are put back, and the new ones are remembered as
 * refused.
 */

/** The server has come up with the configuration as it is, or has taken it by a reload. */
export async function recordProven(home: Home): Promise<void> {
  const text = await readIfPresent(home.config)
  if (text === undefined || text === (await readIfPresent(home.proven))) return
  await replaceFile(home.proven, { text, mode: 0o600 })
}

/** Puts back the configuration with which the server last came up. Answers the one in its place, if it is another. */
export async function putProvenBack(home: Home): Promise<string | undefined> {
  const [text, proven] = await Promise.all([readIfPresent(home.config), readIfPresent(home.proven)])
  if (proven === undefined || text === proven) return undefined
  await replaceFile(home.config, { text: proven, mode: 0o644 })
  return text
}

/** The server does not start with this configuration, for the reason that the message gives in one line. */
export async function recordRefused(home: Home, text: string, message: string): Promise<void> {
  await replaceFile(home.refused, { text: `${message}\n${text}`, mode: 0o600 })
}

/**
 * A server that runs is not stopped once more for a configuration that it did not start with. The refusal is forgotten
 * when the server is down, or when another configuration is wanted: then this one may be tried again.
 */
export async function requireUnrefused(home: Home, text: string, signal: AbortSignal): Promise<void> {
  const [message = '', ...lines] = (await readIfPresent(home.refused))?.split('\n') ?? []
  if (lines.join('\n') === text && (await findPostmaster(home, signal)) !== undefined) throw refusedSettings(message)
  await rm(home.refused, { force: true })
}

export function refusedSettings(message: string): PostgresFailure {
  return new PostgresFailure('terminal', 'ConfigurationInvalid', message)
}
