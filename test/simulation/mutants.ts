import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * `node test/simulation/mutants.ts [seeds]`: plants bugs in a copy of the engine, one at a time, and says which promise's checker
 * finds it, and with which seed. A bug that no seed finds is a hole in the checkers; exit code 1 then.
 */
interface Mutant {
  readonly bug: string
  readonly file: string
  readonly find: string
  readonly replace: string
}

const mutants: readonly Mutant[] = [
  {
    bug: 'the id that tells wake-ups apart is the same for all changes of a key',
    file: 'shared/engine/relay.ts',
    find: 'dedupId: `${uid}:${resourceVersion}`',
    replace: "dedupId: 'changed'",
  },
  {
    bug: 'nobody ends a hold',
    file: 'shared/engine/relay.ts',
    find: 'if (hold !== undefined)',
    replace: 'if (hold !== undefined && hold.untilMs === 0)',
  },
  {
    bug: 'a hold is recorded whatever has changed meanwhile',
    file: 'shared/engine/commit.ts',
    find: 'isOvertaken(stored, live) ? engine(live) :',
    replace: 'false ? engine(live) :',
  },
  {
    bug: 'a hold keeps all messages of a turn hidden',
    file: 'shared/engine/turn.ts',
    find: 'await queue.hold([kept], ms)',
    replace: 'return queue.hold(deliveries, ms)',
  },
  {
    bug: 'one message of several is settled',
    file: 'shared/engine/turn.ts',
    find: 'settle: () => queue.settle([kept, ...rest]),',
    replace: 'settle: () => queue.settle([kept]),',
  },
  {
    bug: 'a clean-up that failed counts as done',
    file: 'shared/engine/reconcile-key.ts',
    find: "phase === 'cleanup' && verdict.kind === 'done'",
    replace: "phase === 'cleanup'",
  },
  {
    bug: 'a failed run counts as observed',
    file: 'shared/engine/conclusion.ts',
    find: 'const now = observes(verdict) ? ',
    replace: 'const now = true ? ',
  },
  {
    bug: 'a failed run is not tried again',
    file: 'shared/engine/conclusion.ts',
    find: 'const attempt = failures + 1',
    replace: 'const attempt = failures + 1\n  if (attempt > 0) return {}',
  },
  {
    bug: 'children of a removed owner are not looked up',
    file: 'shared/engine/garbage-collector.ts',
    find: 'await index.ownedBy(object.metadata.uid)',
    replace: '[]',
  },
  {
    bug: 'the wheel and the timers are never looked at',
    file: 'shared/engine/sweep.ts',
    find: 'index.due(kind, untilMs, duePerSweep)',
    replace: 'index.due(kind, 0, duePerSweep)',
  },
]

const seeds = Number(process.argv[2] ?? 300)
const root = resolve(import.meta.dirname, '../..')

function copyTree(): string {
  const directory = mkdtempSync(join(tmpdir(), 'setpoint-mutant-'))
  for (const path of ['shared', 'test', 'package.json', 'tsconfig.json', '.git'])
    cpSync(join(root, path), join(directory, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

/** The first violation that a mutant leads to, or undefined. */
function hunt({ file, find, replace }: Mutant, directory: string): string | undefined {
  const path = join(directory, file)
  const source = readFileSync(path, 'utf8')
  if (source.split(find).length !== 2) throw new Error(`${file} does not hold this once: ${find}`)
  writeFileSync(path, source.replace(find, replace))
  const program = ['test/simulation/main.ts', '--seeds', `1..${seeds}`, '--first']
  const { stdout, stderr } = spawnSync(process.execPath, program, {
    cwd: directory,
    encoding: 'utf8',
    timeout: 600_000,
  })
  writeFileSync(path, source)
  if (!/seeds broken$/m.test(stdout)) throw new Error(`the simulation broke down: ${stderr}`)
  return /^seed \d+: .*$/m.exec(stdout)?.[0]
}

const directory = copyTree()
let missed = 0
for (const mutant of mutants) {
  const found = hunt(mutant, directory)
  missed += found === undefined ? 1 : 0
  console.log(
    `${found === undefined ? 'MISSED' : 'caught'}  ${mutant.bug}${found === undefined ? '' : `\n        ${found}`}`,
  )
}
rmSync(directory, { recursive: true, force: true })
console.log(`${mutants.length - missed} of ${mutants.length} caught within ${seeds} seeds`)
process.exitCode = missed > 0 ? 1 : 0
