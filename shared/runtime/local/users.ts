import { existsSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { isOwnKubeconfig, writeKubeconfig } from '../../adapters/local/https/kubeconfig.ts'
import { addUser, listUsers, removeUser, rotateUser } from '../../adapters/local/https/users-editor.ts'
import { OperatingError } from '../../model/errors.ts'
import { filesIn } from './files.ts'
import { findServerAccess, type ServerAccess } from './server-access.ts'

/** The people who share the control plane of a data directory. Each change counts from the next request on. */
export interface LocalUsers {
  /** Writes a kubeconfig with the person's new token into a file that is not there. */
  add(name: string, groups: readonly string[], kubeconfig: string): void
  /** The same for another token of theirs; writes over a kubeconfig of before. */
  rotate(name: string, kubeconfig: string): void
  remove(name: string): void
  list(): ReturnType<typeof listUsers>
}

/** Throws BAD_REQUEST if the control plane was never started. */
export function openUsers(directory: string): LocalUsers {
  const { usersFile } = filesIn(directory)
  const access = findServerAccess(directory)
  if (access === undefined)
    throw new OperatingError(
      'BAD_REQUEST',
      `${directory} has no kubeconfig: start its control plane once, or name its directory (--data-dir)`,
    )
  return {
    add: (name, groups, kubeconfig) => {
      if (existsSync(kubeconfig))
        throw new OperatingError('BAD_REQUEST', `${kubeconfig} is there already: name another file (--out)`)
      addUser(usersFile, name, groups, (token) => write(kubeconfig, access, token))
    },
    rotate: (name, kubeconfig) => {
      if (!isOwnKubeconfig(kubeconfig)) {
        const why = `${kubeconfig} is there already, and is no kubeconfig of ours: name another file (--out)`
        throw new OperatingError('BAD_REQUEST', why)
      }
      rotateUser(usersFile, name, (token) => write(kubeconfig, access, token))
    },
    remove: (name) => removeUser(usersFile, name),
    list: () => listUsers(usersFile),
  }
}

/** People on other machines call the server by the name in its certificate. */
function write(kubeconfig: string, { server, authority, name }: ServerAccess, token: string): void {
  const url = new URL(server)
  if (name !== undefined) url.hostname = isIPv6(name) ? `[${name}]` : name
  writeKubeconfig(kubeconfig, url.origin, { authority, token })
}
