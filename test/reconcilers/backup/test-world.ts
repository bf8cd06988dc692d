import { Readable } from 'node:stream'
import type { Archive, StoredDump } from '../../../functions/reconcilers/backup/archive/archive.ts'
import type { withDump } from '../../../functions/reconcilers/backup/dump/dump.ts'
import { PostgresDatabase } from '../../../functions/reconcilers/postgres/kinds.ts'
import { defineReconciler, done, Secret, type Controller } from '../../../shared/index.ts'

/** Databases and an archive without a server or a disk, for tests of the reconcilers alone. */

export interface MemoryArchive extends Archive {
  readonly stored: Map<string, StoredDump>
}

export function createMemoryArchive(nowMs: () => number): MemoryArchive {
  const stored = new Map<string, StoredDump>()
  return {
    stored,
    write: async (name, content) => {
      let sizeBytes = 0
      for await (const chunk of content) sizeBytes += chunk.length
      stored.set(name, { name, sizeBytes, storedMs: nowMs() })
      return { sizeBytes, sha256: '0'.repeat(64) }
    },
    list: async (folder) => [...stored.values()].filter(({ name }) => name.startsWith(`${folder}/`)),
    read: async () => Readable.from([]),
    remove: async (name) => void stored.delete(name),
  }
}

/** A way to dump that can be told to wait or to fail. */
export interface TestDump {
  readonly run: typeof withDump
  /** Dumps wait from now on, until they are released, or their signal fires. */
  hold(): void
  release(): void
  /** Every dump fails from now on, or those of one database. */
  fail(error: Error, database?: string): void
  mend(): void
  /** Dumps say from now on that this program made them. */
  makeBy(program: string): void
  /** How many were begun since the last reset, of a database or of all. */
  count(database?: string): number
  reset(): void
}

export function createTestDump(): TestDump {
  let gate = Promise.resolve()
  let open = (): void => {}
  let failure: { readonly error: Error; readonly of: string | undefined } | undefined
  let begun: string[] = []
  let maker: { readonly madeBy?: string } = {}
  return {
    run: async ({ endpoint: { database }, signal }, use) => {
      begun.push(database)
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      )
      aborted.catch(() => {})
      await Promise.race([gate, aborted])
      signal.throwIfAborted()
      if (failure !== undefined && (failure.of ?? database) === database) throw failure.error
      return use({ ...maker, leftOut: [], content: Readable.from([Buffer.from(database)]) })
    },
    hold: () => {
      gate = new Promise((resolve) => (open = resolve))
    },
    release: () => open(),
    fail: (error, of) => {
      failure = { error, of }
    },
    mend: () => {
      failure = undefined
    },
    makeBy: (madeBy) => {
      maker = { madeBy }
    },
    count: (database) => begun.filter((one) => database === undefined || one === database).length,
    reset: () => {
      open()
      gate = Promise.resolve()
      failure = undefined
      maker = {}
      begun = []
    },
  }
}

/** PostgresDatabases that are ready at once, but for those whose cluster is called `away`. */
export const readyDatabases: Controller = defineReconciler(PostgresDatabase, {
  owns: [Secret],
  async reconcile({ metadata: { name }, spec }, ctx) {
    if (spec.clusterRef.name === 'away') return done({ ready: { reason: 'ClusterNotReady', message: 'it is away' } })
    const secret = `${name}-connection`
    const stringData = {
      host: '127.0.0.1',
      port: '5432',
      username: name,
      password: 'correct horse battery staple',
      database: name,
    }
    await ctx.apply(Secret, { metadata: { name: secret }, stringData })
    return done({ status: { database: name, role: name, secretRef: { name: secret } } })
  },
})

export function databaseManifest(name: string, cluster = 'main') {
  return {
    apiVersion: 'postgres.setpoint.dev/v1alpha1',
    kind: 'PostgresDatabase',
    metadata: { name },
    spec: { clusterRef: { name: cluster } },
  }
}
