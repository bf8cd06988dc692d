import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { kubeconfigHead } from '../../adapters/local/https/kubeconfig.ts'
import { applicationId } from '../../adapters/local/sqlite/sqlite-schema.ts'
import { filesIn } from './files.ts'

const { file: database, keyFile, tokenKeyFile } = filesIn('.')
const keyNames = [keyFile, tokenKeyFile].map((path) => basename(path))

/** Whether a directory holds the data of a control plane, or copies of its keys. */
export function isOwnDirectory(directory: string): boolean {
  return [basename(database), ...keyNames].some((name) => existsSync(join(directory, name)))
}

/**
 * Whether a file is a key, a token, a kubeconfig, a private key of a certificate or a database of a control plane, such
 * as a backup, under whatever name.
 */
export function isOwnFile(file: string): boolean {
  if (secretNames.has(basename(file))) return true
  const head = headOf(file)
  const text = head.toString('latin1')
  return isDatabase(head) || text.startsWith(kubeconfigHead) || privateKey.test(text)
}

const secretNames: ReadonlySet<string> = new Set([...keyNames, 'authority.pem', 'server.pem', 'token', 'kubeconfig'])

/**
 * Those of a directory that hold a secret, and that every account of the machine may read, as after a copy that did not
 * keep their rights. What a group may read is meant for it, as in a volume of Kubernetes.
 */
export function findOpenFiles(directory: string): string[] {
  // Systems without accounts as these tell of no rights.
  if (process.getuid === undefined) return []
  return [...secretNames, basename(database)].filter((name) => {
    const found = statSync(join(directory, name), { throwIfNoEntry: false })
    return found !== undefined && (found.mode & othersRead) !== 0
  })
}

const othersRead = 0o004

/** A certificate may stand ahead of its key. */
const headLength = 16_384
const privateKey = /-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY-----/

function headOf(file: string): Buffer {
  const head = Buffer.alloc(headLength)
  const opened = openSync(file, 'r')
  try {
    return head.subarray(0, readSync(opened, head, 0, headLength, 0))
  } finally {
    closeSync(opened)
  }
}

/** SQLite's file format, 1.3: the application id is at 68. */
const applicationIdAt = 68

function isDatabase(head: Buffer): boolean {
  if (head.length < applicationIdAt + 4 || head.readInt32BE(applicationIdAt) !== applicationId) return false
  return head.toString('latin1', 0, 15) === 'SQLite format 3'
}
