import { join, resolve } from 'node:path'

/** The files of a data directory that tell of each other. */
export interface DataFiles {
  readonly file: string
  readonly keyFile: string
  /** Signs the tokens of ServiceAccounts. */
  readonly tokenKeyFile: string
  /** Signs the certificate of the server. */
  readonly authorityFile: string
  /** What was asked for, and by whom, if that is to be recorded. */
  readonly auditFile: string
  /** The people who may sign in, if there is one. */
  readonly usersFile: string
  /** The last runs of each object; may be deleted at any time. */
  readonly runsFile: string
  /** In how many ends of the process in a row an object was under way; may be deleted at any time. */
  readonly unendedFile: string
  /** Made after the database: where one is, there was a database. */
  readonly witnesses: readonly string[]
}

/**
 * All that an earlier process leaves: whichever of it is left alone, nobody takes the directory for a new one. The file
 * of users is not among it, because a person may write that one ahead of the first start.
 */
const madeLater = [
  'token',
  'authority.pem',
  'server.pem',
  'kubeconfig',
  'secrets.key',
  'service-accounts.key',
  'audit.log',
  'runs.db',
  'unended-runs.json',
  'setpoint.db-wal',
]

export function filesIn(directory: string): DataFiles {
  const path = resolve(directory)
  return {
    file: join(path, 'setpoint.db'),
    keyFile: join(path, 'secrets.key'),
    auditFile: join(path, 'audit.log'),
    usersFile: join(path, 'users'),
    runsFile: join(path, 'runs.db'),
    unendedFile: join(path, 'unended-runs.json'),
    tokenKeyFile: join(path, 'service-accounts.key'),
    authorityFile: join(path, 'authority.pem'),
    witnesses: madeLater.map((name) => join(path, name)),
  }
}
