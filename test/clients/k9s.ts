import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { runProgram, type Ended } from '../support/program.ts'
import { cached } from '../wire/cache.ts'
import type { Client } from './client.ts'
import { runCommands } from './commands.ts'
import { buildModule } from './go.ts'
import { tellSteps } from './steps.ts'

const version = '0.50.9'
const home = `clients-k9s-${version}`

/**
 * K9s in a terminal of tmux: it lists a kind, describes, edits and deletes an object, by the keys that people press.
 * The one of the PATH is taken, if there is one.
 */
export const k9s: Client = {
  name: 'k9s',
  version,
  fetch: async () => {
    if ((await findKubectls()).length === 0) throw new Error(noKubectl)
    if (!(await isThere('tmux', '-V'))) throw new Error('there is no tmux')
    if (!(await isThere('k9s', 'version')))
      await buildModule(home, { module: `github.com/derailed/k9s@v${version}`, name: 'k9s' })
  },
  run: async (kubeconfig, directory) => {
    const kubectl = (await findKubectls()).at(-1)?.file ?? 'kubectl'
    const args = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(directory, 'kubectl')}`]
    const made = await runCommands(kubectl, commands, { env: {}, args })
    if (made.code !== 0) return made
    await using terminal = await openTerminal(await startLine(kubeconfig, directory))
    return await tellSteps(steps, terminal, () => terminal.screen())
  },
}

async function isThere(file: string, argument: string): Promise<boolean> {
  return runProgram(file, [argument]).then(
    ({ code }) => code === 0,
    () => false,
  )
}

/** The line of a shell that starts it, with an editor that makes red things blue. */
async function startLine(kubeconfig: string, directory: string): Promise<string> {
  const file = (await isThere('k9s', 'version')) ? 'k9s' : join(cached(home), 'k9s')
  const editor = join(directory, 'editor')
  writeFileSync(editor, '#!/bin/sh\nsed -i s/red/blue/ "$1"\n')
  chmodSync(editor, 0o755)
  const env = { HOME: directory, K9S_CONFIG_DIR: directory, KUBECONFIG: kubeconfig, EDITOR: editor, K9S_EDITOR: editor }
  const words = Object.entries(env).map(([name, value]) => `${name}='${value}'`)
  const log = join(directory, 'k9s.log')
  return `${words.join(' ')} '${file}' --logoless --headless --logFile '${log}' -c postcards -n default || cat '${log}'; sleep 600`
}

interface Terminal extends AsyncDisposable {
  /** As tmux names keys. */
  press(...keys: readonly string[]): Promise<void>
  screen(): Promise<string>
}

/** A server of tmux of its own, which ends with it. */
async function openTerminal(line: string): Promise<Terminal> {
  const server = `setpoint-clients-${process.pid}`
  const tmux = (...args: readonly string[]): Promise<Ended> =>
    runProgram('tmux', ['-L', server, '-f', '/dev/null', ...args])
  await tmux('new-session', '-d', '-x', '140', '-y', '40', line)
  return {
    press: async (...keys) => {
      await tmux('send-keys', ...keys)
    },
    screen: async () => (await tmux('capture-pane', '-p')).stdout,
    [Symbol.asyncDispose]: async () => {
      await tmux('kill-server')
    },
  }
}

const steps = {
  'a kind is listed with its columns': (terminal: Terminal) =>
    showing(terminal, [/postcards\(default\)\[2\]/, /│ one +red /, /│ two +red /]),
  'an object is described, and shown as YAML': async (terminal: Terminal) => {
    await terminal.press('d')
    await showing(terminal, [/Describe\(default\/one\)/, /Kind: +Postcard/, /Color: +red/])
    await terminal.press('Escape')
    await showing(terminal, [/postcards\(default\)\[2\]/])
    await terminal.press('y')
    await showing(terminal, [/YAML\(default\/one\)/, /color: red/])
    await terminal.press('Escape')
    await showing(terminal, [/postcards\(default\)\[2\]/])
  },
  'an edit is stored and seen by the watch': async (terminal: Terminal) => {
    await terminal.press('e')
    await showing(terminal, [/postcards\(default\)\[2\]/, /│ one +blue /])
  },
  'a deletion is confirmed, and seen by the watch': async (terminal: Terminal) => {
    await terminal.press('C-d')
    await showing(terminal, [/Delete postcards default\/one\?/])
    // From Cancel to OK.
    await terminal.press('Tab')
    await terminal.press('Enter')
    await showing(terminal, [/postcards\(default\)\[1\]/, /│ two +red /])
  },
}

const waitMs = 120_000

/** Waits until the screen shows all of these. */
async function showing(terminal: Terminal, wanted: readonly RegExp[]): Promise<void> {
  let missing = wanted
  for (const endMs = performance.now() + waitMs; performance.now() < endMs; await sleep(200)) {
    const screen = await terminal.screen()
    missing = wanted.filter((one) => !one.test(screen))
    if (missing.length === 0) return
  }
  throw new Error(`the screen does not show ${missing.join(', ')}`)
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: postcards.clients.setpoint.dev}
spec:
  group: clients.setpoint.dev
  scope: Namespaced
  names: {kind: Postcard, plural: postcards}
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns: [{name: Color, type: string, jsonPath: .spec.color}]
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {color: {type: string}}}}
`

function postcard(name: string): string {
  const parts = ['apiVersion: clients.setpoint.dev/v1', 'kind: Postcard', `metadata: {name: ${name}}`]
  return `---\n${[...parts, 'spec: {color: red}'].join('\n')}\n`
}

const commands = [
  { line: 'apply -f -', input: definition },
  { line: 'wait --for=condition=Established crd/postcards.clients.setpoint.dev --timeout=60s' },
  { line: 'apply -f -', input: postcard('one') + postcard('two') },
]
