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
  /**
   * All that a process makes beside the database: where one of them is, there was a database. The file of users is not
   * among them, because a person may write that one ahead of the first start.
   */
  readonly witnesses: readonly string[]
}

export function filesIn(directory: string): DataFiles {
  const path = resolve(directory)
  const at = (name: string): string => join(path, name)
  const file = at('setpoint.db')
  const made = {
    keyFile: at('secrets.key'),
    tokenKeyFile: at('service-accounts.key'),
    authorityFile: at('authority.pem'),
    auditFile: at('audit.log'),
    runsFile: at('runs.db'),
    unendedFile: at('unended-runs.json'),
  }
  const others = ['token', 'server.pem', 'kubeconfig'].map(at)
  return {
    file,
    ...made,
    usersFile: at('users'),
    witnesses: [...others, ...Object.values(made), `${file}-wal`],
  }
}
