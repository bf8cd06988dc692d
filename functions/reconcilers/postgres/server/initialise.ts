import { randomUUID } from 'node:crypto'
import { chown, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PostgresFailure } from '../failure.ts'
import { scramVerifier } from '../scram.ts'
import { runCommand } from './command.ts'
import { exists, removeTree, syncDirectory } from './files.ts'
import { makeHome, type Server } from './home.ts'
import { clearRemains } from './remains.ts'

/** The superuser of a server. Its password is printable ASCII. */
export interface Superuser {
  readonly user: string
  readonly password: string
}

/**
 * Makes the data directory, unless there is one. It appears complete and synced to disk or not at all: initdb works in
 * a staging directory beside it, which the next call or `destroy` clears when a crash left it behind.
 * Text sorts by code point and is UTF-8 whatever the machine's locale, so that servers agree on every machine.
 */
export async function initialise(server: Server, superuser: Superuser, signal: AbortSignal): Promise<void> {
  const home = await makeHome(server, signal)
  await clearRemains(home, signal)
  if (await exists(home.data)) return
  const staging = join(home.path, `staging-${randomUUID()}`)
  try {
    await fillStaging(server, { staging, superuser, signal })
    await rename(join(staging, 'data'), home.data)
    for (const parent of [home.path, dirname(home.path)]) await syncDirectory(parent)
  } finally {
    await removeTree(staging)
  }
}

interface Filling {
  readonly staging: string
  readonly superuser: Superuser
  readonly signal: AbortSignal
}

async function fillStaging({ host }: Server, { staging, superuser, signal }: Filling): Promise<void> {
  const { account, binaries } = host
  const passwordFile = join(staging, 'password')
  await mkdir(staging, { mode: 0o700 })
  await writeFile(passwordFile, `${await scramVerifier(superuser.password)}\n`, { mode: 0o600 })
  if (account !== undefined) {
    for (const path of [passwordFile, staging]) await chown(path, account.uid, account.gid)
  }
  const files = [`--pgdata=${join(staging, 'data')}`, `--pwfile=${passwordFile}`]
  const identity = [`--username=${superuser.user}`, '--auth=scram-sha-256', '--encoding=UTF8', '--no-instructions']
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  // Ended gently, initdb would remove the directory under the server it runs, which would then crash and leave shared
  // memory behind; killed, it lets that server end in good order.
  const options = { account, signal, killSignal: 'SIGKILL' } as const
  const result = await runCommand(binaries.initdb, [...files, ...identity, ...locale], options)
  if (result.code === 0) return
  const complaint = /(?:error|FATAL): *(.*)/.exec(result.stderr)?.[1] ?? `exit code ${result.code}`
  throw new PostgresFailure('retryable', 'InitialisationFailed', `initdb failed: ${complaint}`)
}
