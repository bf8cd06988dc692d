import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import { applicationId } from '../../adapters/local/sqlite/sqlite-schema.ts'
import { filesIn } from './files.ts'

const { file: database, keyFile, tokenKeyFile } = filesIn('.')
const keyNames = [keyFile, tokenKeyFile].map((path) => basename(path))

/** Whether a directory holds the data of a control plane, or copies of its keys. */
export function isOwnDirectory(directory: string): boolean {
  return [basename(database), ...keyNames].some((name) => existsSync(join(directory, name)))
}

/** Whether a file is a key, a certificate's key or a database of a control plane, such as a backup. */
export function isOwnFile(file: string): boolean {
  return [...keyNames, 'authority.pem'].includes(basename(file)) || isDatabase(file)
}

/** SQLite's file format, 1.3: the application id is at 68. */
const headLength = 72

function isDatabase(file: string): boolean {
  const head = Buffer.alloc(headLength)
  const opened = openSync(file, 'r')
  try {
    if (readSync(opened, head, 0, headLength, 0) < headLength) return false
  } finally {
    closeSync(opened)
  }
  return head.toString('latin1', 0, 15) === 'SQLite format 3' && head.readInt32BE(headLength - 4) === applicationId
}
