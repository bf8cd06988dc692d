import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { PostgresFailure } from '../../postgres/failure.ts'
import { formatVersion, type ClientProgram } from '../../postgres/server/client-programs.ts'
import { processOptions } from '../../postgres/server/command.ts'
import type { Endpoint } from '../../postgres/sql/connection.ts'
import { needsTls } from '../../postgres/sql/transport.ts'

/** A run of `pg_dump` or `pg_restore`. When the signal fires, it is killed at once. */
export interface ClientRun {
  readonly program: ClientProgram
  readonly args: readonly string[]
  readonly endpoint: Endpoint
  /** As failures say it: `dump "orders" by pg_dump 18.6`. */
  readonly purpose: string
  readonly signal: AbortSignal
}

/** What a program is called in messages. */
export function nameOf(name: string, { version }: ClientProgram): string {
  return `${name} ${formatVersion(version)}`
}

/**
 * What the program writes, as it comes: a reader that is slow slows the program. Ends only if the program ended well
 * and complained of nothing; throws a PostgresFailure otherwise.
 */
export async function* readOutput(run: ClientRun): AsyncGenerator<Uint8Array> {
  const started = start(run)
  started.child.stdin.end()
  try {
    yield* started.child.stdout as AsyncIterable<Uint8Array>
    await started.expectSuccess()
  } finally {
    await started.end()
  }
}

/**
 * Feeds the program, waits until it has ended well, and hands back what it wrote. A program that has ended reads no
 * further, and neither do we. When `content` throws, the program is killed before it learns that its input is over, and
 * the error thrown.
 */
export async function feedInput(run: ClientRun, content: AsyncIterable<Uint8Array>): Promise<string> {
  const started = start(run)
  const { stdin, stdout } = started.child
  const written = collect(stdout, outputLength)
  try {
    for await (const chunk of content) {
      if (started.hasEnded()) break
      if (!stdin.write(chunk)) await Promise.race([once(stdin, 'drain').catch(() => {}), started.closed])
    }
    stdin.end()
    await started.expectSuccess()
    const { text, isCut } = written()
    // Half of a list would be restored as if it were all of it.
    if (isCut) throw failureOf(run.purpose, 'what it wrote is too long to be read')
    return text
  } finally {
    await started.end()
  }
}

/** Of the list of what is in a dump: some hundred thousand lines. */
const outputLength = 64 * 1024 * 1024

/** Of what a program says; the rest of it repeats the same, as a rule. */
const complaintLength = 4_000

function start({ program, args, endpoint, purpose, signal }: ClientRun) {
  signal.throwIfAborted()
  const { env, ...options } = processOptions(program.file)
  const child = spawn(program.file, args, {
    ...options,
    env: { ...env, ...environmentOf(endpoint) },
    signal,
    killSignal: 'SIGKILL',
    stdio: 'pipe',
  })
  let failure: Error | undefined
  let code: number | null | undefined
  const complaint = collect(child.stderr, complaintLength)
  child.on('error', (error) => (failure = error))
  // A program that ends early breaks the pipe; its exit code and its words say why.
  child.stdin.on('error', () => {})
  const closed = new Promise<void>((resolve) => child.on('close', (ended) => resolve(void (code = ended))))
  return {
    child,
    closed,
    hasEnded: () => code !== undefined || child.exitCode !== null,
    async expectSuccess() {
      await closed
      signal.throwIfAborted()
      const said = complaint().text.replaceAll(endpoint.password || '\0', '…')
      if (failure !== undefined) throw failureOf(purpose, failure.message)
      if (code !== 0 || said !== '') throw failureOf(purpose, said || `it ended with ${code ?? 'a signal'}`)
    },
    async end() {
      if (code === undefined) child.kill('SIGKILL')
      await closed
    },
  }
}

/**
 * The password is in nobody's list of processes, and in no file. No file of the account says anything else. It is given
 * away to no server, as in `withClient`: programs of version 16 and newer hold to PGREQUIREAUTH, older ones do not know
 * it.
 */
function environmentOf({ host, port, user, password, database }: Endpoint): Readonly<Record<string, string>> {
  const tls = needsTls(host)
    ? { PGSSLMODE: 'verify-full', PGSSLROOTCERT: 'system', PGREQUIREAUTH: 'scram-sha-256,md5,none' }
    : { PGSSLMODE: 'disable', PGREQUIREAUTH: 'scram-sha-256,none' }
  return {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: database,
    PGCONNECT_TIMEOUT: '10',
    PGAPPNAME: 'setpoint backup',
    PGOPTIONS: '-c client_min_messages=warning -c statement_timeout=0 -c lock_timeout=10000',
    ...tls,
  }
}

/** The beginning of what comes, and whether there was more. */
function collect(stream: Readable, lengthMax: number): () => { readonly text: string; readonly isCut: boolean } {
  let [text, isCut] = ['', false]
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    isCut ||= chunk.length > lengthMax - text.length
    if (text.length < lengthMax) text += chunk.slice(0, lengthMax - text.length)
  })
  return () => ({ text: text.trim(), isCut })
}

/** A right that is missing stays missing until somebody gives it; all else is tried again. */
const missingRight = /permission denied|must be (owner|superuser|able)|row-level security/i

function failureOf(purpose: string, complaint: string): PostgresFailure {
  const lines = complaint
    .split('\n')
    .map((line) => line.trim().replace(/^pg_(dump|restore): (error: )?/, ''))
    .filter((line) => line !== '')
  const [kind, reason] = missingRight.test(complaint)
    ? (['terminal', 'InsufficientPrivilege'] as const)
    : (['retryable', 'ProgramFailed'] as const)
  return new PostgresFailure(kind, reason, `cannot ${purpose}: ${lines.slice(0, 3).join('; ').slice(0, 500)}`)
}
