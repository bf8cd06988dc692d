import { defineConfig } from 'vitest/config'
import { inThreads } from './test/support/in-threads.ts'
import { LongestFirst } from './test/support/longest-first.ts'
import { isLong, isQuick } from './test/support/strength.ts'

/**
 * Tests that start processes or servers, or wait for real time: they mostly wait, so that many run at once, each file
 * in a process of its own.
 */
const system = [
  'test/acceptance/fresh-modules.test.ts',
  'test/contract/{aws-clients,change-feed.dynamodb,dynamodb-client}.test.ts',
  'test/unit/adapters/local/https/*.test.ts',
  'test/{acceptance-table,aws,chaos,command,demo,e2e,kubectl,wire}/**/*.test.ts',
  'test/reconcilers/{backup,new,postgres}/**/*.test.ts',
  'test/docs/site.long.test.ts',
  'test/infra/{package,shipped}.test.ts',
  'test/types/compiling.test.ts',
]

/**
 * Tests that measure how long requests hold the process. Beside others their collectors of memory share threads, and
 * what one of them takes says nothing.
 */
const timed = ['test/unit/api/budget/**/*.test.ts']

/** Files that the short form leaves out, for what they cost. */
const long = isLong ? [] : ['**/*.long.test.ts']

/** Benches, chaos and the long form of the simulator are programs of their own: none of them is part of `npm test`. */
export default defineConfig({
  test: {
    // `it.only` left in a file would silence all others.
    allowOnly: false,
    // A hung test fails; one that is slow on a loaded machine does not. The long form does ten times as much.
    testTimeout: isLong ? 1_800_000 : 300_000,
    hookTimeout: isLong ? 1_800_000 : 300_000,
    expect: { poll: { timeout: 120_000 } },
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/support/draws.ts'],
    ...(isQuick && { runner: 'test/support/quick-runner.ts' }),
    restoreMocks: true,
    unstubGlobals: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: ['{test,examples}/**/*.test.ts'],
          exclude: [...system, ...timed, ...long],
          ...inThreads,
          // Of the long form more is to compute, beside as many tests of the system.
          maxWorkers: isLong ? 3 : 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'timed',
          include: timed,
          exclude: long,
          ...inThreads,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: system,
          exclude: long,
          pool: 'forks',
          isolate: false,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
    ],
  },
})
