import { type Pending, findOtherProgram, findPendingChange } from './configure.ts'
import { readIfPresent } from './files.ts'
import { findHome, type Server, findDataVersion } from './home.ts'
import { portIn } from './settings.ts'
import { findPostmaster, type Postmaster } from './postmaster.ts'

/** What is there, found on disk and in the process table; nothing is remembered between calls. */
export interface ServerObservation {
  readonly initialised: boolean
  readonly configured: boolean
  /** Absent when no server runs on the data directory. */
  readonly running: Postmaster | undefined
  /** What runs it, where that is another program than a start would take. */
  readonly otherProgram: string | undefined
  readonly pending: Pending
  /** Major version of the data directory. */
  readonly version: string | undefined
  /** The port of the configuration; a running server may still listen on the one before. */
  readonly port: number | undefined
}

/** Looks, and changes nothing. Answers for a server that does not exist, too. */
export async function observe(server: Server, signal: AbortSignal): Promise<ServerObservation> {
  const home = await findHome(server)
  const version = home && (await findDataVersion(home.path))
  if (home === undefined || version === undefined) return nothing
  const [config, access] = await Promise.all([readIfPresent(home.config), readIfPresent(home.access)])
  const configured = config !== undefined && access !== undefined
  const running = await findPostmaster(home, signal)
  const pending = configured ? await findPendingChange(server, home, signal) : 'none'
  const otherProgram = running && (await findOtherProgram(server.host.binaries.postgres, home))
  return { initialised: true, configured, running, otherProgram, pending, version, port: portIn(config) }
}

const nothing: ServerObservation = {
  initialised: false,
  configured: false,
  running: undefined,
  otherProgram: undefined,
  pending: 'none',
  version: undefined,
  port: undefined,
}
