import type { Ended } from '../support/program.ts'

/** One step after the other, each by what it shows, until one throws. `screen` is what there is to be seen then. */
export async function tellSteps<Context>(
  steps: Readonly<Record<string, (context: Context) => Promise<void>>>,
  context: Context,
  screen: () => string | Promise<string>,
): Promise<Ended> {
  let stdout = ''
  for (const [name, run] of Object.entries(steps)) {
    try {
      await run(context)
      stdout += `ok: ${name}\n`
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return { code: 1, signal: null, stdout: `${stdout}failed: ${name}: ${why}\n`, stderr: await screen() }
    }
  }
  return { code: 0, signal: null, stdout, stderr: '' }
}
