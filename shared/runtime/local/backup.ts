import { parseJson } from '../../model/parse-json.ts'
import { closeSync, createWriteStream, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { checkBackup, copyDatabase, type CheckedBackup } from '../../adapters/local/sqlite/guard/backup.ts'
import { OperatingError } from '../../model/errors.ts'
import { backupPath } from './backup-operation.ts'
import { isInUse } from './check.ts'
import { openLocalRequest } from './local-request.ts'
import { findServerAccess } from './server-access.ts'
import { filesIn } from './files.ts'

/**
 * Writes a backup of a data directory into a file that is not there yet: asks the control plane that runs on it, or
 * copies the database itself if none does, whoever has its port now. What was written is read whole, as the check of a
 * data directory does. Throws UNAVAILABLE, and BAD_REQUEST for what a person can mend; no file is left behind then.
 */
export async function backUp(directory: string, into: string): Promise<CheckedBackup> {
  const { file, keyFile } = filesIn(directory)
  if (!existsSync(file))
    throw new OperatingError('BAD_REQUEST', `${directory} holds no control plane: name its directory (--data-dir)`)
  if (existsSync(into)) throw new OperatingError('BAD_REQUEST', `${into} is there already: name a file that is not`)
  const unfinished = `${resolve(into)}.tmp`
  try {
    rmSync(unfinished, { force: true })
    closeSync(openSync(unfinished, 'wx', 0o600))
    const isSent = isInUse(directory) && (await download(directory, unfinished))
    if (!isSent) copyDatabase(file, unfinished)
    flush(unfinished)
    const checked = checkBackup(unfinished, keyFile)
    renameSync(unfinished, into)
    return checked
  } catch (cause) {
    rmSync(unfinished, { force: true })
    if (cause instanceof OperatingError) throw cause
    throw new OperatingError('UNAVAILABLE', `cannot write ${into}: ${(cause as Error).message}`, { cause })
  }
}

function flush(file: string): void {
  const descriptor = openSync(file, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** What the control plane sends; false if none answers where the kubeconfig of the directory says. */
async function download(directory: string, into: string): Promise<boolean> {
  const access = findServerAccess(directory)
  if (access === undefined) return false
  // The copy takes its time, however long, of a control plane that answers at all.
  const alive = await openLocalRequest(access, { method: 'GET', path: 'livez' })
  alive?.resume()
  const answer = await openLocalRequest(access, { method: 'POST', path: backupPath })
  if (answer === undefined) return false
  if (answer.statusCode !== 200)
    throw new OperatingError('UNAVAILABLE', `${access.server}: ${messageIn(await text(answer))}`)
  await pipeline(answer, createWriteStream(into))
  return true
}

/** Of a Status. */
function messageIn(body: string): string {
  try {
    return String((parseJson(body) as { message?: unknown }).message)
  } catch (error) {
    if (error instanceof SyntaxError) return body.slice(0, 200)
    throw error
  }
}
