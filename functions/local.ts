import { parseArgs } from 'node:util'
import { runLocalProcess } from '../shared/runtime/local-process.ts'
import { postgresReconcilers } from './reconcilers/postgres/reconcilers.ts'

/** `npm start`: the whole control plane in one process, until SIGTERM or SIGINT. */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8443' },
    'data-dir': { type: 'string', default: process.env['SETPOINT_DATA_DIR'] ?? '.setpoint' },
  },
})

await runLocalProcess({ port: values.port, dataDirectory: values['data-dir'], controllers: postgresReconcilers })
