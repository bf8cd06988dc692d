import { httpServerNames } from '../../shared/adapters/local/https/http-server.ts'
import { loadLocalCredentials } from '../../shared/adapters/local/https/local-credentials.ts'
import { startLocalControlPlane } from '../../shared/runtime/local/control-plane.ts'
import { gadgetReconciler } from './gadget.ts'
import { serve } from './serve.ts'

/**
 * The control plane under test, as a process: what `npm start` runs, with one reconciler. `SETPOINT_HTTP` counts,
 * too.
 */
await serve(async (directory) => {
  const plane = await startLocalControlPlane({
    port: 0,
    dataDirectory: directory,
    httpServer: httpServerNames.find((name) => name === process.env['SETPOINT_HTTP']) ?? 'lean',
    controllers: () => [gadgetReconciler()],
  })
  const { authority, token } = loadLocalCredentials(directory, Date.now())
  return { port: Number(new URL(plane.url).port), authority, token, stop: () => plane.stop(1_000) }
})
