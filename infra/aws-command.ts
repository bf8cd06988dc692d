import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the AWS command line answers, as JSON. Throws what it refuses with. */
export type AnswerAws = (args: readonly string[]) => unknown

export function askAws(args: readonly string[]): unknown {
  const options = { encoding: 'utf8', maxBuffer: answerBytesMax } as const
  const { status, stdout, stderr, error } = spawnSync('aws', [...args, '--output=json'], options)
  if (status !== 0) throw new Error(`aws ${args.slice(0, 2).join(' ')}: ${error?.message ?? stderr.trim()}`)
  return stdout.trim() === '' ? {} : JSON.parse(stdout)
}

/** A page of a stream is a megabyte, and several as the command line prints it. By itself Node takes one. */
const answerBytesMax = 2 ** 28

/** What a function answers to an event. Throws what it fails with. */
export function invokeFunction(aws: AnswerAws, name: string, event: unknown): unknown {
  const directory = mkdtempSync(join(tmpdir(), 'setpoint-'))
  try {
    const [sent, answered] = [join(directory, 'event.json'), join(directory, 'answer.json')]
    writeFileSync(sent, JSON.stringify(event), { mode: 0o600 })
    // As a file of bytes it means the same to both versions of the command line.
    const { FunctionError: failed } = aws([
      'lambda',
      'invoke',
      `--function-name=${name}`,
      `--payload=fileb://${sent}`,
      answered,
      // The relay may take a minute, by when the command line would ask it once more.
      '--cli-read-timeout=120',
    ]) as { readonly FunctionError?: string }
    const answer = readFileSync(answered, 'utf8')
    if (failed !== undefined) throw new FunctionFailed(`${name}: ${answer}`)
    return JSON.parse(answer)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** It was called, and has not come to its end. */
export class FunctionFailed extends Error {
  override readonly name = 'FunctionFailed'
}
