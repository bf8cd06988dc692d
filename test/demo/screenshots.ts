import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiClient, readManifests } from '../support/api-client.ts'
import { root } from '../support/control-plane-process.ts'
import { setpointIn } from '../support/setpoint-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/**
 * `npx node test/demo/screenshots.ts`: what commands print about the example `cluster` while it comes up, as pictures
 * in `docs/images`.
 */
const columnsMax = 132
const linesMax = 34
const object = 'databasecluster/orders'
using directory = temporaryDirectory('screenshots')
mkdirSync(join(directory.path, 'node_modules'))
symlinkSync(root, join(directory.path, 'node_modules/setpoint'))
const { call, start } = setpointIn(directory.path)
await using plane = await start(join(root, 'examples/cluster'))
using client = openApiClient(join(directory.path, '.setpoint/kubeconfig'))
for (const body of readManifests(join(root, 'examples/cluster/example.yaml')))
  await client.send('POST /apis/db.example.com/v1alpha1/namespaces/default/databaseclusters', { body })

const explained = await untilSaid(['explain', object], 'MembersMissing')
await untilSaid(['explain', object], 'AllReplicasReady')
picture('explain', `setpoint explain ${object}`, explained)
picture('runs', `setpoint runs ${object}`, (await call('runs', object)).stdout)
picture('doctor', 'setpoint doctor', (await call('doctor')).stdout)
await plane.stop()

/** What a command prints once it says the word. */
async function untilSaid(words: readonly string[], word: string): Promise<string> {
  for (;;) {
    const { stdout } = await call(...words)
    if (stdout.includes(word)) return stdout
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** The text as a terminal shows it. */
function picture(name: string, command: string, text: string): void {
  const lines = [`$ ${command}`, ...text.trimEnd().split('\n')].slice(0, linesMax)
  const rows = lines.map((line) => (line.length > columnsMax ? `${line.slice(0, columnsMax - 1)}…` : line))
  const columns = Math.max(...rows.map(({ length }) => length))
  const [width, height] = [columns * 7.83 + 32, rows.length * 18 + 28]
  const texts = rows.map(
    (row, i) => `<text x="16" y="${28 + i * 18}"${i === 0 ? ' class="command"' : ''}>${escapeText(row)}</text>`,
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(0)} ${height}" font-family="monospace" font-size="13">
  <style>text { fill: #ddd; white-space: pre } .command { fill: #7fd17f }</style>
  <rect width="100%" height="100%" rx="6" fill="#1e1e1e"/>
  ${texts.join('\n  ')}
</svg>
`
  writeFileSync(join(root, 'docs/images', `${name}.svg`), svg)
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\u00a0')
}
