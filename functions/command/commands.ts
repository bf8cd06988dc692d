import { OperatingError } from '../../shared/index.ts'
import { createAskKubectl, type AskKubectl } from './ask-kubectl.ts'
import { reloading } from './reloading.ts'
import { forTerminal } from './terminal-text.ts'

/** One command: what comes after its name, what it is for, and what it does. */
interface Command {
  readonly usage: string
  readonly summary: string
  readonly run: (args: readonly string[], ask: AskKubectl) => Promise<void>
}

/** Each is loaded when it is called: the start of a control plane takes no code of the others. */
const commands: Readonly<Record<string, Command>> = {
  init: {
    usage: '[group/version/Kind]',
    summary: 'write a repository with a kind, its reconciler and its test into this directory',
    run: async (args) => (await import('./init/init.ts')).runInit(args),
  },
  dev: {
    usage: '[entry] [--port 8443] [--data-dir .setpoint] [--reset] [--inspect]',
    summary: 'run a control plane that takes your code at each change, and show its runs',
    run: async (args) => (await import('./dev.ts')).runDev(args),
  },
  start: {
    usage: '[entry] [--help]',
    summary: 'run a control plane with your reconcilers on this machine',
    run: async (args) => (await import('./start.ts')).runStart(args),
  },
  check: {
    usage: '[--data-dir .setpoint]',
    summary: 'read everything in a data directory, and say what is damaged',
    run: async (args) => (await import('./start.ts')).runCheck(args),
  },
  explain: {
    usage: 'KIND/NAME [-n namespace]',
    summary: 'say what the control plane knows about an object, and what comes next for it',
    run: async (args, ask) => (await import('./ask-plane.ts')).explainObject(args, ask),
  },
  doctor: {
    usage: '',
    summary: 'check each controller of a control plane against good practice',
    run: async (args, ask) => (await import('./ask-plane.ts')).printDoctor(args, ask),
  },
  reconcile: {
    usage: 'KIND/NAME | --all KIND [-n namespace]',
    summary: 'run objects now, whatever they wait for',
    run: async (args, ask) => (await import('./ask-plane.ts')).requestRuns(args, ask),
  },
  runs: {
    usage: 'KIND/NAME [-n namespace] [-o json]',
    summary: 'list the last runs of an object: why, how long, how it went',
    run: async (args, ask) => (await import('./ask-plane.ts')).printRuns(args, ask),
  },
  logs: {
    usage: 'KIND/NAME [-n namespace]',
    summary: 'print what the last runs of an object logged',
    run: async (args, ask) => (await import('./ask-plane.ts')).printLogs(args, ask),
  },
  'get-queue': {
    usage: '',
    summary: 'list the objects that run, or wait in a queue for their run; on AWS the queues',
    run: async (args, ask) => (await import('./ask-plane.ts')).printOwnWork('queue', args, ask),
  },
  'get-timers': {
    usage: '',
    summary: 'list the objects that a timer will run, the soonest first, and what they wait for',
    run: async (args, ask) => (await import('./ask-plane.ts')).printOwnWork('timers', args, ask),
  },
  'get-budgets': {
    usage: '',
    summary: 'list what bounds the runs: retries, rates, how many at once, calls of far sides',
    run: async (args, ask) => (await import('./ask-plane.ts')).printOwnWork('budgets', args, ask),
  },
  'log-level': {
    usage: '[debug | info | warn | error]',
    summary: 'tell the log level of a control plane on one machine, or set it until its end',
    run: async (args, ask) => (await import('./ask-plane.ts')).setLogLevel(args, ask),
  },
  migrate: {
    usage: '[DEFINITION ...] | --dry-run [entry]',
    summary: 'store objects in the present versions of their kinds, or say what new schemas would mean for them',
    run: async (args, ask) => (await import('./migrate.ts')).runMigrate(args, ask),
  },
  backup: {
    usage: 'FILE [--data-dir .setpoint]',
    summary: 'write all objects into a file, while the control plane runs or not, and check what was written',
    run: async (args) => (await import('./back-up.ts')).runBackup(args),
  },
  restore: {
    usage: 'FILE [--data-dir .setpoint] [--keys DIRECTORY] [--as-copy] [--accept-loss]',
    summary: 'check a backup, and make a data directory of it',
    run: async (args) => (await import('./back-up.ts')).runRestore(args),
  },
  health: {
    usage: '[--data-dir .setpoint]',
    summary: 'end with 0 if the control plane on this machine takes writes, with 1 if not',
    run: async (args) => (await import('./health.ts')).runHealth(args),
  },
  image: {
    usage: 'FILE [--app .] [--name setpoint:latest]',
    summary: 'write a container image with this repository and Node, without a daemon',
    run: async (args) => (await import('./image/image.ts')).runImage(args),
  },
  token: {
    usage:
      'add NAME [--groups a,b] [--out FILE] | rotate NAME [--out FILE] | remove NAME | list [--data-dir .setpoint]',
    summary: 'say who may use a control plane on this machine, each with a kubeconfig of their own',
    run: async (args) => (await import('./token.ts')).runToken(args),
  },
  completion: {
    usage: 'bash | zsh',
    summary: 'print the completion of a shell: source <(setpoint completion bash)',
    run: async (args) => printCompletion(args),
  },
}

/** Every command, as `--help` tells of it. */
export function listCommands(): readonly (Pick<Command, 'usage' | 'summary'> & { readonly name: string })[] {
  return Object.entries(commands).map(([name, { usage, summary }]) => ({ name, usage, summary }))
}

/** Runs the command that the words name. Ends the process with 1 after a mistake. */
export async function callCommand(
  [name = '--help', ...args]: readonly string[],
  ask: AskKubectl = createAskKubectl(),
): Promise<void> {
  try {
    if (name === '--help' || name === '-h' || name === 'help') return printHelp()
    if (name === reloading) return await (await import('./start.ts')).runReloading(args)
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command === undefined)
      throw new OperatingError('BAD_REQUEST', `there is no command ${name}: type ${meantBy(name)}setpoint --help`)
    if (name !== 'start' && args.some((arg) => arg === '--help' || arg === '-h')) return printUsage(name, command)
    await command.run(args, ask)
  } catch (error) {
    if (!isMistake(error)) throw error
    process.stderr.write(`setpoint: ${forTerminal(mistakeText(error, name))}\n`)
    process.exit(1)
  }
}

/** Also what `parseArgs` says of a word that it does not know. */
function isMistake(error: unknown): error is Error {
  if (error instanceof OperatingError) return true
  return error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS')
}

/** In one line. Node says of a word that it does not know how to write one with a dash, which no command takes. */
function mistakeText({ message }: Error, command: string): string {
  const [what = message, advice] = message.split('. To specify a positional argument')
  return advice === undefined ? what : `${what}: type setpoint ${command} --help`
}

/** A command that begins like the word, for who has mistyped it. */
function meantBy(word: string): string {
  const meant = Object.keys(commands).find((name) => name.slice(0, 3) === word.slice(0, 3))
  return meant === undefined ? '' : `setpoint ${meant}, or `
}

function printHelp(): void {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  process.stdout.write(`usage: setpoint COMMAND …

${lines.join('\n')}

setpoint COMMAND --help says what comes after a command. With kubectl: kubectl setpoint COMMAND …
`)
}

function printUsage(name: string, { usage, summary }: Command): void {
  process.stdout.write(`usage: setpoint ${name} ${usage}\n  ${summary}\n`)
}

function printCompletion([shell]: readonly string[]): void {
  if (shell !== 'bash' && shell !== 'zsh')
    throw new OperatingError('BAD_REQUEST', 'name the shell: setpoint completion bash, or setpoint completion zsh')
  const bash = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''
  process.stdout.write(`${bash}complete -o default -W '${Object.keys(commands).join(' ')}' setpoint\n`)
}
