import { relative } from 'node:path'
import type { TestCase, TestModule, TestSuite, Vitest } from 'vitest/node'

/** What a run of vitest came to, as plain data. */
export interface TestRun {
  readonly tests: readonly EndedTest[]
  /** Failures that belong to no test, a line each: files that do not load, hooks that throw, uncaught errors. */
  readonly troubles: readonly string[]
}

export interface EndedTest {
  /** From the root of the repository. */
  readonly file: string
  readonly name: string
  /** With the names of the suites around it. */
  readonly fullName: string
  /** A test that did not end has failed. */
  readonly state: 'passed' | 'failed' | 'skipped'
  /** Why it was skipped: the argument of `context.skip()`, or `meta.skipped` of the test or of a suite around it. */
  readonly reason?: string
  /** The first line of its first error, if it failed. */
  readonly error?: string
  /** How long it ran, with its hooks. */
  readonly tookMs: number
}

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test, or every test of the suite, does not run. */
    skipped?: string
  }
}

/** To be called before vitest is closed. */
export function testRunOf({ state, config }: Vitest): TestRun {
  const modules = state.getTestModules()
  const tests = modules.flatMap((module) => [...module.children.allTests()].map((test) => endedTest(test, config.root)))
  const groups = modules.flatMap((module): (TestModule | TestSuite)[] => [module, ...module.children.allSuites()])
  const troubles = [
    ...groups.flatMap((group) => group.errors().map(({ message }) => `${nameOf(group, config.root)}: ${message}`)),
    ...state.getUnhandledErrors().map((error) => `outside any test: ${messageOf(error)}`),
  ]
  return { tests, troubles }
}

/** Several runs as one. A run without a single test is a trouble: its filters name nothing. */
export function joinRuns(runs: readonly TestRun[]): TestRun {
  const tests = runs.flatMap((run) => run.tests)
  const troubles = runs.flatMap((run) => run.troubles)
  return { tests, troubles: tests.length + troubles.length === 0 ? ['no test was found'] : troubles }
}

function endedTest(test: TestCase, root: string): EndedTest {
  const result = test.result()
  const reason = (result.state === 'skipped' ? result.note : undefined) ?? test.meta().skipped
  return {
    file: relative(root, test.module.moduleId),
    name: test.name,
    fullName: test.fullName,
    state: result.state === 'pending' ? 'failed' : result.state,
    ...(reason !== undefined && { reason }),
    ...(result.state === 'failed' && { error: firstLineOf(result.errors) }),
    ...(result.state === 'pending' && { error: 'it did not end' }),
    tookMs: test.diagnostic()?.duration ?? 0,
  }
}

function nameOf(group: TestModule | TestSuite, root: string): string {
  return group.type === 'module' ? relative(root, group.moduleId) : group.fullName
}

function firstLineOf([first]: readonly unknown[]): string {
  return messageOf(first).trim().split('\n', 1)[0] ?? ''
}

function messageOf(error: unknown): string {
  return error instanceof Error || (typeof error === 'object' && error !== null && 'message' in error)
    ? String(error.message)
    : String(error)
}
