import { enableCompileCache } from 'node:module'
import { parseArgs } from 'node:util'

/** `npm start`: the whole control plane in one process, until SIGTERM or SIGINT. */

// Halves the time of every start but the first; what is imported before it is not cached.
enableCompileCache()
const { runLocalProcess } = await import('../shared/runtime/local-process.ts')
const { postgresReconcilers } = await import('./reconcilers/postgres/reconcilers.ts')

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8443' },
    'data-dir': { type: 'string', default: process.env['SETPOINT_DATA_DIR'] ?? '.setpoint' },
  },
})

await runLocalProcess({ port: values.port, dataDirectory: values['data-dir'], controllers: postgresReconcilers })
