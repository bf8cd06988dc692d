import { parseArgs } from 'node:util'
import { startLocal } from '../shared/runtime/local-runtime.ts'
import { postgresReconcilers } from './reconcilers/postgres/reconcilers.ts'

/** `npm start`: the whole control plane in one process, until SIGTERM or SIGINT. */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8443' },
    'data-dir': { type: 'string', default: process.env['SETPOINT_DATA_DIR'] ?? '.setpoint' },
  },
})

await startLocal({
  port: values.port,
  dataDirectory: values['data-dir'],
  controllers: (dataDirectory) => [...postgresReconcilers(dataDirectory)],
})
