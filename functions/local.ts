import { enableCompileCache } from 'node:module'

/** `npm start`: the whole control plane in one process, until SIGTERM, SIGINT or SIGHUP. */

// Halves the time of every start but the first; what is imported before it is not cached.
enableCompileCache()
const { runLocalProcess } = await import('../shared/runtime/local/process.ts')

// Loaded in there, a definition that cannot work is told as one.
await runLocalProcess(async (dataDirectory) => {
  const { backupReconcilers } = await import('./reconcilers/backup/reconcilers.ts')
  const { konnectReconcilers } = await import('./reconcilers/konnect/reconcilers.ts')
  const { ownReconcilers } = await import('./reconcilers/own.ts')
  const { postgresReconcilers } = await import('./reconcilers/postgres/reconcilers.ts')
  return [
    ...postgresReconcilers(dataDirectory),
    ...backupReconcilers(`${dataDirectory}/backups`),
    ...konnectReconcilers(),
    ...ownReconcilers,
  ]
})
