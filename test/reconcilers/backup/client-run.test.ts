import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { feedInput, readOutput, type ClientRun } from '../../../functions/reconcilers/backup/dump/client-run.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

let directory: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  directory = temporaryDirectory('client-run')
})
afterEach(() => directory[Symbol.dispose]())

/** A program that does what the lines of a shell say. */
function runOf(lines: string, signal: AbortSignal = AbortSignal.timeout(60_000)): ClientRun {
  const file = join(directory.path, 'program')
  writeFileSync(file, `#!/bin/sh\ncd '${directory.path}'\n${lines}\n`)
  chmodSync(file, 0o755)
  return {
    program: { file, version: { major: 18, minor: 6 } },
    args: ['--an=option'],
    endpoint: { host: '127.0.0.1', port: 5432, user: 'ada', password: 'hunter22', database: 'orders' },
    purpose: 'dump "orders" by pg_dump 18.6',
    signal,
  }
}

const outputOf = async (run: ClientRun): Promise<string> =>
  Buffer.concat(await Readable.from(readOutput(run)).toArray()).toString()

describe('a program of PostgreSQL', () => {
  it('learns by its environment where to log in, and no list of processes shows the password', async () => {
    const said = await outputOf(
      runOf('echo "$PGUSER:$PGPASSWORD@$PGHOST:$PGPORT/$PGDATABASE $PGSSLMODE $PGREQUIREAUTH"; echo "$0 $*"'),
    )
    expect(said).toContain('ada:hunter22@127.0.0.1:5432/orders disable scram-sha-256,none\n')
    expect(said.split('\n')[1]).toMatch(/program --an=option$/)
    const remote = runOf('echo $PGSSLMODE $PGSSLROOTCERT $PGREQUIREAUTH')
    expect(await outputOf({ ...remote, endpoint: { ...remote.endpoint, host: 'db.example' } })).toBe(
      'verify-full system scram-sha-256,md5,none\n',
    )
  })

  it.each([
    ['echo half; exit 3', 'retryable', 'it ended with 3'],
    ['echo half; echo "pg_dump: warning: odd" >&2', 'retryable', 'warning: odd'],
    ['echo "pg_dump: error: permission denied for table t" >&2; exit 1', 'terminal', 'permission denied for table t'],
    ['echo "no entry for hunter22" >&2; exit 1', 'retryable', 'no entry for …'],
    ['kill -9 $$', 'retryable', 'it ended with a signal'],
  ] as const)('%s is a failure', async (lines, kind, said) => {
    const failing = outputOf(runOf(lines))
    await expect(failing).rejects.toMatchObject({ name: 'PostgresFailure', kind })
    await expect(failing).rejects.toThrow(`cannot dump "orders" by pg_dump 18.6: ${said}`)
  })

  it('that writes more than there is room for is a failure: half of a list is none', async () => {
    const run = runOf(`cat > /dev/null; yes a | head -c ${64 * 1024 * 1024 + 20}`)
    await expect(feedInput(run, Readable.from([Buffer.from('x')]))).rejects.toThrow(
      'what it wrote is too long to be read',
    )
  })

  it('that is not there is a failure too', async () => {
    const run = runOf('')
    const gone = { ...run, program: { ...run.program, file: join(directory.path, 'none') } }
    await expect(outputOf(gone)).rejects.toThrow('ENOENT')
    await expect(feedInput(gone, Readable.from([Buffer.from('x')]))).rejects.toThrow('ENOENT')
  })

  it('complains at length, and is quoted in short', async () => {
    const failing = outputOf(runOf('yes "pg_dump: error: all is lost" | head -100000 >&2; exit 1'))
    await expect(failing).rejects.toThrow(/: all is lost; all is lost; all is lost$/)
  })

  it('is killed when its time is over, though it does not listen', async () => {
    const over = new AbortController()
    const reason = new Error('time is over')
    const run = runOf(`trap '' TERM; echo $$; exec sleep 600`, over.signal)
    let pid = 0
    const reading = (async () => {
      for await (const chunk of readOutput(run)) {
        pid = Number(Buffer.from(chunk).toString())
        over.abort(reason)
      }
    })()
    await expect(reading).rejects.toBe(reason)
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  it('is killed when its reader stops', async () => {
    for await (const chunk of readOutput(runOf('echo $$; exec sleep 600'))) {
      writeFileSync(join(directory.path, 'pid'), chunk)
      break
    }
    expect(() => process.kill(Number(readFileSync(join(directory.path, 'pid'), 'utf8')), 0)).toThrow('ESRCH')
  })

  it('never learns that its input is over when the input fails', async () => {
    const broken = async function* () {
      yield Buffer.from('half')
      throw new Error('the dump is damaged')
    }
    await expect(feedInput(runOf('cat > /dev/null; touch ended'), broken())).rejects.toThrow('the dump is damaged')
    expect(existsSync(join(directory.path, 'ended'))).toBe(false)
  })

  it('may end before it has read all of its input', async () => {
    const endless = async function* () {
      for (;;) yield Buffer.alloc(65_536)
    }
    expect(await feedInput(runOf('echo enough'), endless())).toBe('enough')
  })
})
