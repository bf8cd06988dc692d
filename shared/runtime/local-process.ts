import { relative } from 'node:path'
import { OperatingError } from '../model/errors.ts'
import { startLocalControlPlane, type LocalControlPlane, type LocalControlPlaneOptions } from './local-control-plane.ts'

/** Runs the control plane as a process: says when it is ready, stops on SIGTERM and SIGINT, and exits with 0 then. */
export async function runLocalProcess(
  options: Omit<LocalControlPlaneOptions, 'port'> & { readonly port: string },
): Promise<void> {
  try {
    const plane = await startLocalControlPlane({ ...options, port: portOf(options.port) })
    process.stdout.write(readyText(plane))
    await signalled()
    await plane.stop(stopMs)
    process.exit(0)
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error
    process.stderr.write(`setpoint: ${error.message}\n`)
    process.exit(1)
  }
}

/** Within the ten seconds that most supervisors give. */
const stopMs = 8_000

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new OperatingError(
    'BAD_REQUEST',
    `--port: ${JSON.stringify(text)} is not a port; give a number from 0 (any free one) to 65535`,
  )
}

function readyText({ url, kubeconfig }: LocalControlPlane): string {
  const seconds = (performance.now() / 1000).toFixed(2)
  return `setpoint is ready at ${url} (${seconds} s). Try:

  export KUBECONFIG=${quoted(kubeconfig)}
  kubectl api-resources
  kubectl apply -f ${relative(process.cwd(), 'examples/orders.yaml')}
  kubectl get postgresclusters,postgresdatabases -w

`
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve())
  })
}
