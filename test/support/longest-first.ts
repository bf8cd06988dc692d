import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Begins with the files that take longest, so that none of them is what all the others have to be waited for. Vitest
 * remembers how long files took, but not in a clean checkout, where it begins with those of most bytes.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((file) => moduleId.endsWith(file))
      return at === -1 ? longest.length : at
    }
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}

/** Each takes a minute or more of the long form, or a tenth of the short one. */
const longest = [
  'test/aws/sweep-of-an-hour.long.test.ts',
  'test/aws/sweep-of-slow-turns.long.test.ts',
  'test/infra/package.test.ts',
  'test/acceptance-table/table.test.ts',
  'test/aws/whole-path.long.test.ts',
  'test/simulation/local/local.test.ts',
  'test/mutants/sample.long.test.ts',
  'test/aws/queues.long.test.ts',
  'test/e2e/orders.long.test.ts',
  'test/reconcilers/new/new.test.ts',
  'test/acceptance/concurrency.test.ts',
  'test/infra/permissions.long.test.ts',
  'test/infra/runner.long.test.ts',
  'test/demo/demo.test.ts',
  'test/command/command.test.ts',
  'test/chaos/chaos.long.test.ts',
  'test/e2e/process.long.test.ts',
  'test/docs/site.long.test.ts',
  'test/infra/shipped.test.ts',
  'test/aws/acceptance.test.ts',
  'test/acceptance/j-all-events.test.ts',
  'test/unit/adapters/local/https/http2.test.ts',
]
