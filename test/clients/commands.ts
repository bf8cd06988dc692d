import { runProgram, type Ended } from '../support/program.ts'

/** One command after the other, until one does not end with 0. What that one said is what is told. */
export async function runCommands(
  file: string,
  commands: readonly Command[],
  { env, args = [] }: { readonly env: Readonly<Record<string, string>>; readonly args?: readonly string[] },
): Promise<Ended> {
  let stdout = ''
  for (const { line, input, verbose } of commands) {
    const words = (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ''))
    const options = { env, ...(input === undefined ? {} : { input }) }
    const ended = await runProgram(file, [...args, ...words], options)
    if (ended.code === 0) {
      stdout += `ok: ${line}\n`
      continue
    }
    const again = verbose === undefined ? ended : await runProgram(file, [...args, ...words, verbose], options)
    return { ...ended, stdout: `${stdout}failed: ${line}\n${ended.stdout}`, stderr: again.stderr.slice(-2_000) }
  }
  return { code: 0, signal: null, stdout, stderr: '' }
}

export interface Command {
  /** As a shell splits it, as far as single quotes go. */
  readonly line: string
  readonly input?: string
  /** Said behind a command that failed, it tells its requests and their answers. */
  readonly verbose?: string
}
