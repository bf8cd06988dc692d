import { parseJson } from '../../model/parse-json.ts'
import { closeSync, createWriteStream, existsSync, fsyncSync, openSync, renameSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { flushDirectory, leftOf, nameUnfinished } from '../../adapters/node/atomic-file.ts'
import { checkBackup, copyDatabase, type CheckedBackup } from '../../adapters/local/sqlite/guard/backup.ts'
import { checkAround, type Checked } from '../../adapters/local/sqlite/guard/check.ts'
import { OperatingError } from '../../model/errors.ts'
import { backupPath, removeCopy } from './backup-operation.ts'
import { isInUse } from './check.ts'
import { openLocalRequest } from './local-request.ts'
import { findServerAccess } from './server-access.ts'
import { filesIn } from './files.ts'

/**
 * Writes a backup of a data directory into a file that is not there yet: asks the control plane that runs on it, or
 * copies the database itself if none does, whoever has its port now. What was written is read whole, as the check of a
 * data directory does; of a copy of the files, what a start would find is told, too. Throws UNAVAILABLE, and
 * BAD_REQUEST for what a person can mend; no file is left behind then.
 */
export async function backUp(directory: string, into: string): Promise<CheckedBackup> {
  const { file, keyFile } = filesIn(directory)
  if (!existsSync(file))
    throw new OperatingError('BAD_REQUEST', `${directory} holds no control plane: name its directory (--data-dir)`)
  if (existsSync(into)) throw new OperatingError('BAD_REQUEST', `${into} is there already: name a file that is not`)
  // A name of its own: what stands beside it is somebody else's.
  const unfinished = nameUnfinished(resolve(into))
  try {
    for (const left of leftOf(resolve(into))) removeCopy(left)
    closeSync(openSync(unfinished, 'wx', 0o600))
    const isSent = isInUse(directory) && (await download(directory, unfinished))
    const around = isSent ? [] : [copyFiles(directory, unfinished)]
    flush(unfinished)
    const backup = checkCopy(unfinished, keyFile, around)
    renameSync(unfinished, into)
    flushDirectory(dirname(resolve(into)))
    return backup
  } catch (cause) {
    removeCopy(unfinished)
    if (cause instanceof OperatingError) throw cause
    throw new OperatingError('UNAVAILABLE', `cannot write ${into}: ${(cause as Error).message}`, { cause })
  }
}

/** Of what is lost the copy alone tells nothing: the mark and the log are not in it. */
function copyFiles(directory: string, into: string): Checked {
  const { file, keyFile, witnesses } = filesIn(directory)
  const around = checkAround(file, { witnesses, secrets: { keyFile } })
  copyDatabase(file, into)
  return around
}

/** Where so much is lost that the copy is no control plane, what a start would say tells why. */
function checkCopy(copy: string, keyFile: string, around: readonly Checked[]): CheckedBackup {
  try {
    const copied = checkBackup(copy, keyFile)
    return { ...copied, checked: [...around, ...copied.checked] }
  } catch (cause) {
    const lost = around.flatMap(({ problems }) => problems)
    if (lost.length === 0) throw cause
    throw new OperatingError('UNAVAILABLE', `nothing to back up: ${lost.join('; ')}`, { cause })
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
