import { startLocalControlPlane } from '../../shared/runtime/local/control-plane.ts'

/**
 * A control plane by the words `DIRECTORY NAMESPACE`, which records the requests about that namespace only, so that
 * requests with and without a record run through the same compiled code. Says `ready` with its URL.
 */
const [dataDirectory = '', namespace = ''] = process.argv.slice(2)
const recorded = `/api/v1/namespaces/${namespace}/`
const plane = await startLocalControlPlane({
  port: 0,
  dataDirectory,
  audit: ({ path }) => path.startsWith(recorded),
  controllers: () => [],
})
process.stdout.write(`ready ${plane.url}\n`)
