import { join } from 'node:path'
import { startLocalControlPlane } from '../../shared/runtime/local/control-plane.ts'

/**
 * Control planes in one process, by the words `DIRECTORY NAME=off NAME=on …`, which say whether requests are recorded:
 * so they share one heap and one compiled code. Says `ready` with the URL of each.
 */
const [directory = '', ...words] = process.argv.slice(2)
const urls: Record<string, string> = {}
for (const word of words) {
  const [name = '', audit] = word.split('=')
  const dataDirectory = join(directory, name)
  const plane = await startLocalControlPlane({
    port: 0,
    dataDirectory,
    audit: audit === 'on' ? 'on' : 'off',
    controllers: () => [],
  })
  urls[name] = plane.url
}
process.stdout.write(`ready ${JSON.stringify(urls)}\n`)
