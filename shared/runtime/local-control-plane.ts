import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createJsonLogger } from '../adapters/local/json-logger.ts'
import { writeKubeconfig } from '../adapters/local/kubeconfig.ts'
import { loadLocalCredentials } from '../adapters/local/local-credentials.ts'
import { createLocalWorkQueue } from '../adapters/local/local-work-queue.ts'
import { startNodeHttpServer } from '../adapters/local/node-http-server.ts'
import { createSqliteChangeFeed } from '../adapters/local/sqlite-change-feed.ts'
import { createSqliteChangeLog } from '../adapters/local/sqlite-change-log.ts'
import { createSqliteCheckpoint } from '../adapters/local/sqlite-checkpoint.ts'
import { openSqliteDatabase, type SqliteDatabase } from '../adapters/local/sqlite-database.ts'
import { createSqliteIndex } from '../adapters/local/sqlite-index.ts'
import { createSqliteStore } from '../adapters/local/sqlite-store.ts'
import { systemClock } from '../adapters/local/system-clock.ts'
import { systemRandom } from '../adapters/local/system-random.ts'
import { createTokenAuthenticator, localAdministrator } from '../adapters/local/token-authenticator.ts'
import { createApi } from '../api/api.ts'
import type { Controller } from '../engine/controller.ts'
import { createEventRecorder } from '../engine/event-recorder.ts'
import type { Clock } from '../ports/clock.ts'
import type { HttpHandler } from '../ports/http-handler.ts'
import type { Logger } from '../ports/logger.ts'
import type { Random } from '../ports/random.ts'
import type { Authenticator } from '../ports/authenticator.ts'
import { createResources } from '../resources/create-resources.ts'
import { createKindCatalog } from '../resources/store-kind-catalog.ts'
import { installBasics } from './install-basics.ts'
import { runLocalEngine, type LocalEngineOptions } from './local-engine.ts'

/** The control plane in one process: the API, the engine and the reconcilers over one SQLite file. */

export interface LocalCoreOptions {
  /** A file, or ":memory:". */
  readonly databaseFile: string
  readonly controllers: readonly Controller[]
  readonly authenticate: Authenticator
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly tickMs?: number
}

export interface LocalCore {
  readonly api: HttpHandler
  /** Resolves once the engine has stopped: it takes no more keys, and gives up what still runs after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

/** Everything but the server. Throws UNAVAILABLE if another process has the file. */
export async function startLocalCore(options: LocalCoreOptions): Promise<LocalCore> {
  const { clock, random, logger, controllers } = options
  const database = openSqliteDatabase(options.databaseFile)
  const changeLog = createSqliteChangeLog({ database, clock })
  const store = createSqliteStore({ database, changeLog })
  const feed = createSqliteChangeFeed({ database, changeLog })
  const catalog = createKindCatalog({ store, clock, maxAgeMs: Infinity })
  const resources = createResources({ store, clock, random, onWrite: ({ object }) => object.kind === 'CustomResourceDefinition' && catalog.invalidate() })
  const events = createEventRecorder({ resources, clock, logger })
  await installBasics({ resources, catalog, controllers })
  const engine: LocalEngineOptions = {
    ...{ store, resources, catalog, clock, random, logger, events, controllers, feed },
    index: createSqliteIndex(database),
    relayed: createSqliteCheckpoint({ database, name: 'relayed', keepsChanges: true }),
    turned: createSqliteCheckpoint({ database, name: 'turned' }),
    createQueue: (visibilityMs) => createLocalWorkQueue({ clock, random, visibilityMs }),
    tickMs: options.tickMs ?? 1_000,
  }
  return {
    api: createApi({ resources, catalog, feed, clock, logger, authenticate: options.authenticate, version: setpointVersion }),
    stop: startEngine(engine, database),
  }
}

export const setpointVersion = '0.1.0'

function startEngine(engine: LocalEngineOptions, database: SqliteDatabase): LocalCore['stop'] {
  const stop = new AbortController()
  const abandon = new AbortController()
  const running = runLocalEngine(engine, { stop: stop.signal, abandon: abandon.signal })
  return async (graceMs) => {
    stop.abort()
    const grace = setTimeout(() => abandon.abort(), graceMs)
    await running
    clearTimeout(grace)
    database.close()
  }
}

export interface LocalControlPlaneOptions {
  readonly port: number
  readonly dataDirectory: string
  /** The reconcilers, told where they may keep what is theirs. */
  readonly controllers: (dataDirectory: string) => readonly Controller[]
}

export interface LocalControlPlane {
  readonly url: string
  readonly kubeconfig: string
  /** Stops taking requests, then runs; done within `graceMs` and a little. */
  stop(graceMs: number): Promise<void>
}

/** Starts the control plane with its server; on first start makes its authority, certificate, token and kubeconfig. */
export async function startLocalControlPlane({ port, dataDirectory, controllers }: LocalControlPlaneOptions): Promise<LocalControlPlane> {
  const directory = resolve(dataDirectory)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const credentials = loadLocalCredentials(directory, systemClock.nowMs())
  const logger = createJsonLogger((line) => process.stderr.write(line), systemClock)
  const core = await startLocalCore({
    databaseFile: join(directory, 'setpoint.db'),
    controllers: controllers(directory),
    authenticate: createTokenAuthenticator(credentials.token, localAdministrator),
    clock: systemClock,
    random: systemRandom,
    logger,
  })
  const server = await startNodeHttpServer({ handler: core.api, tls: credentials.tls, host: '127.0.0.1', port, logger })
  const kubeconfig = join(directory, 'kubeconfig')
  writeKubeconfig(kubeconfig, server.url, credentials)
  return {
    url: server.url,
    kubeconfig,
    stop: async (graceMs) => {
      await server.close(graceMs / 2)
      await core.stop(graceMs / 2)
    },
  }
}
