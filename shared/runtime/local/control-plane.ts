import { join, resolve } from 'node:path'
import { createTokenSigner } from '../../adapters/node/account-tokens.ts'
import { withGzipAnswers } from '../../adapters/node/gzip-answers.ts'
import type { LogLevel } from '../../adapters/node/json-logger.ts'
import { writeKubeconfig } from '../../adapters/local/https/kubeconfig.ts'
import type { CertificateFiles } from '../../adapters/local/https/own-certificate.ts'
import { startHttpServer, type HttpServerName } from '../../adapters/local/https/http-server.ts'
import { systemClock } from '../../adapters/node/system-clock.ts'
import type { HttpServer } from '../../adapters/local/https/listener.ts'
import { createHttpsWebhooks } from '../../adapters/node/https-webhooks.ts'
import { systemRandom } from '../../adapters/node/system-random.ts'
import { createTokenKeyFile } from '../../adapters/local/tokens/token-key-file.ts'
import type { Consent } from '../../adapters/local/sqlite/guard/guarded-database.ts'
import type { Controller } from '../../reconciler/controller.ts'
import type { Rate } from '../../model/reservations.ts'
import type { AuditedRequest, AuditScope } from '../../ports/audit.ts'
import type { HttpHandler } from '../../ports/http-handler.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { Logger } from '../../ports/logger.ts'
import { backupPath, createBackupOperation } from './backup-operation.ts'
import { createDamageLook } from './damage-look.ts'
import { makeDataDirectory } from './data-directory.ts'
import { Opened } from './opened.ts'
import { findOpenFiles } from './own-files.ts'
import { startReplaceableCore, type ReplaceableCore } from './replaceable-core.ts'
import type { LocalCoreOptions } from './core.ts'
import { startCoreWithRoles } from './core-with-roles.ts'
import { filesIn } from './files.ts'
import { createLogLevelOperation, logLevelPage, logLevelPath, withRequestLog } from './log-level.ts'
import { openGuardedPorts, type GuardedPorts } from './ports.ts'
import { createLocalAuthenticator, type SignIn } from './sign-in.ts'
import { loadEndpoint, ownUrl, renewEndpoint, type EndpointOptions, type ServedEndpoint } from './endpoint.ts'
import { openRecords, type Records } from './records.ts'
import { openUnendedRuns, type UnendedRunsFile } from './unended-file.ts'
import { withRequestSpans } from '../spans.ts'

export interface LocalControlPlaneOptions {
  /** 0 for any that is free. */
  readonly port: number
  readonly dataDirectory: string
  /** Default info. */
  readonly logLevel?: LogLevel
  /** An address of this machine. Default 127.0.0.1. */
  readonly host?: string
  /** Of one's own, which `host` needs beyond this machine. Default: one of the directory's own authority. */
  readonly certificate?: CertificateFiles | undefined
  /** Who else is let in. Default: nobody. */
  readonly signIn?: SignIn
  /** Default lean. */
  readonly httpServer?: HttpServerName
  /** Whether clients that speak HTTP/2 may. Default: that they may. */
  readonly http2?: boolean
  /**
   * Which requests are recorded, in `audit.log`: none, those by whose method something may change, all, or those that a
   * function of yours chooses, which must not throw. Default off.
   */
  readonly audit?: AuditScope | ((request: AuditedRequest) => boolean)
  /** Spans of requests, writes and runs. Default: none. */
  readonly tracing?: Tracing | undefined
  /** What all controllers together may spend on retries. Default: no limit. */
  readonly retryBudget?: Rate | undefined
  /**
   * The reconcilers, told where they may keep what is theirs. Asked at the start and at each reload, so that a module
   * that defines them may be loaded then.
   */
  readonly controllers: (dataDirectory: string) => readonly Controller[] | Promise<readonly Controller[]>
  /** What a person said to a refusal: that something is lost, or that this is a copy. */
  readonly consent?: Consent | undefined
  /** Lets a copy act from now on. */
  readonly resume?: boolean
  /** Encrypts all Secrets anew, with another key. */
  readonly rotateKey?: boolean
}

/** The control plane in one process: the API, the engine and the reconcilers over one SQLite file. */
export interface LocalControlPlane {
  readonly url: string
  readonly kubeconfig: string
  /** It is a copy of another one: nothing is reconciled. */
  readonly isHeld: boolean
  /** Resolves when it has stopped; rejects if it breaks, which is a bug. */
  readonly ended: Promise<unknown>
  /**
   * Asks for the reconcilers again and runs every object by these, while clients stay connected. Rejects if they cannot
   * be loaded or cannot start: those of before go on then.
   */
  reload(graceMs: number): Promise<void>
  /** Stops taking requests and runs; what goes on for longer than `graceMs` is given up. A second time is none. */
  stop(graceMs: number): Promise<void>
}

/**
 * Starts the control plane with its server; on first start makes its authority, certificate, token and kubeconfig.
 * Throws UNAVAILABLE if another process has the data directory, or the port, if the directory cannot be made, or if
 * something of it is lost.
 * Nothing of the controllers is loaded or run before all of that is ours; who asks meanwhile is answered when
 * everything runs.
 */
export async function startLocalControlPlane({
  port,
  host = '127.0.0.1',
  certificate,
  signIn = {},
  dataDirectory,
  logLevel = 'info',
  httpServer = 'lean',
  http2 = true,
  retryBudget,
  audit = 'off',
  controllers,
  rotateKey = false,
  tracing,
  ...guard
}: LocalControlPlaneOptions): Promise<LocalControlPlane> {
  const directory = resolve(dataDirectory)
  // Passable, not readable: what reconcilers keep in it may belong to other accounts. Our own files are for us alone.
  makeDataDirectory(directory, 0o711)
  await using opened = new Opened()
  const files = filesIn(directory)
  const { file, witnesses, keyFile } = files
  const secrets = { keyFile, rotateKey }
  const ports = opened.adopt(openGuardedPorts(file, systemClock, { ...guard, witnesses, secrets }), (one) =>
    one.close(),
  )
  const place = { directory, host, certificate, signIn }
  const endpoint = loadEndpoint(place, systemClock.nowMs())
  const records = opened.adopt(openRecords({ ...files, logLevel, audit }), (one) => one.close())
  const { logger } = records
  tellFoundDamage(ports, logger)
  ports.listen(({ level: severity, says }) => logger[severity](says))
  const { promise: api, resolve: serve } = Promise.withResolvers<HttpHandler>()
  const answer: HttpHandler = async (request) => (await api)(request)
  const handler = withRecords(answer, records, tracing)
  const server = opened.adopt(
    await startHttpServer(httpServer, { handler, tls: endpoint.tls, host, port, logger, http2 }),
    (one) => one.close(0),
  )
  const kubeconfig = join(directory, 'kubeconfig')
  writeKubeconfig(kubeconfig, ownUrl(server.url), endpoint)
  tellOpenFiles(directory, logger)
  const look = createDamageLook({ ...ports, clock: systemClock, logger })
  const looked = { ...ports, areAllRead: look.isDone }
  const surroundings = await createSurroundings({ directory, ports: looked, records, signIn, token: endpoint.token })
  const unended = opened.adopt(openUnendedRuns(files.unendedFile, logger), (one) => one.stop())
  const core = await startReplaceableCore({
    // What a copy did would be done twice.
    load: async () => (ports.isHeld ? [] : controllers(directory)),
    start: (own, overruns) => {
      const options = { ...surroundings, controllers: own, overruns, retryBudget, ...(tracing && { tracing }) }
      return startCoreWithRoles(followRuns(unended, options))
    },
    introduceAgain: () => ports.introduced.save('[]'),
  })
  serve(core.api)
  opened.handOver()
  const stopping = new AbortController()
  void hourly(createRenewal({ place, endpoint, kubeconfig, server, logger }), logger, stopping.signal)
  void look.run(stopping.signal)
  return {
    url: server.url,
    kubeconfig,
    isHeld: ports.isHeld,
    ended: core.ended,
    reload: core.replace,
    stop: createStop({ stopping, unended, server, core, records, ports }),
  }
}

/** A person should know of it: the disk may damage more. */
function tellFoundDamage({ foundDamage, accepted }: GuardedPorts, logger: Logger): void {
  if (accepted.length > 0) logger.warn('started as a person said, with what is there', { found: [...accepted] })
  if (foundDamage.length === 0) return
  const found = foundDamage.slice(0, 10)
  logger.warn('the database was damaged beside its states: made anew from them, and every object runs once', { found })
}

/** The directory itself may be passed by others, for what reconcilers keep in it. */
function tellOpenFiles(directory: string, logger: Logger): void {
  const files = findOpenFiles(directory)
  if (files.length > 0) logger.warn('other accounts can read files that hold secrets: chmod o= these', { files })
}

interface Stopped {
  readonly stopping: AbortController
  readonly unended: UnendedRunsFile
  readonly server: HttpServer
  readonly core: ReplaceableCore
  readonly records: Records
  readonly ports: GuardedPorts
}

/** One end for all who ask for it: a signal, and whoever started it. */
function createStop({ stopping, unended, server, core, records, ports }: Stopped): LocalControlPlane['stop'] {
  const stop = async (graceMs: number): Promise<void> => {
    stopping.abort()
    unended.stop()
    try {
      await Promise.all([server.close(graceMs), core.stop(graceMs)])
    } finally {
      records.close()
      ports.close()
    }
  }
  let stopped: Promise<void> | undefined
  return (graceMs) => (stopped ??= stop(graceMs))
}

/** The handler, with what is told of its requests. */
function withRecords(answer: HttpHandler, { level, logger }: Records, tracing: Tracing | undefined): HttpHandler {
  const traced = tracing === undefined ? answer : withRequestSpans(answer, tracing)
  return withRequestLog(withGzipAnswers(traced), level, logger)
}

/** What was given up is written where anything is reconciled. */
function followRuns(unended: UnendedRunsFile, options: LocalCoreOptions): LocalCoreOptions {
  const followed = { ...options, controllers: unended.follow(options.controllers) }
  return options.ports.isHeld === true ? followed : { ...followed, unended: unended.takeGivenUp() }
}

interface RenewalOptions {
  readonly place: EndpointOptions
  /** As at the start. */
  readonly endpoint: ServedEndpoint
  readonly kubeconfig: string
  readonly server: HttpServer
  readonly logger: Logger
}

/** Reads the certificates again. Authorities of clients that cannot be taken stay as they were. */
function createRenewal({ place, endpoint, kubeconfig, server, logger }: RenewalOptions): () => void {
  let served = endpoint
  const tellKept = (error: unknown): void =>
    logger.error('authorities of clients not renewed; the next attempt is in an hour', { error: String(error) })
  return () => {
    served = renewEndpoint(place, served, systemClock.nowMs(), tellKept)
    server.renew(served.tls)
    writeKubeconfig(kubeconfig, ownUrl(server.url), served)
  }
}

interface SurroundingsOptions {
  readonly directory: string
  readonly ports: GuardedPorts
  readonly records: Records
  readonly signIn: SignIn
  /** The administrator's. */
  readonly token: string
}

/** What the core stands on in a process of its own. Throws UNAVAILABLE if the key of tokens is damaged. */
async function createSurroundings({ directory, ports, records, signIn, token }: SurroundingsOptions) {
  const { tokenKeyFile, usersFile } = filesIn(directory)
  const keys = createTokenKeyFile(tokenKeyFile)
  // A damaged key is told now, and not to who comes with a token.
  await keys.all()
  const { logger, level, history, told } = records
  return {
    ports,
    authenticate: createLocalAuthenticator({ token, usersFile, signIn, clock: systemClock, logger }),
    ...told,
    ...(history && { history }),
    pages: new Map([[logLevelPath, logLevelPage(level)]]),
    operations: new Map([
      [backupPath, createBackupOperation({ directory, copyTo: ports.copyTo })],
      [logLevelPath, createLogLevelOperation(level, logger)],
    ]),
    tokens: createTokenSigner({ keys, clock: systemClock }),
    clock: systemClock,
    random: systemRandom,
    webhooks: createHttpsWebhooks(),
    logger,
  }
}

const hourMs = 3_600_000

/** A process may run for longer than its certificate holds, and another program may write a new one. */
async function hourly(renew: () => void, logger: Logger, signal: AbortSignal): Promise<void> {
  for (;;) {
    await systemClock.sleep(hourMs, signal)
    if (signal.aborted) return
    try {
      renew()
    } catch (error) {
      logger.error('certificate not renewed; the next attempt is in an hour', { error: String(error) })
    }
  }
}
