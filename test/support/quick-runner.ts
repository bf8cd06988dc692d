import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TestRunner } from 'vitest'
import { costlyReason, readCostly } from './costly.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const costly = readCostly()

/** Runs all tests but those that are known to take long. */
// oxlint-disable-next-line import/no-default-export -- vitest asks for it
export default class QuickRunner extends TestRunner {
  override onBeforeRunTask(test: Parameters<TestRunner['onBeforeRunTask']>[0]): Promise<void> {
    const { file, fullTestName = '' } = test
    if (costly[relative(root, file.filepath)]?.includes(fullTestName) === true) {
      test.mode = 'skip'
      test.result = { state: 'skip' }
      test.meta.skipped = costlyReason
    }
    return super.onBeforeRunTask(test)
  }
}
