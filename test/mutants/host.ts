/**
 * A program that `judge.ts` starts in a copy of the sources with all mutants in it (`instrument.ts`): it runs tests in
 * one process, over and over, with one mutant switched on or none. The modules under test are loaded once.
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { HostTask, HostReply, RunResult, TestRecord, FileRecord } from './host-messages.ts'

const none = -1
/** The mutant with which all modules are loaded, if any. */
const first = Number(process.env['SETPOINT_MUTANT'] ?? none)
let active = first
/** Which mutants somebody came by, since this was last looked at. */
const reached = new Uint8Array(Number(process.env['SETPOINT_MUTANTS']))
/** Every module asks this of each of its mutants. */
const $m = (id: number): boolean => {
  reached[id] = 1
  return id === active
}

const config = {
  root: process.cwd(),
  name: '',
  setupFiles: [],
  sequence: { hooks: 'stack', setupFiles: 'list', shuffle: false, concurrent: false },
  testTimeout: 20_000,
  hookTimeout: 20_000,
  retry: 0,
  repeats: 0,
  maxConcurrency: 5,
  allowOnly: true,
  passWithNoTests: true,
  tags: [],
  snapshotOptions: { expand: false, updateSnapshot: 'none' },
  expect: { poll: { timeout: 10_000, interval: 50 } },
  fakeTimers: {},
  experimental: { viteModuleRunner: false, importDurations: {} },
}
/** What vitest's own workers know, as far as it is asked for here. */
const workerState = {
  filepath: '',
  ctx: { pool: 'threads' },
  environment: { name: 'node' },
  config,
  onCleanup: () => {},
  providedContext: {},
  durations: {},
}
Object.assign(globalThis, { $m, ['__vitest_worker__']: workerState })

const { TestRunner, vi } = await import('vitest')
const { startTests } = await import('vitest/internal/browser')
type Files = Awaited<ReturnType<typeof startTests>>
type Task = Files[number]['tasks'][number]
await import('../support/draws.ts')

const strays: unknown[] = []
for (const event of ['unhandledRejection', 'uncaughtException'])
  process.on(event, (error: unknown) => void strays.push(error))

/** What the tests of one file did. Ends at the first that fails, unless it covers: then it notes what each comes by. */
class Runner extends TestRunner {
  readonly records: TestRecord[] = []
  /** What was come by outside of tests: while the file was loaded, and in hooks of suites. */
  readonly around = new Uint8Array(reached.length)
  failed: string | undefined
  readonly #isCover: boolean
  #startMs = 0

  constructor(isCover: boolean) {
    super(config as never)
    this.#isCover = isCover
  }

  override importFile(path: string): Promise<unknown> {
    loads++
    return importAnew(path, String(loads))
  }

  override trace = ((_name: string, attributes: unknown, call?: () => unknown) =>
    (call ?? (attributes as () => unknown))()) as never

  override async onBeforeRunTask(test: Task & { type: 'test' }): Promise<void> {
    if (this.failed !== undefined && !this.#isCover) test.mode = 'skip'
    if (this.#isCover) merge(this.around)
    this.#startMs = performance.now()
  }

  override onAfterRunTask(test: Task & { type: 'test' }): void {
    const state = test.result?.state ?? 'skip'
    const ms = performance.now() - this.#startMs
    if (state === 'fail') this.failed ??= test.id
    if (!this.#isCover) return
    this.records.push({ id: test.id, state, ms, reached: packed(reached) })
    reached.fill(0)
  }

  override onBeforeTryTask(): void {
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
  }

  override onAfterTryTask(): void {}
  override async onBeforeRunSuite(): Promise<void> {}
  override async onAfterRunSuite(): Promise<void> {}
  override onAfterRunFiles(): void {}
}

let loads = 0

/** The file itself, but not what it imports. */
function importAnew(path: string, load: string): Promise<unknown> {
  // oxlint-disable-next-line import/no-dynamic-require -- which file is said by the judge
  return import(`${pathToFileURL(path).href}?load=${load}`)
}

function merge(into: Uint8Array): void {
  for (let i = 0; i < reached.length; i++) if (reached[i] === 1) into[i] = 1
  reached.fill(0)
}

/** A bit each, as text. */
function packed(flags: Uint8Array): string {
  const bits = Buffer.alloc(Math.ceil(flags.length / 8))
  for (let i = 0; i < flags.length; i++) if (flags[i] === 1) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7))
  return bits.toString('base64')
}

async function run(
  path: string,
  how: { readonly ids?: readonly string[] | undefined; readonly isCover?: true },
): Promise<{ runner: Runner; files: Files }> {
  const { ids, isCover = false } = how
  const runner = new Runner(isCover)
  const filepath = resolve(path)
  workerState.filepath = filepath
  const files = await startTests([{ filepath, ...(ids && { testIds: [...ids] }) }], runner)
  merge(runner.around)
  return { runner, files }
}

/** Why the file failed, if it did: a test, a hook, the file itself, or an error that nobody waited for. */
function failureOf(runner: Runner, files: Files): RunResult {
  if (runner.failed !== undefined) return { failed: runner.failed }
  const broken = files.flatMap(suitesOf).find((suite) => suite.result?.state === 'fail')
  if (broken !== undefined) return { failed: broken.id }
  return {}
}

function suitesOf(task: Task | Files[number]): readonly (Task | Files[number])[] {
  return task.type === 'suite' ? [task, ...task.tasks.flatMap(suitesOf)] : []
}

/** Twice: what the first run comes by and the second does not is come by when modules are loaded. */
async function cover(path: string): Promise<FileRecord> {
  const loading = new Uint8Array(reached.length)
  reached.fill(0)
  try {
    await importAnew(resolve(path), 'first')
  } catch {
    // A test file alone has nothing to put its tests into.
  }
  merge(loading)
  const startMs = performance.now()
  const { runner, files } = await run(path, { isCover: true })
  const allMs = performance.now() - startMs
  return {
    path,
    // Tests that run side by side take longer in all than their file.
    aroundMs: Math.max(0, allMs - runner.records.reduce((sum, { ms }) => sum + ms, 0)),
    around: packed(runner.around),
    loading: packed(loading),
    tests: runner.records,
    ...failureOf(runner, files),
  }
}

async function judge({ mutant, batch, timeoutMs }: Extract<HostTask, { do: 'judge' }>): Promise<HostReply> {
  const { path, ids } = batch
  config.testTimeout = config.hookTimeout = timeoutMs
  strays.length = 0
  const failed = await runWith(mutant, path, ids)
  if (failed === undefined && strays.length === 0) return { judged: { killed: false, isSure: true } }
  if (first !== none || failed === undefined) return { judged: { killed: true, isSure: false } }
  const again = await runWith(none, path, ids.includes(failed) ? [failed] : ids)
  return { judged: { killed: true, isSure: again === undefined && strays.length === 0 } }
}

/** What fails. */
async function runWith(mutant: number, path: string, ids: readonly string[]): Promise<string | undefined> {
  setActive(mutant)
  const { runner, files } = await run(path, { ids })
  setActive(first)
  return failureOf(runner, files).failed
}

/** In the environment, too, for threads and programs that a test starts. */
function setActive(mutant: number): void {
  active = mutant
  process.env['SETPOINT_MUTANT'] = String(mutant)
}

process.on('message', (task: HostTask) => {
  const work = task.do === 'cover' ? cover(task.path).then((covered) => ({ covered })) : judge(task)
  void work.then(
    (reply: HostReply) => process.send?.(reply),
    (error: unknown) => process.send?.({ broken: String(error) } satisfies HostReply),
  )
})
// Whoever asked is gone.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.send?.({ ready: true } satisfies HostReply)
