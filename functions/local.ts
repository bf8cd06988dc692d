import { cacheCompiledCode } from '../shared/runtime/local/compile-cache.ts'

/** `npm start`: the whole control plane in one process, until SIGTERM, SIGINT or SIGHUP. */

cacheCompiledCode()
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
